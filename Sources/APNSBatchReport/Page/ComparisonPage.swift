import APNSBatch

/// Several runs side by side, as a page like that of one run.
public enum ComparisonPage {
    public static func html(_ comparison: RunComparison) -> String {
        ReportPage.page("comparison", facts(of: comparison))
    }

    private static func facts(of comparison: RunComparison) -> [String: Any] {
        let runs = zip(comparison.names, comparison.reports).map { name, report in
            [
                "name": name, "kind": report.verdictKind, "verdict": report.verdictSentence,
                "directory": report.runDirectory,
            ]
        }
        return [
            "style": PageStyle.css, "title": "\(runs.count) runs", "runs": runs,
            "tables": tables(comparison),
            "plots": plots(comparison).enumerated().map { PageFigure.facts(of: $1, id: "p\($0)") },
        ]
    }

    /// As many runs fit beside each other on a wide screen and on paper.
    private static let runsPerTable = 7

    /// The figures, in tables of about as many runs each.
    private static func tables(_ comparison: RunComparison) -> [[String: Any]] {
        let (names, lines) = (comparison.names, comparison.lines)
        let count = (names.count + runsPerTable - 1) / runsPerTable
        return (0..<count).map { table in
            let range = names.count * table / count..<names.count * (table + 1) / count
            return [
                "names": Array(names[range]),
                "lines": lines.map { line in
                    ["name": line.name, "values": range.map { cell(line, $0) }] as [String: Any]
                },
            ]
        }
    }

    /// A number, and below it the share of the rows.
    private static func cell(_ line: RunComparison.Line, _ run: Int) -> [String: Any] {
        line.shares.isEmpty ? ["value": line.values[run]] : ["value": line.values[run], "share": line.shares[run]]
    }

    /// The throughput of each run, on one scale.
    private static func plots(_ comparison: RunComparison) -> [Plot] {
        let runs = zip(comparison.names, comparison.reports).compactMap { name, report in
            RunPlots(report).map { (name: name, plots: $0) }
        }
        let scale = RunPlots.scale(ofThroughput: runs.map(\.plots))
        return runs.map { run in
            var plot = run.plots.throughput(on: scale)
            plot.title = run.name
            return plot
        }
    }
}
