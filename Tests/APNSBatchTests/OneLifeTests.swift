import APNSBatchBasics
import APNSBatchRecords
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// An object of the public API that is run once.
struct OnceOnly: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Makes one that goes on until it is ended.
    let make: @Sendable (Stage) throws -> (run: @Sendable () async throws -> Void, end: @Sendable () -> Void)
    /// Whether an error says that the object was run before.
    let refuses: @Sendable (any Error) -> Bool

    init(
        _ name: String, refuses: @escaping @Sendable (any Error) -> Bool = Self.isAlreadyRun,
        _ make:
            @escaping @Sendable (Stage) throws -> (run: @Sendable () async throws -> Void, end: @Sendable () -> Void)
    ) {
        (testDescription, self.make, self.refuses) = (name, make, refuses)
    }

    @Sendable static func isAlreadyRun(_ error: any Error) -> Bool { (error as? CampaignError)?.code == .alreadyRun }

    static let all: [OnceOnly] = [
        OnceOnly("CampaignRun.send") { stage in
            let run = try CampaignRun(try campaign(stage))
            return ({ _ = try await run.send() }, { run.stop() })
        },
        OnceOnly("CampaignRun.run") { stage in
            let run = try CampaignRun(try campaign(stage))
            return ({ try await run.run() }, { run.stop() })
        },
        OnceOnly("CampaignRun.send of a program's rows") { stage in
            let settings = try campaign(stage).campaign
            let run = try CampaignRun(settings, columns: ["token", "payload"]) { writer in
                while true {
                    try await writer.write { row in
                        row.append(token(1))
                        row.append(#"{"aps":{"alert":"Hi"}}"#)
                    }
                }
            }
            return ({ _ = try await run.send() }, { run.stop() })
        },
        OnceOnly("CampaignCheck.run") { stage in
            let check = try CampaignCheck(try campaign(stage))
            return ({ _ = try await check.run() }, { check.stop() })
        },
        OnceOnly("Sender.run", refuses: { ($0 as? SendError)?.code == .notRunning }) { stage in
            let sender = try Sender(stage.senderConfiguration)
            return ({ try await sender.run() }, { sender.shutDown() })
        },
        OnceOnly("SendResults") { stage in
            let sender = try Sender(stage.senderConfiguration)
            let items = AsyncStream<Int> { items in for number in 0..<10 { items.yield(number) } }
            let results = sender.send(contentsOf: items) { push($0) }
            return (
                {
                    for try await _ in results {}
                    // The sequence has no end, so only a cancelled iteration comes here.
                }, { sender.shutDown() }
            )
        },
    ]

    private static func campaign(_ stage: Stage) throws -> StagedCampaign {
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        var campaign = try stage.campaign(
            rows: "token,payload\n" + (0..<2000).map { "\(token($0)),\(payload)\n" }.joined())
        // It takes long enough for another call to come meanwhile.
        campaign.rateLimit = .init(rate: .init(1, per: .second))
        return campaign
    }
}

@Suite("Objects that are run once") struct OneLifeTests {
    private enum End: Sendable {
        case ended
        case refused
        case failed(any Error)

        var isRefusal: Bool { if case .refused = self { true } else { false } }
        var isFailure: Bool { if case .failed = self { true } else { false } }
    }

    private static func end(_ object: OnceOnly, _ run: @Sendable () async throws -> Void) async -> End {
        do {
            try await run()
            return .ended
        } catch {
            return object.refuses(error) ? .refused : .failed(error)
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: OnceOnly.all)
    func `of two calls one is refused, at the same time and afterwards`(object: OnceOnly) async throws {
        let stage = try Stage()
        let (run, end) = try object.make(stage)
        // None of these tasks is cancelled before one of the calls was refused.
        let ends = await withTaskGroup(of: End.self) { group in
            for _ in 0..<2 { group.addTask { await Self.end(object, run) } }
            var ends = [await group.next()!]
            end()
            group.cancelAll()
            for await end in group { ends.append(end) }
            return ends
        }
        #expect(ends.count(where: \.isRefusal) == 1 && !ends.contains(where: \.isFailure), "\(ends)")
        #expect(await Self.end(object, run).isRefusal)
    }

    @Test(.timeLimit(.minutes(5)), arguments: OnceOnly.all)
    func `a task that is cancelled before it begins sends nothing and ends`(object: OnceOnly) async throws {
        let stage = try Stage()
        let (run, _) = try object.make(stage)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await Self.end(object, run)
        }
        task.cancel()
        #expect(await !task.value.isFailure)
        #expect(await Self.end(object, run).isRefusal)
        #expect(stage.simulator.stop().requests == 0)
    }

    @Test(.timeLimit(.minutes(5)), arguments: OnceOnly.all)
    func `an object that was ended before it began ends at once`(object: OnceOnly) async throws {
        let stage = try Stage()
        let (run, end) = try object.make(stage)
        end()
        let ended = Task { await Self.end(object, run) }
        if object.testDescription == "SendResults" { ended.cancel() }
        #expect(await !ended.value.isFailure)
        #expect(stage.simulator.stop().requests == 0)
    }

    @Test func `a request about a channel is not sent by a task that is cancelled`() async throws {
        let stage = try Stage { $0.managementPort = 0 }
        let manager = try ChannelManager(
            bundleID: "com.example.app", at: .host("localhost", port: stage.simulator.managementPort ?? stage.port),
            credentials: stage.credentials, authorities: stage.occasion.authorityPEM, systemTrust: false)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await manager.create(storage: .none)
        }
        task.cancel()
        let error = await #expect(throws: ChannelError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await manager.list() == [])
    }

    @Test(.timeLimit(.minutes(5)))
    func `results that are asked for while the run goes on are none, and it does not wait for them`()
        async throws
    {
        let stage = try Stage()
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        let rows = "token,payload\n" + (0..<20_000).map { "\(token($0)),\(payload)\n" }.joined()
        let run = try CampaignRun(try stage.campaign(rows: rows))
        let results = run.makeResults(buffering: 1)
        async let summary = run.send()
        await eventually { run.progress.accepted > 0 }
        let late = run.makeResults(buffering: 1)
        for await _ in late { Issue.record("it has no results") }
        var count = 0
        for await batch in results { count += batch.count }
        #expect(try await summary.accepted == 20_000 && count == 20_000)
    }

    @Test(.timeLimit(.minutes(5))) func `the results of a run that is never sent end with it`() async throws {
        let stage = try Stage()
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        var run: CampaignRun? = try CampaignRun(try stage.campaign(rows: "token,payload\n\(token(1)),\(payload)\n"))
        let results = try #require(run?.makeResults())
        run = nil
        for await _ in results { Issue.record("nothing was sent") }
    }
}
