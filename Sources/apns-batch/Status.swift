import APNSBatch
import ArgumentParser

/// `apns-batch status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tells what became of a run's rows, also while it goes on.",
        discussion: """
            Rows are ended (they have their line in results.csv), unknown (they may have
            been sent, and no answer is recorded) or not sent. resume sends what is left.

            Examples:
              apns-batch status runs/tonight
              apns-batch status runs/tonight --ranges 0

            Exit codes: 0 every row of the input has ended, and the process ended in
            order; 2 something is left, or a process is at work; 64 no run.
            """)

    @Argument(help: "Run directory.")
    var runDirectory: String

    @Option(help: "Ranges of rows to show at most; 0 for all.")
    var ranges = 20

    func run() throws {
        let status = try reporting { try RunStatus(of: runDirectory) }
        print(StatusText.text(status, ranges: ranges > 0 ? ranges : .max), terminator: "")
        _ = Output.isComplete()
        let isDone =
            status.state == .ended && status.isInputRead
            && status.count(.ended) == status.rows.last?.last ?? 0
        throw isDone ? ExitCode.success : ExitStatus.someRowsLeft
    }
}

/// How a status reads.
enum StatusText {
    static func text(_ status: RunStatus, ranges: Int) -> String {
        var lines = ["state: \(state(status))", "input: \(status.input), \(read(status))"]
        for range in status.rows.prefix(ranges) {
            let rows = range.first == range.last ? "row \(range.first)" : "rows \(range.first) to \(range.last)"
            lines.append("\(rows): \(word(range.knowledge))")
        }
        if status.rows.count > ranges { lines.append("and \(status.rows.count - ranges) more ranges: --ranges 0") }
        lines.append(lastLine(status))
        return lines.map { $0 + "\n" }.joined()
    }

    /// The line that scripts read.
    static func lastLine(_ status: RunStatus) -> String {
        let outcomes = Outcome.allCases.map { " \($0.name)=\(status.outcomes[$0] ?? 0)" }.joined()
        return "rows=\(status.rows.last?.last ?? 0) ended=\(status.count(.ended)) "
            + "may_be_sent=\(status.count(.unknown)) not_sent=\(status.count(.notSent)) sessions=\(status.sessions)\(outcomes)"
    }

    private static func state(_ status: RunStatus) -> String {
        switch status.state {
        case .running(let process): "process \(process) is at work"
        case .ended: "the last process ended in order"
        case .killed: "the last process was killed"
        }
    }

    private static func read(_ status: RunStatus) -> String {
        guard let bytes = status.inputBytes else { return "\(status.inputBytesRead) bytes read; cannot be resumed" }
        return "\(status.inputBytesRead) of \(bytes) bytes read"
    }

    private static func word(_ knowledge: RunStatus.Knowledge) -> String {
        switch knowledge {
        case .ended: "ended"
        case .unknown: "may be sent, no answer recorded"
        case .notSent: "not sent"
        }
    }
}
