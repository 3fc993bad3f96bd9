import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Foundation

struct Runs: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "Lists the runs of earlier nights, and the starts that were refused, from the history of a campaign.",
        usage: "apns-batch runs [<campaign-file>] [<options>]",
        discussion: """
            The campaign file says where the history is, and of which campaign; or give its
            directory, state_dir or else the one that holds the nights. Without a campaign,
            the runs of all campaigns are listed. The oldest is first. A run that was
            resumed has one entry, that of its last session. Times and nights are those of
            timezone and night_starts.

            Runs that were killed, are not finished or go on are listed, too, with the rows
            that are left and the command that finishes them. Corrections follow the run
            whose rows they send.

            Examples:
              apns-batch runs campaign.yaml
              apns-batch runs --state-dir state --last 7
              apns-batch runs --state-dir state --campaign nightly --json

            With --unfinished, only runs are listed that run can continue, and there is no
            table if there are none: for ExecCondition of a unit that starts at boot.

            Exit codes: 0 the runs are listed, which may be none; 2 there is none that can
            be continued (--unfinished); 64 there is no history, or it cannot be read.
            """)

    @Argument(help: "Campaign file (YAML).", completion: .campaign)
    var campaignFile: String?

    @Option(help: "Directory of the history.", completion: .directory)
    var stateDir: String?

    @Option(help: "Name of the campaign: only its runs. (default: that of the campaign file)")
    var campaign: String?

    @Option(help: "Number of latest entries to list, or 0 for all.")
    var last = 30

    @Option(
        help: "Run directory of the campaign, if not that of the campaign file. {date} is the night.",
        completion: .directory)
    var runDir: String?

    @Flag(help: "List only runs that can be continued; exit code 2 if there are none.")
    var unfinished = false

    @Flag(help: "Print one JSON object for each entry instead of a table.")
    var json = false

    func run() throws {
        let (entries, settings) = try reporting { try wanted() }
        if unfinished, entries.isEmpty { throw ExitStatus.someRowsLeft }
        let lines = try reporting { json ? entries.map(\.json) : try RunsText(settings).table(entries) }
        Output.lines(lines)
        if !Output.isComplete() { throw ExitStatus.interrupted }
    }

    private func wanted() throws -> ([ListedRun], CampaignSettings) {
        guard last >= 0 else { throw UsageError("--last: expected 0 or more, found \(last)") }
        var flags = CampaignSettings()
        (flags.stateDir, flags.runDir) = (stateDir, runDir)
        let call = try campaignFile.map { [flags] in try CampaignCall(flags: flags, file: $0) }
        guard let directory = stateDir ?? call?.settings.stateDir ?? call?.nights else {
            throw UsageError("no history: give a campaign file, or --state-dir")
        }
        guard access("\(directory)/.", F_OK) == 0 else { throw UsageError("\(directory): no such directory") }
        let (history, name) = (RunHistory(directory), campaign ?? call?.name)
        let settings = call?.settings ?? CampaignSettings()
        if let damage = try history.damage() { complain("warning: \(damage)") }
        let open = try history.unfinished(of: name)
        if unfinished {
            // A correction is continued with its file, and not by the start of a night.
            let own = open.filter { !$0.isAtWork && !$0.isLost && $0.correctionOf == nil }
            return (own.map { .unfinished($0) }, settings)
        }
        let paths = Set(open.map(\.runDirectory))
        // A run that was interrupted has a line of its last session, too.
        let runs = try history.runs().filter { $0.ending == "complete" || !paths.contains($0.runDirectory) }
        let entries =
            runs.filter { name == nil || $0.campaign == name }.map { ListedRun.ended($0) }
            + (try history.refusedStarts().filter { name == nil || $0.campaignName == name }).map {
                ListedRun.refused($0)
            }
            + open.map { ListedRun.unfinished($0) }
        let sorted = ListedRun.sorted(entries)
        return (last > 0 ? sorted.suffix(last) : sorted, settings)
    }
}

/// An entry of the list.
enum ListedRun {
    case ended(RecordedRun)
    case refused(RefusedStart)
    case unfinished(UnfinishedRun)

    /// When it began, or was refused.
    var time: String {
        switch self {
        case .ended(let run): run.began
        case .refused(let start): start.time
        case .unfinished(let run): run.began
        }
    }

    private var directory: String? {
        switch self {
        case .ended(let run): run.runDirectory
        case .refused: nil
        case .unfinished(let run): run.runDirectory
        }
    }

    private var correctionOf: String? {
        switch self {
        case .ended(let run): run.correctionOf
        case .refused: nil
        case .unfinished(let run): run.correctionOf
        }
    }

