import APNSBatch
import APNSBatchBasics
import APNSBatchReport
import APNSBatchWebhooks
import ArgumentParser
import Foundation

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the state of the rows of a run, which may still be running.",
        discussion: """
            A row has ended (it has a line in results.csv), may have been sent (no answer
            is recorded), or was not sent. resume sends the remaining rows.

            Of a directory that holds nights, or of a state_dir, it names the runs that are
            not finished, with the rows that are left and the command that sends them.

            Of a run in parts, it shows a line for each part that is not complete, and the
            sums of all. A part that another machine works on is seen as well.

            --follow shows how a run goes on while another process works on it: rates,
            outcomes, streams, answer times, and the time that is left. It reads the
            timeline that the run records each second. It ends with the run, and then
            shows the state of the rows, or with SIGINT.

            Examples:
              apns-batch status runs/tonight
              apns-batch status runs/tonight --ranges 0
              apns-batch status runs/tonight --follow
              apns-batch status runs

            Exit codes: 0 every row of the input has ended, and the last process ended in
            order, or nothing is unfinished in a directory of nights; 2 rows are left, a
            process is still running, or one of the nights cannot be read; 64 the directory
            holds no run and no nights.
            """)

    @Argument(help: "Run directory, of a run in parts as well, or directory of nights.", completion: .directory)
    var runDirectory: String

    @Option(help: "Maximum number of row ranges to show, or 0 for all.")
    var ranges = 20

    @Flag(help: "Print one JSON object instead of text; with --follow, one each second.")
    var json = false

    @Flag(help: "Show the figures of the run, each second on a terminal and every ten seconds elsewhere.")
    var follow = false

    func run() throws {
        let parts = try reporting { try DistributedRun(ifIn: runDirectory) }
        if let parts { throw try show(parts) }
        if follow {
            let hasEnded = try reporting {
                var follower = RunFollower(runDirectory, json: json)
                return try follower.follow()
            }
            guard hasEnded else { throw ExitStatus.someRowsLeft }
        }
        if !follow, access("\(runDirectory)/ledger", F_OK) != 0, let code = try showNights() { throw code }
        var status = try reporting { try RunStatus(of: runDirectory) }
        status.countUnread(inRun: runDirectory)
        let most = ranges > 0 ? ranges : .max
        let waiting = Outbox(ofRunIn: runDirectory).count
        let lines =
            json
            ? [StatusText.json(status, ranges: most, webhooks: waiting)]
            : StatusText.lines(status, of: runDirectory, ranges: most, webhooks: waiting)
        if !json { othersUnfinished.forEach { Output.line("another run is not finished: \($0.sentence)") } }
        // With both flags, each line is a point of the timeline.
        if !(follow && json) { Output.lines(lines) }
        guard Output.isComplete() else { throw ExitStatus.interrupted }
        throw status.isDone ? ExitCode.success : ExitStatus.someRowsLeft
    }

}

extension Status {
    /// Shows a run in parts, and returns the exit code.
    private func show(_ run: DistributedRun) throws -> ExitCode {
        guard !follow else {
            let part = run.parts.first(where: \.isBegun)?.directory ?? "\(run.directory)/parts/00000"
            throw reported(UsageError("--follow: this is a run in parts; follow one, such as \(part.shellQuoted)"))
        }
        let status = PartsStatus(of: run)
        Output.lines(json ? [try JSONLine.text(status)] : status.lines(most: ranges > 0 ? ranges : .max))
        guard Output.isComplete() else { return ExitStatus.interrupted }
        return status.isDone ? .success : ExitStatus.someRowsLeft
    }

    /// Names the runs of a directory of nights that are not finished. Returns the exit code; nil if there are no nights.
    private func showNights() throws -> ExitCode? {
        let inParts = NightsInParts(in: runDirectory)
        let hasHistory = access("\(runDirectory)/runs.ndjson", F_OK) == 0
        guard hasHistory || !inParts.isEmpty else { return nil }
        let history = RunHistory(runDirectory)
        let (open, damage) = try reporting { hasHistory ? (try history.unfinished(), try history.damage()) : ([], nil) }
        for fault in (damage.map { [$0] } ?? []) + inParts.faults { complain("warning: \(fault)") }
        var lines = open.map { json ? ListedRun.unfinished($0).json : "not finished: \($0.sentence)" }
        lines += try inParts.unfinished.map { json ? try JSONLine.text($0) : "not finished: \($0.sentence)" }
        let isDone = lines.isEmpty && inParts.faults.isEmpty
        Output.lines(isDone && !json ? ["no run is unfinished"] : lines)
        guard Output.isComplete() else { return ExitStatus.interrupted }
        return isDone ? .success : ExitStatus.someRowsLeft
    }

    /// The other unfinished runs of the campaign; none if its history cannot be read.
    private var othersUnfinished: [UnfinishedRun] {
        guard let opening = try? RunOpening(of: runDirectory), let arguments = try? RunArguments(of: opening),
            let call = try? arguments.resuming(in: runDirectory, CampaignSettings()), let book = try? call.book()
        else { return [] }
        return ((try? book.unfinished()) ?? []).filter { !CampaignBook.isSame($0.runDirectory, runDirectory) }
    }
}

extension RunStatus {
    /// Counts the unread rows of a run, if its input still exists and no process is reading it.
    mutating func countUnread(inRun directory: String) {
        if isRunning { return }
        guard let opening = try? RunOpening(of: directory), let settings = try? RunArguments(of: opening).settings
        else {
            return countUnread(in: inputCopy ?? input)
        }
        countUnread(
            in: inputCopy ?? settings.input ?? input,
            delimiter: (try? settings.only("delimiter").delimiter) ?? UInt8(ascii: ","),
            escape: (try? settings.escapeOfInput) ?? .automatic)
    }

