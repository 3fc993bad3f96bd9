#if Metrics
    import APNSBatchSimulator
    import CoreMetrics
    import Logging
    import MetricsTestKit
    import Testing

    @testable import APNSBatch
    @testable import APNSBatchModel

    extension TestMetrics {
        /// The sum of a counter of the library.
        fileprivate func count(_ name: String, _ labels: (String, String)...) -> UInt64 {
            UInt64(counterTotal(label: "apns_batch_" + name, dimensions: labels))
        }

        /// The last value of a meter of the library.
        fileprivate func level(_ name: String) -> Double? { meters(label: "apns_batch_" + name).first?.lastValue }

        fileprivate var times: [Int64] { timers(label: "apns_batch_response_duration_seconds").flatMap(\.values) }
    }

    @Suite("Metrics of a program") struct MetricsTests {
        private static let script = SimulatorScript(
            seed: 3,
            rules: [
                SimulatorRule(share: 0.1, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
                SimulatorRule(share: 0.1, status: 429, reason: "TooManyRequests", times: 1),
                SimulatorRule(share: 0.1, status: 499, reason: "Odd"),
            ])

        private static func rows(_ count: Int) -> String {
            let payload = #""{""aps"":{""alert"":""Hi""}}""#
            return "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
        }

        /// Compares the counts of requests and answers with those of the simulator.
        private func expect(_ metrics: TestMetrics, agreesWith report: SimulatorReport) {
            #expect(metrics.count("requests_total") == report.requests)
            #expect(metrics.count("responses_total") == report.requests)
            #expect(metrics.count("responses_total", ("status", "200")) == report.count(status: 200))
            for (status, reason) in [(410, "Unregistered"), (429, "TooManyRequests")] {
                let count = metrics.count("responses_total", ("status", "\(status)"), ("reason", reason))
                #expect(count == report.count(status: status, reason: reason) && count > 0)
            }
            let odd = metrics.count("responses_total", ("status", "4xx"), ("reason", "other"))
            #expect(odd == report.count(status: 499, reason: "Odd") && odd > 0)
            #expect(metrics.count("retries_total") == report.count(status: 429, reason: "TooManyRequests"))
            #expect(metrics.count("retries_total", ("cause", "429")) == metrics.count("retries_total"))
            #expect(metrics.count("connections_opened_total") == report.connections)
        }

        @Test func `a run counts what the simulator has seen`() async throws {
            let (stage, metrics) = (try Stage(script: Self.script), TestMetrics())
            var campaign = try stage.campaign(rows: Self.rows(2000) + "zz,1\n")
            (campaign.retryDelay, campaign.name) = (.milliseconds(5), "night")
            let run = try CampaignRun(campaign.campaign, input: campaign.input, metrics: metrics)
            let summary = try await run.send()
            expect(metrics, agreesWith: stage.simulator.stop())
            for (outcome, rows) in [
                ("accepted", summary.accepted), ("rejected", summary.rejected), ("invalid", 1), ("unknown", 0),
            ] {
                #expect(metrics.count("notifications_total", ("outcome", outcome), ("campaign", "night")) == rows)
            }
            for level in ["connections", "requests_in_flight", "streams_allowed", "notifications_retrying"] {
                #expect(metrics.level(level) == 0)
            }
            #expect(metrics.level("notifications_pending") == 0)
            let seconds = metrics.meters(label: "apns_batch_connections").first?.values.count ?? 0
            #expect(!metrics.times.isEmpty && metrics.times.count <= seconds * MetricsRecorder.sampleSize)
            #expect(metrics.times.allSatisfy { $0 > 0 })
            #expect(metrics.counters(label: "apns_batch_responses_total").count == RefusalCounts.size + 1)
        }

        @Test func `a resumed run counts its own session, and a task has a factory of its own`() async throws {
            let (stage, first, second) = (try Stage(), TestMetrics(), TestMetrics())
            var campaign = try stage.campaign(rows: Self.rows(100))
            campaign.rateLimit.rate = .init(20, per: .second)
            let staged = campaign
            let run = try withMetricsFactory(first) { try CampaignRun(staged) }
            async let summary = run.send()
            await eventually {
                run.progress.accepted > 2
            } then: {
                run.stop()
            }
            let accepted = try await summary.accepted
            #expect(first.count("notifications_total") == accepted && accepted < 100)
            campaign.rateLimit = .init()
            let (resumed, input) = (campaign.campaign, campaign.input)
            let rest = try await withMetricsFactory(second) {
                try await CampaignRun.prepare {
                    try CampaignRun(resumed, input: input, resuming: .always)
                }
            }
            #expect(try await rest.send().accepted == 100)
            #expect(second.count("notifications_total") == 100 - accepted)
            #expect(second.count("responses_total", ("status", "200")) == 100 - accepted)
            #expect(stage.simulator.stop().requests == 100)
        }

        @Test func `without a factory nothing is recorded`() async throws {
            let stage = try Stage()
            #expect(try CampaignRun(try stage.campaign(rows: Self.rows(1))).session.metrics == nil)
            #expect(try Sender(stage.senderConfiguration).meter == nil)
        }

        // MARK: Senders

        /// Runs a sender with metrics for the time of a closure.
        private func withSender(
            _ stage: Stage, _ metrics: TestMetrics, _ body: (Sender) async throws -> Void
        ) async throws {
            try await Sender(stage.senderConfiguration, metrics: metrics).whileRunning(body)
        }

        @Test func `a sender counts what the simulator has seen`() async throws {
            let (stage, metrics) = (try Stage(script: Self.script), TestMetrics())
            try await withSender(stage, metrics) { sender in
                try await withThrowingTaskGroup { group in
                    for number in 0..<500 { group.addTask { _ = try await sender.send(push(number)) } }
                    try await group.waitForAll()
                }
            }
            expect(metrics, agreesWith: stage.simulator.stop())
            #expect(metrics.count("notifications_total", ("campaign", "sender")) == 500)
            #expect(metrics.count("send_errors_total") == 0)
            #expect(metrics.level("connections") == 0 && metrics.level("notifications_pending") == 0)
        }

        @Test func `a sender records each second while it works, and an idle one does nothing`() async throws {
            let (stage, metrics) = (try Stage(), TestMetrics())
            try await withSender(stage, metrics) { sender in
                let meter = try #require(sender.meter)
                for round in 1...2 {
                    _ = try await sender.send(push(round))
                    await eventually { metrics.count("notifications_total") == round }
                    #expect(metrics.level("connections") == 1)
                    await eventually { !meter.isAtWork }
                }
            }
            #expect(stage.simulator.stop().requests == 2)
        }

        @Test func `a GOAWAY is counted`() async throws {
            let goaway = SimulatorFault(.goaway(GoAwayFault()), when: FaultOccasion(after: 100, of: .all, times: 1))
            let (stage, metrics) = (try Stage(script: SimulatorScript(faults: [goaway])), TestMetrics())
            try await withSender(stage, metrics) { sender in
                for number in 0..<200 { _ = try await sender.send(push(number)) }
            }
            let report = stage.simulator.stop()
            #expect(metrics.count("goaways_total") == 1)
            // On a busy machine a connection may take so long to come up that another one joins it.
            #expect(metrics.count("connections_opened_total") == report.connections && report.connections >= 2)
            #expect(metrics.count("requests_total") == report.requests)
            #expect(metrics.count("send_errors_total") == 0)
        }

        @Test func `an error is counted by its code`() async throws {
            let script = SimulatorScript(seed: 1, latency: .fixed(600_000))
            let (stage, metrics) = (try Stage(script: script), TestMetrics())
            try await withSender(stage, metrics) { sender in
                await #expect(throws: SendError.self) { try await sender.send(push(1), timeout: .milliseconds(50)) }
            }
            #expect(metrics.count("send_errors_total") == 1)
            // Which one depends on whether the connection was up in time.
            let codes = ["timed_out", "unreachable"].map { metrics.count("send_errors_total", ("code", $0)) }
            #expect(codes.reduce(0, +) == 1)
        }

        // MARK: Times of answers

        @Test func `times are recorded of all answers, or of ones that are evenly spaced`() {
            var counts = AnswerTimeCounts()
            #expect(counts.sample(of: 4) == [])
            for time in [10, 20, 30] as [UInt32] { counts.buckets[AnswerBucket.index(of: time)] = 1 }
            counts.longest = 30
            #expect(counts.sample(of: 4) == [10, 20, 30])
            counts.buckets[AnswerBucket.index(of: 20)] = 98
            #expect(counts.sample(of: 4) == [20, 20, 20, 20])
            counts.buckets[AnswerBucket.index(of: 10)] = 33
            counts.buckets[AnswerBucket.index(of: 20)] = 33
            counts.buckets[AnswerBucket.index(of: 30)] = 34
            #expect(counts.sample(of: 4) == [10, 20, 20, 30])
        }
    }
#endif
