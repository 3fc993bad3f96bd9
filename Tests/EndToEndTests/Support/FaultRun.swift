import Foundation
import Testing

/// A campaign of plain rows to a simulator with faults.
struct FaultRun {
    let finished: Finished
    let results: RunResults
    let counts: [String: SimulatorProcess.Count]
    let report: SimulatorProcess.Report

    static let template = ["--template", Tools.fixture("campaign/plain.json"), "--lanes", "1"]

    init(
        _ faults: [String], rows: Int = 600, latency: String = "{ distribution: none }", rules: [Script.Rule] = [],
        _ more: [String] = [], expecting code: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let sender = try Sender()
        let script = Script(seed: 5, rules: rules, latency: latency, faults: faults)
        let simulator = try SimulatorProcess(sender, script: script)
        let input = try sender.makeRows(rows, "--plain")
        (finished, results) = try sender.send(
            input, to: simulator.port, Self.template + more, expecting: code, sourceLocation: sourceLocation)
        counts = try simulator.stop()
        report = simulator.report
        expectExplained(sourceLocation: sourceLocation)
    }

    /// Expects that the simulator's counts explain the results: every request received is reported, and every row
    /// reported as accepted was accepted.
    private func expectExplained(sourceLocation: SourceLocation) {
        results.expectSummaryAgrees(sourceLocation: sourceLocation)
        let wrong = results.lines.filter { line in
            let count = counts[line.token] ?? .init(received: 0, accepted: 0)
            return count.received > line.attempts || (line.outcome == "accepted" && count.accepted == 0)
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))", sourceLocation: sourceLocation)
        #expect(report.violations == [], sourceLocation: sourceLocation)
    }

    /// Expects that every row is accepted. `twice` says whether some may have been received more than once.
    func expectAllAccepted(rows: Int = 600, twice: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        results.expectComplete(rows: rows, sourceLocation: sourceLocation)
        #expect(results.count("accepted") == rows, "\(finished)", sourceLocation: sourceLocation)
        guard !twice else { return }
        let again = counts.filter { $0.value.received != 1 }
        #expect(again.isEmpty, "\(again.prefix(3))", sourceLocation: sourceLocation)
    }
}
