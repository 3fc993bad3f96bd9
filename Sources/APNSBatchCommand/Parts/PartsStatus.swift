import APNSBatch
import APNSBatchBasics
import APNSBatchReport

/// The state of the rows of a run in parts: the sums of its parts.
struct PartsStatus: Encodable {
    /// How far a part is.
    enum State: String, Encodable {
        case waiting
        case sending
        case stopped
        case complete
        case damaged

        var words: String {
            switch self {
            case .waiting: "not begun"
            case .sending: "a process is at work"
            case .stopped: "begun, and no process is at work"
            case .complete: "complete"
            case .damaged: "its record cannot be read"
            }
        }
    }

    struct Part: Encodable {
        let part: Int
        var state: State
        let rows: UInt64
        var ended: UInt64 = 0
        var mayBeSent: UInt64 = 0
        /// Why its record cannot be read.
        var cause: String?
        let directory: String
    }

    /// Whether the program that divided the rows is at work.
    let isAtWork: Bool
    private(set) var rows: UInt64 = 0
    private(set) var ended: UInt64 = 0
    private(set) var mayBeSent: UInt64 = 0
    /// The rows that were not sent, read or not.
    private(set) var notSent: UInt64 = 0
    private(set) var resent: UInt64 = 0
    private(set) var outcomes: [String: UInt64] = [:]
    private(set) var parts: [Part] = []
    private let directory: String

    private enum CodingKeys: String, CodingKey {
        case rows, ended, mayBeSent, notSent, resent, outcomes, parts
        case isAtWork = "atWork"
    }

    init(of run: DistributedRun) {
        (directory, isAtWork) = (run.directory, run.isAtWork)
        for outcome in Outcome.allCases { outcomes["\(outcome.name)"] = 0 }
        for part in run.parts { add(part) }
        notSent = rows - min(rows, ended + mayBeSent)
    }

    private mutating func add(_ part: DistributedRun.Part) {
        rows += part.rows
        var line = Part(part: part.number, state: .waiting, rows: part.rows, directory: part.directory)
        defer { parts.append(line) }
        guard part.isBegun else { return }
        do {
            let status = try RunStatus(of: part.directory)
            (line.ended, line.mayBeSent) = (status.count(.ended), status.count(.unknown))
            line.state = status.isRunning ? .sending : status.isDone ? .complete : .stopped
            ended += line.ended
            mayBeSent += line.mayBeSent
            resent += status.totals.resent
            for outcome in Outcome.allCases { outcomes["\(outcome.name)", default: 0] += status.totals[outcome] }
        } catch {
            (line.state, line.cause) = (.damaged, "\(error)")
        }
    }

    private func count(_ state: State) -> Int { parts.count { $0.state == state } }

    /// Whether all rows of all parts have ended, and no process is at work.
    var isDone: Bool { parts.allSatisfy { $0.state == .complete } }

    /// - Parameter most: The largest number of parts that are shown.
    func lines(most: Int) -> [String] {
        let states: [State] = [.complete, .sending, .stopped, .waiting, .damaged]
        let counts = states.filter { count($0) > 0 }.map { "\(count($0)) \($0.words)" }
        var lines = ["a run in \(parts.count) parts: \(counts.joined(separator: ", "))"]
        let open = parts.filter { $0.state != .complete }
        lines += open.prefix(most).map(Self.line)
        if open.count > most { lines.append("and \(open.count - most) more parts; show them with --ranges 0") }
        lines += advice
        if isDone {
            let unavailable = outcomes["\(Outcome.unavailable.name)", default: 0]
            lines += StatusText.retry(unavailable, by: Self.resumption(of: directory))
        }
        return lines + [lastLine]
    }

    /// What to do about parts that were begun or not begun, and on which no process is at work.
    private var advice: [String] {
        guard count(.stopped) + count(.waiting) > 0 else { return [] }
        if isAtWork { return ["the program that divided the rows is at work, and sends what is left"] }
        return (count(.stopped) > 0 ? ["to continue: \(Self.resumption(of: directory))"] : [])
            + (count(.waiting) > 0 ? ["parts that were not begun: call the program again that divided the rows"] : [])
    }

    /// The command that resumes a run in parts, or one of its parts, by hand. The provider token of their program exists only while that sends.
    static func resumption(of directory: String) -> String {
        "apns-batch resume \(directory.shellQuoted) --key-file KEY_FILE --key-id KEY_ID --team-id TEAM_ID"
    }

    private static func line(_ part: Part) -> String {
        let rows = "part \(part.part): \(part.ended.grouped) of \(part.rows.grouped) rows have ended"
        let doubt = part.mayBeSent > 0 ? ", \(part.mayBeSent.grouped) may be sent" : ""
        return "\(rows)\(doubt): \(part.cause ?? part.state.words)"
    }

    /// The line that scripts read.
    private var lastLine: String {
        let counts = Outcome.allCases.map { " \($0.name)=\(outcomes["\($0.name)", default: 0])" }.joined()
        return "rows=\(rows) ended=\(ended) may_be_sent=\(mayBeSent) not_sent=\(notSent) resent=\(resent) "
            + "parts=\(parts.count) parts_complete=\(count(.complete))\(counts)"
    }
}
