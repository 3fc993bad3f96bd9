#if ServiceLifecycle
    import APNSBatchSimulator
    import Logging
    import ServiceLifecycle
    import Testing

    @testable import APNSBatch
    @testable import APNSBatchModel
    @testable import APNSBatchSending

    @Suite("Services") struct ServiceTests {
        private static func group(_ service: any Service) -> ServiceGroup {
            ServiceGroup(
                configuration: .init(
                    services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        }

        @Test func `a sender answers what it has when its group shuts down`() async throws {
            let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(20)))
            let sender = try Sender(stage.senderConfiguration)
            let group = Self.group(sender)
            async let running: Void = group.run()
            await eventually { sender.status.isRunning }
            let tickets = try (0..<300).map { try #require(try sender.trySend(push($0))) }
            await group.triggerGracefulShutdown()
            for ticket in tickets { #expect(try await ticket.result().outcome == .accepted) }
            try await running
            #expect(throws: SendError(.shuttingDown, .notSent, "the sender takes no more notifications")) {
                try sender.trySend(push(1))
            }
            #expect(stage.simulator.stop().requests == 300)
        }

        @Test func `a campaign stops in order when its group shuts down, and can be resumed`() async throws {
            let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(5)))
            let payload = #""{""aps"":{""alert"":""Hi""}}""#
            let rows = "token,payload\n" + (0..<1000).map { "\(token($0)),\(payload)\n" }.joined()
            var campaign = try stage.campaign(rows: rows)
            campaign.rateLimit.rate = .init(5, per: .second)
            let run = try CampaignRun(campaign)
            let group = Self.group(run)
            async let running: Void = group.run()
            await eventually { run.progress.accepted > 0 }
            await group.triggerGracefulShutdown()
            try await running
            let accepted = run.progress.accepted
            #expect(accepted < 1000)
            campaign.rateLimit = .init()
            let summary = try await CampaignRun(campaign, resuming: true).send()
            #expect(summary.ending == .complete && summary.accepted == 1000)
            let report = stage.simulator.stop()
            #expect(report.requests == 1000 && report.tokensReceivedAgain == 0)
        }

        @Test(.timeLimit(.minutes(5))) func `a consumer that stands still does not hold up the shutdown of a group`()
            async throws
        {
            let stage = try Stage()
            let payload = #""{""aps"":{""alert"":""Hi""}}""#
            let rows = "token,payload\n" + (0..<3000).map { "\(token($0)),\(payload)\n" }.joined()
            var surroundings = Surroundings.system
            surroundings.outcomesPerBatch = 64
            let run = try CampaignRun(try stage.campaign(rows: rows), surroundings: surroundings)
            let held = run.makeResults(buffering: 1)
            var configuration = ServiceGroupConfiguration(
                services: [.init(service: run)], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            // The group ends the process if a service does not end in time.
            (configuration.maximumGracefulShutdownDuration, configuration.maximumCancellationDuration) = (
                .seconds(120), .seconds(120)
            )
            let group = ServiceGroup(configuration: configuration)
            async let running: Void = group.run()
            await eventually { run.progress.heldBackBy == .writer }
            await group.triggerGracefulShutdown()
            _ = try? await running
            withExtendedLifetime(held) {}
            #expect(run.progress.accepted > 0 && run.progress.accepted < 3000)
            #expect(try stage.results(run).count == run.progress.accepted)
        }

        @Test func `a run that failed throws its failure`() async throws {
            let stage = try TeamsStage(unknown: [0, 2])
            let run = try CampaignRun(try stage.campaign(rows: TeamsStage.rows(10)))
            let error = await #expect(throws: CampaignError.self) { try await run.run() }
            #expect(error?.code == .fatalAnswer)
        }
    }
#endif
