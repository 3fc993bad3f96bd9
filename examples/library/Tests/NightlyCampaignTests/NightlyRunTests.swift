import APNSBatch
import APNSSimulator
import GRDB
import Logging
import ServiceLifecycle
import Testing

@testable import NightlyCampaign

@Suite("A campaign from a database") struct NightlyRunTests {
    /// After the registration of every sample.
    private static let inTheFuture: UInt64 = 4_102_444_800_000

    private static func tokens(_ night: Night) throws -> [String] {
        try DatabaseQueue(path: night.path).read {
            try String.fetchAll($0, sql: "SELECT token FROM device ORDER BY id")
        }
    }

    private static func count(_ night: Night, _ sql: String) throws -> Int {
        try DatabaseQueue(path: night.path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(sql)") ?? -1 }
    }

    @Test func `every device gets one push, and devices that are gone are marked`() async throws {
        let night = try await Night(devices: 1200)
        let tokens = try Self.tokens(night)
        try await withSimulator { simulator in
            for token in tokens.prefix(7) {
                try simulator.answer(
                    token, with: .init(status: 410, reason: "Unregistered", inactiveSince: Self.inTheFuture))
            }
            // This one was registered again since.
            try simulator.answer(tokens[7], with: .init(status: 410, reason: "Unregistered", inactiveSince: 1))
            let run = try await night.run(to: simulator)
            try await run.run()
            #expect(run.summary?.accepted == 1192 && run.summary?.rejected == 8 && run.summary?.isClean == true)
            #expect(Set(simulator.requests.map(\.deviceToken)) == Set(tokens) && simulator.requests.count == 1200)
            #expect(try Self.count(night, "device WHERE goneAt IS NOT NULL") == 7)
            #expect(try Self.count(night, "recipient WHERE outcome = 'accepted'") == 1192)

            // The next night is for those that are left.
            let next = try await night.run("next", to: simulator)
            try await next.run()
            #expect(next.summary?.rows == 1193)
        }
    }

    @Test func `a shutdown in order loses nothing and sends nothing twice`() async throws {
        let night = try await Night(devices: 3000)
        try await withSimulator(.init(answer: .init(status: 200, delay: .milliseconds(20)))) { simulator in
            let run = try await night.run(to: simulator)
            let group = ServiceGroup(
                services: [run], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
            async let ended: Void = group.run()
            try await simulator.waitForRequests(1000)
            await group.triggerGracefulShutdown()
            try? await ended
            let sent = simulator.requests.count
            #expect(run.summary?.ending == .interrupted && sent < 3000)
            #expect(try Self.count(night, "recipient WHERE outcome IS NOT NULL") == sent)

            let rest = try await night.run(to: simulator)
            try await rest.run()
            #expect(rest.summary?.accepted == 3000 && simulator.requests.count == 3000)
            #expect(try Self.count(night, "recipient WHERE outcome = 'accepted'") == 3000)
        }
    }

    @Test func `when the database fails, the run stops, and continues where it was`() async throws {
        let night = try await Night(devices: 3000)
        let other = try DatabaseQueue(path: night.path)
        try await withSimulator(.init(answer: .init(status: 200, delay: .milliseconds(20)))) { simulator in
            let run = try await night.run(to: simulator)
            try await other.write { database in
                try database.execute(
                    sql: """
                        CREATE TRIGGER full BEFORE UPDATE ON recipient WHEN NEW.number > 500
                        BEGIN SELECT RAISE(ABORT, 'the disk is full'); END
                        """)
            }
            await #expect(throws: DatabaseError.self) { try await run.run() }
            #expect(run.summary != nil)
            try await other.write { try $0.execute(sql: "DROP TRIGGER full") }

            let rest = try await night.run(to: simulator)
            try await rest.run()
            #expect(rest.summary?.accepted == 3000 && simulator.requests.count == 3000)
            // Also those that the first session could not keep.
            #expect(try Self.count(night, "recipient WHERE outcome = 'accepted'") == 3000)
        }
    }

    @Test func `a connection that is lost costs no push`() async throws {
        let night = try await Night(devices: 500)
        try await withSimulator(.init(faults: [.goaway(reason: "Shutdown", at: .request(100))])) { simulator in
            let run = try await night.run(to: simulator)
            try await run.run()
            #expect(run.summary?.accepted == 500)
            #expect(await simulator.report().deviceTokens == 500)
        }
    }
}
