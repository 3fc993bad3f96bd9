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
            "lines": comparison.lines.map { ["name": $0.name, "values": $0.values] as [String: Any] },
            "plots": plots(comparison).enumerated().map { PageFigure.facts(of: $1, id: "p\($0)") },
        ]
    }

    /// The throughput of each run, on one scale.
    private static func plots(_ comparison: RunComparison) -> [Plot] {
        let plots = zip(comparison.names, comparison.reports).compactMap { name, report in
            RunPlots(report).map { plots in
                var plot = plots.throughput
                plot.title = name
                return plot
            }
        }
        let scale = PlotScale.linear(holding: plots.flatMap { $0.layers.flatMap { $0.values.compactMap(\.self) } })
        return plots.map { plot in
            var plot = plot
            plot.scale = scale
            return plot
        }
    }
}
