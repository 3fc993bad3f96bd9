import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Broadcasts against the simulator")
struct BroadcastTests {
    private static let channel = "YmJfnzLBE7PJiPkVPDIQlw=="
    private static let template = Campaign.Template(
        json: Array(
            #"{"aps":{"timestamp":1685952000,"event":"update","content-state":{"score":"{{score}}"}}}"#.utf8),
        name: "t.json")

    private func campaign(_ stage: Stage, rows: String) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows)
        campaign.recipients = .channels(bundleID: "com.example.app")
        campaign.template = Self.template
        campaign.headers.expiration = .after(.seconds(3600))
        return campaign
    }

    private func expectError(_ campaign: StagedCampaign, _ message: String) {
        do {
            _ = try CampaignPreview(campaign)
            Issue.record("no error")
        } catch {
            #expect(error.description.hasSuffix(message), "\(error)")
        }
    }

    @Test("Each row is one broadcast to its channel, and the results name the channel")
    func sends() async throws {
        let stage = try Stage { $0.topics = nil }
        let manager = try ChannelManager(
            bundleID: "com.example.app", at: .host("localhost", port: stage.port), credentials: stage.credentials,
            authorities: stage.occasion.authorityPEM, systemTrust: false)
        let ids = [try await manager.create(storage: .mostRecent), try await manager.create(storage: .mostRecent)]
        let rows = (0..<600).map { "\(ids[$0 % 2]),\($0)\n" }.joined()
        let run = try CampaignRun(try campaign(stage, rows: "channel_id,score\n" + rows))
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == 600 && summary.isClean)
        let results = try stage.results(run)
        #expect(results.count == 600)
        #expect(results.allSatisfy { $0.value[1] == ids[Int($0.key - 1) % 2] && $0.value[6].count == 36 })
        let report = stage.simulator.stop()
        #expect(report.broadcasts == 600 && report.accepted == 0 && report.channels == 2)
    }

    @Test("A broadcast has its own path and headers, and device columns have no special meaning")
    func preview() throws {
        let stage = try Stage()
        var campaign = try campaign(
            stage, rows: "channel_id,score,priority,expiration,topic\n\(Self.channel),2:1,5,0,no topic\n")
        campaign.headers.pushType = "alert"
        let preview = try CampaignPreview(campaign)
        let row = try #require(try preview.next())
        #expect(row.invalid == nil && row.path == "/4/broadcasts/apps/com.example.app")
        #expect(
            row.headers.map(\.name) == [
                ":method", ":scheme", ":authority", ":path", "apns-push-type", "apns-priority", "apns-request-id",
                "apns-channel-id", "apns-expiration", "authorization", "content-length",
            ])
        let values = Dictionary(uniqueKeysWithValues: row.headers.map { ($0.name, $0.value) })
        #expect(values["apns-push-type"] == "liveactivity" && values["apns-priority"] == "5")
        #expect(values["apns-channel-id"] == Self.channel && values["apns-expiration"] == "0")
        #expect(values["content-length"] == "\(row.payload.count)")
        #expect(
            String(decoding: row.payload, as: UTF8.self)
                == #"{"aps":{"timestamp":1685952000,"event":"update","content-state":{"score":"2:1"}}}"#)
    }

    @Test("A broadcast that is answered with 503 is sent again and then accepted")
    func retries() async throws {
        let script = SimulatorScript(
            rules: [SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable", times: 1)])
        let stage = try Stage(script: script) { $0.knowsAllChannels = true }
        let manager = try ChannelManager(
            bundleID: "com.example.app", at: .host("localhost", port: stage.port), credentials: stage.credentials,
            authorities: stage.occasion.authorityPEM, systemTrust: false)
        let id = try await manager.create(storage: .mostRecent)
        var campaign = try campaign(stage, rows: "channel_id,score\n\(id),1\n")
        campaign.retryDelay = .milliseconds(1)
        let run = try CampaignRun(campaign)
        #expect(try await run.send().accepted == 1)
        #expect(try stage.results(run)[1]?.suffix(2) == ["2", ""])
    }

    @Test("Invalid rows are reported with place and cause, and their neighbours are sent")
    func badRows() async throws {
        let stage = try Stage { $0.knowsAllChannels = true }
        let fits = String(repeating: "x", count: 5120 - 78)
        var campaign = try campaign(
            stage,
            rows: """
                channel_id,score,expiration
                \(Self.channel),1,1h
                not base64,1,1h
                ,1,1h
                \(Self.channel),1,
                \(Self.channel),\(fits),0
                \(Self.channel),\(fits)y,0

                """)
        campaign.headers.expiration = nil
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .never]
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.accepted == 2 && summary.invalid == 4)
        let results = try stage.results(run).mapValues { $0[4...].joined(separator: ",") }
        #expect(results[2]?.contains(#"rows.csv:3:1: channel_id: expected base64, found ""not base64"""#) == true)
        #expect(results[3]?.contains("rows.csv:4:1: channel_id: expected base64, found nothing") == true)
        #expect(
            results[4]?.contains(
                """
                rows.csv:5:28: expiration: expected seconds since 1970, 0, a time such as 2026-01-01T08:00:00Z or a \
                duration such as 2h, found nothing; every broadcast needs one
                """) == true)
        #expect(results[6]?.contains("payload: expected at most 5120 bytes, found 5121") == true)
    }

    @Test("An invalid campaign is refused before anything is sent")
    func badCampaigns() throws {
        let stage = try Stage()
        let rows = "channel_id,score\n\(Self.channel),1\n"
        var campaign = try campaign(stage, rows: rows)
        campaign.headers.expiration = nil
        expectError(
            campaign,
            "no expiration: every broadcast needs one; give one for the campaign (0 for channels that store nothing) "
                + "or a column \"expiration\"")
        campaign = try self.campaign(stage, rows: rows)
        campaign.recipients = .channels(bundleID: "com/example")
        expectError(campaign, "bundle id: expected letters, digits, '.', '-' or '_', found \"/\" at byte 4")
        expectError(
            try self.campaign(stage, rows: "token,score\n\(token(1)),1\n"),
            "rows.csv:1: no column \"channel_id\"; there are \"token\", \"score\"; the rows name devices: use apns-batch send"
        )
    }
}
