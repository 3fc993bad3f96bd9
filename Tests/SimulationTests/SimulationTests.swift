import APNSBatchSimulation
import APNSBatchTestSupport
import Foundation
import Testing

@Suite("Simulation", .ownThread, .serialized)
struct SimulationTests {
    /// Runs a seed with an input file that is removed afterwards.
    private func run(_ seed: UInt64, broken: BrokenRule? = nil) throws -> Simulation.Report {
        let input = FileManager.default.temporaryDirectory.appending(path: "simulation-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: input) }
        return try Simulation.run(seed: seed, input: input, broken: broken)
    }

    @Test("Every guarantee holds over a faulty network", arguments: 1...20 as ClosedRange<UInt64>)
    func promises(seed: UInt64) throws {
        #expect(try run(seed).findings == [])
    }

    @Test(
        "Each notification of a sender has one end, which agrees with what the server saw",
        arguments: 1...20 as ClosedRange<UInt64>)
    func sender(seed: UInt64) throws {
        #expect(try SendSimulation.run(seed: seed).findings == [])
    }

    @Test("A seed reproduces a run byte for byte", arguments: [3, 7, 11] as [UInt64])
    func reproduction(seed: UInt64) throws {
        let first = try run(seed)
        let second = try run(seed)
        #expect(first.digest == second.digest)
        #expect(first.turns == second.turns)
        #expect(first.digest != (try run(seed + 1)).digest)
    }

    @Test("A broken rule is found", arguments: BrokenRule.allCases)
    func brokenRule(rule: BrokenRule) throws {
        let found = try (1...400).contains { seed in
            try !run(seed, broken: rule).findings.isEmpty
        }
        #expect(found)
    }
}
