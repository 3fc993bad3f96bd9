import APNSBatchBasics
import APNSBatchNotification
import APNSBatchSimulator
import Logging
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Campaign deadline") struct CampaignDeadlineTests {
    private static let payload = #""{""aps"":{""alert"":""Hi""}}""#

    private static func rows(_ count: Int) -> String {
        "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    @Test("A deadline is a time or counts from the start")
    func kinds() throws {
        #expect(try CampaignDeadline(.at(5000), start: 1000).seconds == 5000)
        #expect(try CampaignDeadline(.after(.seconds(60)), start: 1000).seconds == 1060)
        #expect(try CampaignDeadline(.after(.seconds(Int64.max)), start: 1000).seconds == 1000 + 365 * 86_400)
        #expect(throws: CampaignError(.configuration, "not after: expected a time or a duration, found 0")) {
            try CampaignDeadline(.at(0), start: 1000)
        }
    }

    @Test("A deadline passes at its second, and a row due then or later is not delayed")
    func passes() throws {
        let deadline = try CampaignDeadline(.at(5000), start: 0)
        #expect([4998, 4999, 5000, 5001].map { deadline.hasPassed(now: $0) } == [false, false, true, true])
        let second: UInt64 = 1_000_000_000
        #expect(deadline.leavesTime(after: 0, now: 4999))
        #expect(!deadline.leavesTime(after: 0, now: 5000))
        #expect(deadline.leavesTime(after: 9 * second, now: 4990))
        #expect(!deadline.leavesTime(after: 10 * second, now: 4990))
        #expect(!deadline.leavesTime(after: .max, now: 4990))
    }

    @Test("The cause given for a row is its last known state")
    func lastWord() {
        var flight = Flight()
        #expect(flight.lastWord == .neverSent)
        flight.mayHaveArrived = true
        #expect(flight.lastWord == .noAnswer)
        flight.mayHaveArrived = false
        flight.attempts = 2
        #expect(flight.lastWord == .noAnswer)
        flight.lastStatus = 503
        flight.lastReason = .serviceUnavailable
        #expect(flight.lastWord == .refused(status: 503, .serviceUnavailable))
        flight.mayHaveArrived = true
        #expect(flight.lastWord == .noAnswer)
        flight.attempts = 0
        #expect(flight.lastWord == .noAnswer)
    }

    @Test("A past deadline expires every unsent row, and invalid rows stay invalid")
    func allTooLate() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(20_000) + "only-one-field\n")
        let deadline = SystemClock.seconds() + 2
        campaign.notAfter = .at(deadline)
        let run = try CampaignRun(campaign)
        await eventually { SystemClock.seconds() >= deadline }
        let summary = try await run.send()
        #expect(summary.ending == .complete && !summary.isClean)
        #expect(summary.expired == 20_000 && summary.invalid == 1 && summary.attempts == 0)
        let results = try stage.results(run)
        #expect(results.count == 20_001)
        #expect(
            results[1].map { $0[1...4] } == [token(0), "expired", "", "not after: the campaign's deadline has passed"])
        #expect(stage.simulator.stop().requests == 0)
    }

    @Test("A deadline before the start is refused, by a check too, except when resuming")
    func pastBeforeTheStart() throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(3))
        campaign.notAfter = .at(1_577_836_800)
        let message = "not-after: expected a time in the future, found 2020-01-01T00:00:00Z"
        #expect { try CampaignRun(campaign) } throws: {
            ($0 as? CampaignError)?.code == .configuration && "\($0)" == message
        }
        #expect { try CampaignCheck(campaign) } throws: { "\($0)" == message }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let input = try InputReader(campaign.campaign, input: try RunInput(campaign.input), lanes: 1)
        #expect(throws: Never.self) {
            try CampaignPlan(campaign.campaign, input: input.facts, logger: logger, start: 1_700_000_000)
        }
    }

    @Test("A part that begins after the end of its campaign ends its rows as expired", arguments: [false, true])
    func latePart(hasOwnEnd: Bool) async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(300))
        let past: UInt64 = 1_577_836_800
        if hasOwnEnd { campaign.notAfter = .at(past) } else { campaign.headers.expiration = .at(past) }
        #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
        campaign.isPart = true
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.expired == 300 && summary.attempts == 0)
        let cause =
            hasOwnEnd
            ? "not after: the campaign's deadline has passed"
            : "expiration: that of the campaign passed before the row could be sent"
        #expect(try stage.results(run).values.allSatisfy { $0[2] == "expired" && $0[4].hasSuffix(cause) })
        #expect(stage.simulator.stop().requests == 0)
    }

    @Test("Unavailable rows are not sent again after the deadline, and stay what they are")
    func lateRetry() async throws {
        let script = SimulatorScript(rules: [SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable")])
        let stage = try Stage(script: script)
        var campaign = try stage.campaign(rows: Self.rows(20))
        campaign.attempts = 1
        let first = try await CampaignRun(campaign).send()
        #expect(first.unavailable == 20)
        campaign.retryUnavailable = true
        campaign.notAfter = .at(1_577_836_800)
        #expect {
            try CampaignRun(campaign, resuming: true)
        } throws: {
            let error = $0 as? CampaignError
            return error?.code == .configuration
                && "\($0)".hasPrefix("not-after: passed at 2020-01-01T00:00:00Z, so that unavailable rows would expire")
        }
        campaign.retryUnavailable = false
        let again = try await CampaignRun(campaign, resuming: true).send()
        #expect(again.unavailable == 20 && again.expired == 0)
    }

    @Test("The deadline ends a campaign that finds no server, long before its patience")
    func unreachable() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(3000))
        stage.simulator.stop()
        campaign.notAfter = .after(.seconds(1))
        campaign.connectPatience = .seconds(3600)
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .complete && summary.expired == 3000)
    }

    @Test("A row whose retry would come after the deadline ends at once with its last answer")
    func tooLateToTryAgain() async throws {
        let script = SimulatorScript(
            rules: [SimulatorRule(share: 0.5, status: 503, reason: "ServiceUnavailable", retryAfter: 7200)])
        let stage = try Stage(script: script)
        var campaign = try stage.campaign(rows: Self.rows(200))
        campaign.notAfter = .after(.seconds(600))
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.rows == 200 && summary.expired == 0)
        for (row, fields) in try stage.results(run) {
            let expected = script.answer(forToken: token(Int(row) - 1)) == nil ? "accepted" : "unavailable"
            #expect(fields[2] == expected && fields[7] == "1")
            #expect(expected == "accepted" || fields[3...4] == ["503", "ServiceUnavailable"])
        }
    }

    @Test("A row whose own expiration would pass while it waits ends at once")
    func ownExpiration() async throws {
        let script = SimulatorScript(
            rules: [SimulatorRule(share: 1, status: 429, reason: "TooManyRequests", retryAfter: 7200)])
        let stage = try Stage(script: script)
        var campaign = try stage.campaign(rows: Self.rows(50))
        campaign.headers.expiration = .after(.seconds(600))
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.unavailable == 50 && summary.attempts == 50)
        #expect(summary.unavailableReasons == ["TooManyRequests": 50] && summary.reasons.isEmpty)
    }

    @Test("When the deadline passes during a run, sent rows get their answers and others expire")
    func midway() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(50)), streams: 10)
        var campaign = try stage.campaign(rows: Self.rows(50_000))
        campaign.connections = 1
        campaign.notAfter = .after(.seconds(2))
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .complete)
        #expect(summary.rows == 50_000 && summary.accepted + summary.expired == 50_000 && summary.expired > 0)
        #expect(stage.simulator.stop().requests == summary.accepted)
        #expect(try stage.results(run).values.allSatisfy { ($0[2] == "expired") == ($0[7] == "0") })
    }
}
