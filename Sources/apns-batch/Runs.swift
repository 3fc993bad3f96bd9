import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Foundation

struct Runs: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "Lists the runs of earlier nights from the history in the state directory.",
        discussion: """
            The state directory (state_dir) and the name of the campaign come from the
            campaign file, if one is given. Without a name, the runs of all campaigns are
            listed. The oldest run is first. A run that was resumed has one line, that of
            its last session.

            Examples:
              apns-batch runs campaign.yaml
              apns-batch runs --state-dir state --last 7
              apns-batch runs --state-dir state --campaign nightly --json

            Exit codes: 0 the runs are listed, which may be none; 64 there is no state
            directory, or its history cannot be read.
            """)

    @Argument(help: "Campaign file (YAML) with state_dir.")
    var campaignFile: String?

    @Option(help: "State directory.")
    var stateDir: String?

    @Option(help: "Name of the campaign: only its runs. (default: that of the campaign file)")
    var campaign: String?

    @Option(help: "Number of latest runs to list, or 0 for all.")
    var last = 30

    @Flag(help: "Print one JSON object per run instead of a table.")
    var json = false

    func run() throws {
        let runs = try reporting { try wanted() }
        Output.lines(json ? runs.map { (try? JSONLine.text($0)) ?? "{}" } : RunsText.table(runs))
        if !Output.isComplete() { throw ExitStatus.interrupted }
    }

    private func wanted() throws -> [RecordedRun] {
        let call = try campaignFile.map { try CampaignCall(flags: CampaignSettings(), file: $0) }
        guard let directory = stateDir ?? call?.settings.stateDir else {
            throw UsageError("no state directory: give --state-dir, or a campaign file with state_dir")
        }
        guard access("\(directory)/.", F_OK) == 0 else { throw UsageError("\(directory): no such directory") }
        let name = campaign ?? call?.name
        let runs = try RunHistory(directory).runs().filter { name == nil || $0.campaign == name }
        return last > 0 ? runs.suffix(last) : runs
    }
}

/// The table of runs, which fits 80 columns unless numbers or names are long.
enum RunsText {
    static func table(_ runs: [RecordedRun]) -> [String] {
        guard !runs.isEmpty else { return ["no runs"] }
        return [line("began", "campaign", "exit", "rows", "accepted", "seconds", "verdict")] + runs.flatMap(lines)
    }

    private static func lines(_ run: RecordedRun) -> [String] {
        let figures = run.figures
        let first = line(
            minute(run.began), run.campaign, "\(run.exitCode)", figures.rows.grouped, figures.accepted.grouped,
            String(format: "%.0f", figures.seconds), String(run.verdict.prefix { $0 != ":" }))
        return run.exitCode == 0 ? [first] : [first] + details(run.verdict)
    }

    private static func line(
        _ began: String, _ campaign: String, _ exit: String, _ rows: String, _ accepted: String, _ seconds: String,
        _ verdict: String
    ) -> String {
        [
            left(began, 17), left(campaign, 14), right(exit, 4), right(rows, 12), right(accepted, 12),
            right(seconds, 8),
            verdict,
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

    /// `2026-11-21 03:00Z` of `2026-11-21T03:00:12Z`.
    private static func minute(_ time: String) -> String { time.prefix(16).replacing("T", with: " ") + "Z" }

    /// The verdict after its first word, in lines of at most 80 columns.
    private static func details(_ verdict: String) -> [String] {
        var lines = [""]
        for word in Printable.text(verdict).split(separator: " ").dropFirst() {
            if lines[lines.count - 1].count + 1 + word.count > 76 { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines.map { "    \($0)" }
    }
}
