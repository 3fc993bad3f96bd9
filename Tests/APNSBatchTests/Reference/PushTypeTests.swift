import APNSBatchNotification
import APNSBatchSimulator
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// Tests that every push type of the table, with its minimum payload, passes the rules and the simulator.
@Suite("Push types of the reference table") struct PushTypeTests {
    private func payload(_ rule: PushTypeRule) -> String {
        switch rule.type {
        case .alert: #"{"aps":{"alert":"Hi"}}"#
        case .background: #"{"aps":{"content-available":1}}"#
        case .liveactivity: #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{}}}"#
        case .widgets, .controls: #"{"aps":{"content-changed":true}}"#
        case .voip, .complication, .fileprovider, .location, .pushtotalk, .mdm: #"{"call":1}"#
        }
    }

    private func campaign(_ rule: PushTypeRule, _ stage: Stage) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: "token,x\n\(token(1)),\n")
        campaign.template = .init(json: Array(payload(rule).utf8), name: "t.json")
        campaign.headers.pushType = .init(rule.name)
        if rule.authentication == .certificateOnly { campaign.credentials = .none }
        return campaign
    }

    @Test(
        "Each push type has its topic derived and its payload accepted",
        arguments: PushTypeRule.all.filter { $0.authentication != .certificateOnly }.map(\.name))
    func accepted(name: String) async throws {
        let rule = try #require(PushTypeRule.all.first { $0.name == name })
        let stage = try Stage()
        let summary = try await CampaignRun(try campaign(rule, stage)).send()
        #expect(summary.accepted == 1, "\(summary.reasons)")
    }

    @Test(
        "Each push type sends its default priority and accepts only its allowed ones",
        arguments: PushTypeRule.all.map(\.name))
    func priorities(name: String) throws {
        let rule = try #require(PushTypeRule.all.first { $0.name == name })
        let stage = try Stage()
        var campaign = try campaign(rule, stage)
        let row = try #require(try CampaignPreview(campaign).next())
        #expect(row.headers.first { $0.name == "apns-priority" }?.value == rule.priorities[0].text)
        #expect(row.headers.first { $0.name == "apns-push-type" }?.value == name)
        for priority in [1, 5, 10] {
            campaign.headers.priority = .init(priority)
            let isAllowed = rule.priorities.contains { $0.text == String(priority) }
            let change = campaign
            let isTaken = (try? CampaignPreview(change)) != nil
            #expect(isTaken == isAllowed)
        }
    }

    @Test("Each push type has its payload limit", arguments: PushTypeRule.all.map(\.name))
    func limits(name: String) throws {
        let rule = try #require(PushTypeRule.all.first { $0.name == name })
        let stage = try Stage()
        var campaign = try campaign(rule, stage)
        let shell = payload(rule).dropLast() + #","x":"{{x}}"}"#
        let fixed = shell.utf8.count - "{{x}}".utf8.count
        func size(_ size: Int) throws -> CampaignPreview.Row {
            let rows = "token,x\n\(token(1)),\(String(repeating: "y", count: size - fixed))\n"
            campaign.input = .file(try stage.write(rows, to: "\(size).csv"))
            campaign.template = .init(json: Array(shell.utf8), name: "t.json")
            return try #require(try CampaignPreview(campaign).next())
        }
        #expect(try size(rule.payloadLimit).payload.count == rule.payloadLimit)
        let over = try size(rule.payloadLimit + 1)
        let message = "payload: expected at most \(rule.payloadLimit) bytes, found \(rule.payloadLimit + 1)"
        #expect(over.invalid?.hasSuffix(":2:1: \(message)") == true)
    }
}
