import APNSBatch
import APNSBatchBasics

/// Several runs as a table of plain text, one line each, in at most 80 columns.
public enum ComparisonText {
    public static func text(_ comparison: RunComparison) -> String {
        var lines = TextLines()
        lines.add(line("run", "verdict", ["rows", "accepted", "rows/s", "p99", "time"]))
        for (name, report) in zip(comparison.names, comparison.reports) {
            let (summary, work) = (report.summary, report.summary.allSessions)
            let accepted = report.outcomes.first { $0.outcome == "accepted" }?.sharePercent ?? 0
            lines.add(
                line(
                    name, report.verdictKind,
                    [
                        summary.rows.grouped, FigureText.percent(accepted), FigureText.short(work.acceptedPerSecond),
                        work.answerTimes.map { FigureText.milliseconds($0.p99) } ?? "",
                        ElapsedTime.text(work.elapsedSeconds),
                    ]))
        }
        return lines.text
    }

    private static let widths = [11, 10, 11, 9, 13]

    private static func line(_ name: String, _ verdict: String, _ figures: [String]) -> String {
        TextLines.left(name, 18) + " " + TextLines.left(verdict, 7)
            + zip(figures, widths).map { TextLines.right($0, $1) }.joined()
    }
}