    /// The entries by their times, and the corrections of a run after it. Those of one second stay in the order in which they are given.
    static func sorted(_ entries: [ListedRun]) -> [ListedRun] {
        func corrected(_ entry: ListedRun) -> Int? {
            guard let path = entry.correctionOf else { return nil }
            return entries.indices.filter {
                entries[$0].directory == path && entries[$0].correctionOf == nil && entries[$0].time <= entry.time
            }.max { entries[$0].time < entries[$1].time }
        }
        let keyed = entries.enumerated().map { offset, entry in
            let run = corrected(entry) ?? offset
            return (key: (entries[run].time, run, entry.time, offset), entry: entry)
        }
        return keyed.sorted { $0.key < $1.key }.map(\.entry)
    }

    /// One object, in which `ending` distinguishes the kinds.
    var json: String {
        switch self {
        case .ended(let run): Self.text(run)
        case .refused(let start): Self.text(Other(body: start, ending: "refused"))
        case .unfinished(let run): Self.text(Other(body: run, ending: "unfinished"))
        }
    }

    private static func text(_ value: some Encodable) -> String { (try? JSONLine.text(value)) ?? "{}" }

    private struct Other<Body: Encodable>: Encodable {
        let body: Body
        let ending: String

        private enum Key: CodingKey { case ending }

        func encode(to encoder: any Encoder) throws {
            try body.encode(to: encoder)
            var members = encoder.container(keyedBy: Key.self)
            try members.encode(ending, forKey: .ending)
        }
    }
}

/// The table of runs, which fits 80 columns unless numbers, names or paths are long. Times are those of the campaign.
struct RunsText {
    private let settings: CampaignSettings
    private let zone: TimeZone

    init(_ settings: CampaignSettings) throws {
        self.settings = settings
        zone = try settings.localZone
    }

    func table(_ entries: [ListedRun]) throws -> [String] {
        guard !entries.isEmpty else { return ["no runs"] }
        let head = Self.line("night", "began", "campaign", "exit", "rows", "accepted", "seconds", "verdict")
        return ["times: \(zone.identifier)", head] + (try entries.flatMap(lines))
    }

    private func lines(_ entry: ListedRun) throws -> [String] {
        switch entry {
        case .ended(let run):
            let figures = run.figures
            let first = try line(
                run.began, run.campaign, "\(run.exitCode)", figures.rows.grouped, figures.accepted.grouped,
                String(format: "%.0f", figures.seconds), String(run.verdict.prefix { $0 != ":" }))
            let details = run.exitCode == 0 ? [] : Self.wrapped(run.verdict.split(separator: " ").dropFirst())
            let corrected = run.correctionOf.map { ", a correction of \(Self.shown($0))" } ?? ""
            return [first] + details + ["    " + Self.shown(run.runDirectory) + corrected]
        case .refused(let start):
            let first = try line(
                start.time, start.campaignName, "\(start.exitCode)", "-", "-", "-", "refused")
            return [first] + Self.wrapped(start.reason.split(separator: " ")[...])
        case .unfinished(let run):
            let word = run.isAtWork ? "running" : run.isLost ? "lost" : "unfinished"
            let first = try line(run.began, run.campaign, "-", "-", "-", "-", word)
            return [first, "    " + run.sentence]
        }
    }

    private func line(
        _ began: String, _ campaign: String, _ exit: String, _ rows: String, _ accepted: String, _ seconds: String,
        _ verdict: String
    ) throws -> String {
        let time = Self.seconds(began)
        return Self.line(try settings.night(at: time), minute(time), campaign, exit, rows, accepted, seconds, verdict)
    }

    private static func line(
        _ night: String, _ began: String, _ campaign: String, _ exit: String, _ rows: String, _ accepted: String,
        _ seconds: String, _ verdict: String
    ) -> String {
        [
            left(night, 10), left(began, 11), left(campaign, 12), right(exit, 4), right(rows, 11), right(accepted, 11),
            right(seconds, 7), verdict,
        ].joined(separator: " ")
    }

    private static func left(_ text: String, _ width: Int) -> String {
        let text = Printable.text(text)
        let shown = text.count > width ? text.prefix(width - 1) + "…" : text[...]
        return shown + String(repeating: " ", count: width - shown.count)
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// The path as it is reached from here.
    private static func shown(_ directory: String) -> String {
        let here = FileManager.default.currentDirectoryPath + "/"
        return directory.hasPrefix(here) ? String(directory.dropFirst(here.count)) : directory
    }

    /// The seconds since 1970 of `2026-11-21T03:00:12Z`.
    private static func seconds(_ time: String) -> Int64 {
        (try? Date(time, strategy: .iso8601)).map { Int64($0.timeIntervalSince1970) } ?? 0
    }

    /// `11-21 04:00`.
    private func minute(_ time: Int64) -> String {
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(time)))
        let local = Date(timeIntervalSince1970: TimeInterval(time + Int64(offset)))
        return String(local.formatted(.iso8601).dropFirst(5).prefix(11)).replacing("T", with: " ")
    }

    /// Words in lines of at most 80 columns.
    private static func wrapped(_ words: ArraySlice<Substring>) -> [String] {
        var lines = [""]
        for word in words.map({ Printable.text(String($0)) }) {
            if lines[lines.count - 1].count + 1 + word.count > 76 { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines.map { "    \($0)" }
    }
}
