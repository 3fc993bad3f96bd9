import APNSBatch
import APNSBatchBasics

/// Several runs side by side.
public struct RunComparison: Sendable {
    let reports: [RunReport]

    /// - Parameter reports: In the order in which they are shown.
    public init(_ reports: [RunReport]) { self.reports = reports }

    /// One figure of all runs.
    struct Line: Equatable {
        var name: String
        /// A text for each run; empty where the run does not have the figure.
        var values: [String]
        /// The share of its rows that this is, for each run; empty if the figure has none.
        var shares: [String] = []
    }

    /// The names of the runs: those of their directories.
    var names: [String] {
        reports.map { $0.runDirectory.split(separator: "/").last.map(String.init) ?? $0.runDirectory }
    }

    var lines: [Line] { general + outcomes + reasons + speed }

    private func line(_ name: String, _ value: (RunReport) -> String) -> Line {
        Line(name: name, values: reports.map(value))
    }

    private var general: [Line] {
        [
            line("began") { report in
                // Month, day, hour and minute, as narrow as the other figures.
                report.began.map { String(report.localTime.text($0).dropFirst(5).prefix(11)) }
                    ?? report.summary.campaign.began
            },
            line("verdict", \.verdictKind),
            line("duration") { ElapsedTime.text($0.summary.allSessions.elapsedSeconds) },
            line("sessions") { "\($0.summary.sessions)" },
            line("rows") { $0.rowsTotal.grouped },
        ]
    }

    private var outcomes: [Line] {
        let all = Outcome.allCases.map { "\($0.name)" } + ["left"]
        return all.compactMap { name in
            let lines = reports.map { report in report.outcomes.first { $0.outcome == name } }
            guard lines.contains(where: { ($0?.rows ?? 0) > 0 }) else { return nil }
            return Line(
                name: name,
                values: lines.map { $0?.rows.grouped ?? "0" },
                shares: lines.map { $0.map { FigureText.percent($0.sharePercent) } ?? "" })
        }
    }

    private static let reasonsMax = 10

    /// The reasons that most rows of all runs have.
    private var reasons: [Line] {
        var rows: [String: UInt64] = [:]
        for line in reports.flatMap(\.reasons) { rows[line.reason, default: 0] &+= line.rows }
        let names = rows.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.reasonsMax).map(\.key)
        return names.map { name in
            line(name) { report in
                report.reasons.filter { $0.reason == name }.reduce(0) { $0 &+ $1.rows }.grouped
            }
        }
    }

    private var speed: [Line] {
        /// A figure that may be partly lost.
        func least(_ name: String, _ value: (RunReport) -> UInt64) -> Line {
            line(name) { ($0.isPartial ? "≥ " : "") + value($0).grouped }
        }
        func time(
            _ name: String, _ value: (RunReport, CampaignSummary.AnswerMilliseconds) -> Double
        ) -> Line {
            line(name) { report in
                report.summary.allSessions.answerTimes.map { FigureText.milliseconds(value(report, $0)) } ?? ""
            }
        }
        return [
            line("accepted per second") { FigureText.short($0.summary.allSessions.acceptedPerSecond) },
            least("requests", \.requests),
            line("requests sent again") { ($0.isLeastOfRepeats ? "≥ " : "") + $0.repeats.grouped },
            line("may have arrived twice") { $0.summary.resent.grouped },
            least("connections opened", \.summary.allSessions.connectionsOpened),
            least("connections ended early") { $0.summary.allSessions.connectionsEnded.values.reduce(0, &+) },
            time("answer time, p50") { $1.p50 }, time("answer time, p90") { $1.p90 },
            time("answer time, p99") { $1.p99 }, time("answer time, max") { $0.longestAnswer($1) },
        ]
    }
}

extension RunReport {
    /// The first word of the verdict: `OK`, `LOOK` or `FAILED`.
    var verdictKind: String {
        let word = summary.verdict.prefix { $0 != ":" }
        return ["OK", "LOOK", "FAILED"].contains(word) ? String(word) : "FAILED"
    }

    /// The verdict after its first word.
    var verdictSentence: String {
        String(summary.verdict.drop { $0 != ":" }.dropFirst().drop { $0 == " " })
    }
}
