import Foundation
import Simulation
import TestThreads
import Testing

@Suite("Simulation", .ownThread)
struct SimulationTests {
    /// A file of the test's own, gone with it.
    private final class Input {
        let path = FileManager.default.temporaryDirectory.appending(path: "simulation-\(UUID().uuidString).csv").path

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    @Test("Every promise holds over a faulty network", arguments: 1...40 as ClosedRange<UInt64>)
    func promises(seed: UInt64) throws {
        #expect(try Simulation.run(seed: seed, input: Input().path).findings == [])
    }

    @Test("A seed reproduces a run byte for byte", arguments: [3, 7, 11] as [UInt64])
    func reproduction(seed: UInt64) throws {
        let first = try Simulation.run(seed: seed, input: Input().path)
        let second = try Simulation.run(seed: seed, input: Input().path)
        #expect(first.digest == second.digest)
        #expect(first.turns == second.turns)
        #expect(first.digest != (try Simulation.run(seed: seed + 1, input: Input().path)).digest)
    }

    @Test("A broken rule is found", arguments: BrokenRule.allCases)
    func brokenRule(rule: BrokenRule) throws {
        let found = try (1...400).contains { seed in
            try !Simulation.run(seed: seed, input: Input().path, broken: rule).findings.isEmpty
        }
        #expect(found)
    }
}
