import APNSBatchBasics
import APNSBatchNotification
import APNSBatchSimulator
import APNSBatchTransport
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Retries") struct RetryTests {
    @Test("Retries and fresh rows take turns while there are both")
    func turns() {
        var order = ""
        var turns = Turns()
        var (again, fresh) = (3, 5)
        while again + fresh > 0 {
            if turns.againGoesFirst && again > 0 || fresh == 0 {
                again = turns.take(again: again - 1)
                order += "a"
            } else {
                fresh = turns.take(fresh: fresh - 1)
                order += "f"
            }
        }
        #expect(order == "afafafff")
    }

    private static let delays: [(short: UInt64?, unavailable: UInt64?, first: [UInt64], largest: [UInt64])] = [
        (nil, nil, [1000, 5000], [60_000, 900_000]),
        (20, nil, [20, 20], [60_000, 900_000]),
        (nil, 900_000, [1000, 900_000], [60_000, 900_000]),
        (20, 30, [20, 30], [60_000, 900_000]),
        (100_000, 1_000_000, [100_000, 1_000_000], [100_000, 1_000_000]),
    ]

    @Test("Retries wait for the delay that the campaign sets", arguments: delays)
    func plan(short: UInt64?, unavailable: UInt64?, first: [UInt64], largest: [UInt64]) throws {
        var campaign = Campaign(destination: .sandbox, topic: nil, credentials: .none)
        (campaign.retryDelay, campaign.unavailableDelay) = (
            short.map { .milliseconds($0) }, unavailable.map { .milliseconds($0) }
        )
        (campaign.retryAfterLimit, campaign.attempts) = (.seconds(77), 9)
        let plan = BackoffPlan(campaign)
        var expected = [RetryBackoff(first: first[0], maximum: largest[0])]
        expected.append(RetryBackoff(first: first[1], maximum: largest[1]))
        for number in expected.indices { expected[number].retryAfterMax = 77 }
        #expect([plan.short, plan.long] == expected && plan.rowsMax == 16_384)
        #expect(plan.delay(plan.short, afterAttempt: 8, random: 0) != nil)
        #expect(plan.delay(plan.short, afterAttempt: 9, random: 0) == nil)
    }

    private static let payload = #""{""aps"":{""alert"":""Hi""}}""#

    private static func rows(_ count: Int) -> String {
        "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    @Test("Retries wait for Retry-After while others are sent, and a stop ends the wait")
    func waits() async throws {
        let script = SimulatorScript(
            seed: 2, rules: [SimulatorRule(share: 0.2, status: 429, reason: "TooManyRequests", retryAfter: 3600)])
        let stage = try Stage(script: script)
        let run = try CampaignRun(try stage.campaign(rows: Self.rows(5000)))
        let waiting = (0..<5000).count { script.answer(forToken: token($0)) != nil }
        let running = Task { try await run.send() }
        await eventually { run.progress.retrying >= waiting && run.progress.accepted >= 5000 - UInt64(waiting) }
        #expect(run.progress.retrying == waiting && run.progress.inFlight == 0)
        run.stop()
        let summary = try await running.value
        #expect(summary.ending == .interrupted && summary.accepted == 5000 - UInt64(waiting))
        #expect(stage.simulator.stop().requests == 5000)
    }

    @Test("Retries wait no longer than the campaign's limit for Retry-After")
    func limit() async throws {
        let script = SimulatorScript(
            rules: [SimulatorRule(share: 1, status: 503, reason: "Shutdown", times: 1, retryAfter: 86_400)])
        let stage = try Stage(script: script)
        var campaign = try stage.campaign(rows: Self.rows(50))
        (campaign.retryDelay, campaign.retryAfterLimit) = (.milliseconds(1), .zero)
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.accepted == 50)
    }

    @Test("The number of waiting rows is limited, and then no fresh row is taken")
    func bound() async throws {
        let script = SimulatorScript(
            rules: [SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable", times: 1, retryAfter: 1)])
        let stage = try Stage(script: script, streams: 10)
        var campaign = try stage.campaign(rows: Self.rows(100))
        (campaign.lanes, campaign.connections, campaign.retryRows) = (1, 1, 20)
        campaign.unavailableDelay = .milliseconds(1000)
        let run = try CampaignRun(campaign)
        let running = Task { try await run.send() }
        let most = await most({ run.progress.retrying }, until: { run.progress.rows >= 100 })
        #expect(try await running.value.accepted == 100)
        // Requests in flight when the last slot was taken are added.
        #expect((10...30).contains(most), "\(most)")
    }

    @Test("Rows with a long Retry-After use at most half of a lane's retry queue")
    func longRetryAfter() async throws {
        let script = SimulatorScript(
            rules: [SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable", times: 1, retryAfter: 600)])
        let stage = try Stage(script: script, streams: 10)
        var campaign = try stage.campaign(rows: Self.rows(100))
        (campaign.lanes, campaign.connections, campaign.retryRows) = (1, 1, 8)
        campaign.retryDelay = .milliseconds(1)
        let log = LogKeeper()
        let run = try CampaignRun(campaign, logger: log.logger)
        let running = Task { try await run.send() }
        await eventually { run.progress.accepted >= 96 }
        #expect(run.progress.accepted == 96 && run.progress.retrying == 4)
        run.stop()
        #expect(try await running.value.accepted == 96)
    }

    @Test("Rows are due once their time has come")
    func due() {
        var queue = RetryQueue()
        #expect(!queue.isDue(now: 5))
        queue.add(ticket: 1, due: 7)
        queue.add(ticket: 2, due: 5)
        #expect(!queue.isDue(now: 4) && queue.isDue(now: 5))
    }

    @Test("A paused run sends nothing, keeps its connections, and then continues")
    func pause() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(5)), streams: 20)
        var campaign = try stage.campaign(rows: Self.rows(20_000))
        campaign.connections = 1
        let run = try CampaignRun(campaign)
        let running = Task { try await run.send() }
        await eventually {
            guard run.progress.accepted > 0 else { return false }
            run.pause()
            return true
        }
        #expect(run.isPaused && run.progress.isPaused)
        // The lanes notice the pause when they next check. After that, no more rows end.
        let still = Guarded((rows: run.progress.rows, since: ContinuousClock.now))
        await eventually {
            still.withLock { still in
                if run.progress.rows != still.rows { still = (run.progress.rows, ContinuousClock.now) }
                return ContinuousClock.now >= still.since + .seconds(1)
            }
        }
        #expect(run.progress.rows < 20_000 && run.progress.inFlight == 0 && run.progress.connections == 1)
        run.unpause()
        let summary = try await running.value
        #expect(summary.ending == .complete && summary.accepted == 20_000 && summary.allSessions.connectionsOpened == 1)
    }

    @Test("A paused run can be stopped, and its deadline still passes", arguments: [false, true])
    func pauseEnds(byDeadline: Bool) async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(5000))
        if byDeadline { campaign.notAfter = .after(.seconds(1)) }
        let run = try CampaignRun(campaign)
        run.pause()
        let running = Task { try await run.send() }
        if !byDeadline {
            await eventually { run.progress.elapsedSeconds >= 0.1 }
            run.stop()
        }
        let summary = try await running.value
        #expect(summary.ending == (byDeadline ? .complete : .interrupted))
        #expect(summary.attempts == 0 && summary.expired == (byDeadline ? 5000 : 0))
        #expect(stage.simulator.stop().requests == 0)
    }
}
