#if Tracing
    import APNSBatchSimulator
    import InMemoryTracing
    import Testing
    import Tracing

    @testable import APNSBatch
    @testable import APNSBatchModel

    @Suite("Tracing") struct TracingTests {
        @Test func `each send is a client span with its result`() async throws {
            let rule = SimulatorRule(share: 0.3, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000)
            let (stage, tracer) = (try Stage(script: SimulatorScript(seed: 3, rules: [rule])), InMemoryTracer())
            let sender = try Sender(stage.senderConfiguration)
            let results = try await withTracer(tracer) {
                try await sender.whileRunning { sender in
                    try await withSpan("request") { _ in
                        var results: [SendResult] = []
                        for number in 0..<40 { results.append(try await sender.send(push(number))) }
                        return results
                    }
                }
            }
            let report = stage.simulator.stop()
            let spans = tracer.finishedSpans.filter { $0.operationName == "apns.send" }
            let parent = try #require(tracer.finishedSpans.first { $0.operationName == "request" })
            #expect(spans.count == 40 && report.requests == 40 && tracer.activeSpans.isEmpty)
            for (span, result) in zip(spans, results) {
                #expect(span.kind == .client && span.parentSpanID == parent.spanID && span.status == nil)
                #expect(span.attributes.get("apns.topic") == .string("com.example.app"))
                #expect(span.attributes.get("apns.outcome") == .string("\(result.outcome.name)"))
                #expect(span.attributes.get("http.response.status_code") == result.status.map { .int64(Int64($0)) })
                #expect(span.attributes.get("apns.reason") == result.reason.map { .string($0) })
                #expect(span.attributes.get("messaging.message.id") == result.messageID.map { .string($0) })
            }
            let refused = spans.filter { $0.attributes.get("http.response.status_code") == .int64(410) }
            #expect(refused.count == report.count(status: 410, reason: "Unregistered") && !refused.isEmpty)
            #expect(tracer.performedContextInjections.isEmpty)
        }

        @Test func `an error of a send is that of its span`() async throws {
            let script = SimulatorScript(seed: 1, latency: .fixed(600_000))
            let (stage, tracer) = (try Stage(script: script), InMemoryTracer())
            let sender = try Sender(stage.senderConfiguration)
            try await withTracer(tracer) {
                try await sender.whileRunning { sender -> Void in
                    await #expect(throws: SendError.self) {
                        try await sender.send(push(1), timeout: .milliseconds(50))
                    }
                }
            }
            let span = try #require(tracer.finishedSpans.first)
            #expect(tracer.finishedSpans.count == 1 && span.status?.code == .error)
            #expect(
                span.attributes.get("error.type")
                    == (span.errors.first?.error as? SendError).map { .string($0.code.name) })
            #expect(span.errors.count == 1)
        }

        @Test func `a campaign is one span, with events for what an operator changes`() async throws {
            let (stage, tracer) = (try Stage(), InMemoryTracer())
            let payload = #""{""aps"":{""alert"":""Hi""}}""#
            let rows = (0..<1000).map { "\(token($0)),\(payload)\n" }.joined()
            var campaign = try stage.campaign(rows: "token,payload\n" + rows)
            campaign.rateLimit.rate = .init(100, per: .second)
            let run = try CampaignRun(campaign)
            let summary = try await withTracer(tracer) {
                async let sending = run.send()
                await eventually { run.progress.accepted > 0 }
                run.pause()
                run.unpause()
                try run.setRateLimit(.init())
                return try await sending
            }
            let span = try #require(tracer.finishedSpans.first)
            #expect(tracer.finishedSpans.count == 1 && span.operationName == "apns.campaign" && span.status == nil)
            #expect(span.attributes.get("apns.rows.accepted") == .int64(1000) && summary.accepted == 1000)
            #expect(
                span.attributes.get("apns.campaign.id")
                    == .string(CampaignID(run.session.facts.header.identity).description))
            let details = span.events.filter { $0.name == "change" }.map { $0.attributes.get("apns.detail") }
            #expect(details == ["paused", "continued", "no limit"].map { .string($0) })
            #expect(stage.simulator.stop().requests == 1000)
        }

        @Test func `an outage is an event, and a failure the status`() async throws {
            let (stage, tracer) = (try Stage(), InMemoryTracer())
            stage.simulator.stop()
            let payload = #""{""aps"":{""alert"":""Hi""}}""#
            var campaign = try stage.campaign(rows: "token,payload\n\(token(1)),\(payload)\n")
            campaign.connectPatience = .seconds(1)
            let run = try CampaignRun(campaign)
            _ = try await withTracer(tracer) { try await run.send() }
            let span = try #require(tracer.finishedSpans.first)
            #expect(span.status?.code == .error && span.attributes.get("error.type") == .string("unreachable"))
            #expect(span.events.contains { $0.name == "waiting" }, "\(span.events)")
        }
    }
#endif