    /// Whether a process is working on the run.
    var isRunning: Bool { if case .running = state { true } else { false } }

    /// Whether all rows have ended, and the last process ended in order.
    var isDone: Bool { state == .ended && isInputRead && count(.ended) == rowsRead }
}

enum StatusText {
    static func lines(_ status: RunStatus, of directory: String, ranges: Int, webhooks: Int) -> [String] {
        var lines = ["state: \(state(status))", "input: \(status.input), \(read(status))"]
        if let run = CampaignBook.correctedRun(by: directory) { lines.append("correction of: \(run)") }
        for range in status.rows.prefix(ranges) {
            let rows = range.first == range.last ? "row \(range.first)" : "rows \(range.first) to \(range.last)"
            lines.append("\(rows): \(word(range.knowledge))")
        }
        if status.rows.count > ranges {
            lines.append("and \(status.rows.count - ranges) more ranges; show them with --ranges 0")
        }
        switch status.unread {
        case .counted(0): break
        case .counted(let rows): lines.append("\(rows.grouped) more rows: not read")
        case .estimated(let rows):
            lines.append("about \(rows.grouped) more rows, by the bytes that are left: not read")
        case .unknown: lines.append("more rows may follow: not read")
        }
        lines += status.changes.map { "changed at \(Timestamp.text(Int64(clamping: $0.time))): \($0.text)" }
        if webhooks > 0 { lines.append("events of webhooks that were not delivered: \(webhooks)") }
        if !status.isRunning, !status.isDone { lines.append("to continue: \(resumption(of: directory))") }
        if status.isDone { lines += retry(status.totals.unavailable, by: resumption(of: directory)) }
        return lines + [lastLine(status)]
    }

    /// The command that resumes a run.
    private static func resumption(of directory: String) -> String {
        CampaignCall.isOfPart(directory)
            ? PartsStatus.resumption(of: directory) : "apns-batch resume \(directory.shellQuoted)"
    }

    /// What to do about the unavailable rows of a complete run.
    static func retry(_ unavailable: UInt64, by command: String) -> [String] {
        guard unavailable > 0 else { return [] }
        let rows = "\(unavailable.grouped) unavailable row\(unavailable == 1 ? "" : "s")"
        return ["to send \(rows) again: \(command) --retry-unavailable"]
    }

    /// Returns the line that scripts read.
    static func lastLine(_ status: RunStatus) -> String {
        let outcomes = Outcome.allCases.map { " \($0.name)=\(status.totals[$0])" }.joined()
        // Unknown counts are omitted, because scripts expect numbers.
        let total = status.rowsTotal.map { "rows=\($0) " } ?? ""
        let unread = status.unread.rows.map { "not_read=\($0) " } ?? ""
        return "\(total)rows_read=\(status.rowsRead) ended=\(status.count(.ended)) "
            + "may_be_sent=\(status.count(.unknown)) not_sent=\(status.count(.notSent)) \(unread)"
            + "resent=\(status.totals.resent) sessions=\(status.sessions)\(outcomes)"
    }

    static func json(_ status: RunStatus, ranges: Int, webhooks: Int) -> String {
        let unread: String? =
            switch status.unread {
            case .counted: "counted"
            case .estimated: "estimated"
            case .unknown: nil
            }
        let object = Object(
            state: state(status), input: status.input, inputBytes: status.inputBytes, inputPacking: status.inputPacking,
            inputBytesRead: status.inputBytesRead, inputIsRead: status.isInputRead, rows: status.rowsTotal,
            rowsRead: status.rowsRead, ended: status.count(.ended), mayBeSent: status.count(.unknown),
            notSent: status.count(.notSent), notRead: status.unread.rows, notReadIs: unread, left: status.left,
            resent: status.totals.resent, sessions: status.sessions,
            outcomes: Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ("\($0.name)", status.totals[$0]) }),
            changes: status.changes,
            ranges: status.rows.prefix(ranges).map {
                .init(first: $0.first, last: $0.last, state: word($0.knowledge))
            }, webhooksWaiting: webhooks > 0 ? webhooks : nil)
        return (try? JSONLine.text(object)) ?? "{}"
    }

    private struct Object: Encodable {
        struct Range: Encodable {
            var first: UInt64
            var last: UInt64
            var state: String
        }

        var state: String
        var input: String
        var inputBytes: UInt64?
        var inputPacking: String?
        var inputBytesRead: UInt64
        var inputIsRead: Bool
        var rows: UInt64?
        var rowsRead: UInt64
        var ended: UInt64
        var mayBeSent: UInt64
        var notSent: UInt64
        var notRead: UInt64?
        var notReadIs: String?
        var left: UInt64?
        var resent: UInt64
        var sessions: Int
        var outcomes: [String: UInt64]
        var changes: [RunChange]
        var ranges: [Range]
        var webhooksWaiting: Int?
    }

    private static func state(_ status: RunStatus) -> String {
        switch status.state {
        case .running(let process): "process \(process) is at work"
        case .ended: "the last process ended in order"
        case .killed: "the last process was killed"
        }
    }

    private static func read(_ status: RunStatus) -> String {
        guard let bytes = status.inputBytes else {
            return "\(status.inputBytesRead) bytes read; \(status.isResumable ? "of a program" : "cannot be resumed")"
        }
        if let packing = status.inputPacking {
            return "\(status.inputBytesRead) bytes read, unpacked of \(bytes) bytes of \(packing)"
        }
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
