import APNSBatch
import APNSBatchBasics
import Mustache

/// The report as a page: one file without scripts and without references to others, the content of `report.html`.
public enum ReportPage {
    /// With this begins every page.
    static let mark = "<!doctype html>\n<!-- report of apns-batch -->\n"

    public static func html(_ report: RunReport) -> String {
        page("report", facts(of: report))
    }

    /// Makes a page of a template, and makes printable what it inserts.
    static func page(_ template: String, _ facts: [String: Any]) -> String {
        Printable.lines(mark + PageTemplates.shared.render(printable(facts), withTemplate: template))
    }

    private static func printable(_ facts: [String: Any]) -> [String: Any] {
        Dictionary(uniqueKeysWithValues: facts.map { ($0, ["style", "svg"].contains($0) ? $1 : printable($1)) })
    }

    private static func printable(_ value: Any) -> Any {
        switch value {
        case let text as String: Printable.text(text)
        case let list as [Any]: list.map(printable)
        case let facts as [String: Any]: printable(facts) as [String: Any]
        default: value
        }
    }

    private static let reasonsMax = 40

    private static func facts(of report: RunReport) -> [String: Any] {
        let summary = report.summary
        let plots = RunPlots(report)?.all ?? []
        let facts: [String: Any?] = [
            "style": PageStyle.css, "kind": report.verdictKind,
            "title": "\(report.verdictKind): \(report.title), \(report.timeText)",
            "verdict": report.verdictSentence,
            "name": report.title, "time": report.timeText, "work": report.workText,
            "input": summary.campaign.input,
            "destination": report.destination,
            "directory": report.runDirectory + (summary.correctionOf.map { ", a correction of \($0)" } ?? ""),
            "medianTitle": report.medianTitle,
            "reasonColumns": report.medianTitle == nil ? "3" : "4",
            "rowsTotal": report.rowsTotal.grouped, "isEstimated": summary.isLeftEstimated,
            "hasExpectations": !summary.expectations.isEmpty, "expectations": summary.expectations.map(expectation),
            "shares": report.outcomes.filter { $0.rows > 0 }.map { line in
                ["color": "\(PlotColor(outcome: line.outcome).number)", "rows": "\(line.rows)"]
            },
            "sharesLabel": report.outcomes.map { "\($0.outcome) \($0.rows.grouped)" }.joined(separator: ", "),
            "outcomes": report.outcomes.map(outcome), "hasRemarks": !report.remarks.isEmpty, "remarks": report.remarks,
            "parts": report.parts.map(PagePart.facts(of:)),
            "hasReasons": !report.reasons.isEmpty, "reasons": report.reasons.prefix(reasonsMax).map(reason),
            "moreReasons": report.reasons.count > reasonsMax
                ? "and \(report.reasons.count - reasonsMax) more: see report.json" : nil,
            "breakdowns": (summary.breakdowns ?? []).map { breakdown(BreakdownWords($0)) },
            "courseNote": courseNote(report, hasPlots: !plots.isEmpty),
            "plots": plots.enumerated().map { PageFigure.facts(of: $1, id: "p\($0)") },
            "hasEvents": !plots.isEmpty && report.course?.events.isEmpty == false, "events": events(report),
            "distribution": RunPlots.distribution(report).map { PageFigure.facts(of: $0, id: "d") },
            "speed": report.speed.map { ["name": $0.name, "value": $0.value] },
            "hasInvalid": !report.invalidRules.isEmpty,
            "invalid": report.invalidRules.map { rule in
                ["rule": rule.rule, "rows": rule.rows.grouped, "places": rule.places.joined(separator: ", ")]
            },
            "settings": settings(report), "hasSteps": !report.nextSteps.isEmpty,
            "steps": report.nextSteps.map {
                ["text": $0.text, "command": $0.command].present
            },
        ]
        return facts.present
    }

    private static func expectation(_ expectation: JudgedExpectation) -> [String: Any] {
        let found = expectation.sentence.dropFirst("expected \(expectation.text), found ".count)
        let style = expectation.holds.map { $0 ? "met" : "unmet" } ?? "soft"
        return [
            "text": expectation.text, "result": RunReport.result(expectation), "class": style, "found": String(found),
        ]
    }

    private static func compared(_ line: [String: Any], _ earlier: NightComparison?) -> [String: Any] {
        line.merging([
            "median": earlier.map { FigureText.decimal($0.median, digits: 0) } ?? "",
            "deviates": earlier?.deviates ?? false,
        ]) { $1 }
    }

    private static func outcome(_ line: RunReport.OutcomeLine) -> [String: Any] {
        compared(
            [
                "outcome": line.outcome, "rows": line.rows.grouped, "share": FigureText.percent(line.sharePercent),
                "color": PlotColor(outcome: line.outcome).number,
            ], line.earlier)
    }

    private static func reason(_ line: RunReport.ReasonLine) -> [String: Any] {
        let meaning = line.meaning ?? "Apple does not document this reason"
        return compared(
            [
                "reason": line.reason, "outcome": line.outcome, "rows": line.rows.grouped,
                "share": FigureText.percent(line.sharePercent),
                "explanation": meaning + (line.remedy.map { ": \($0)" } ?? ""),
            ], line.earlier)
    }

    private static func breakdown(_ words: BreakdownWords) -> [String: Any] {
        let lines = words.lines.map { line in
            [
                "name": line.name, "rows": line.rows.grouped, "share": FigureText.percent(line.acceptedPercent),
                "counts": line.counts.map(\.grouped),
            ] as [String: Any]
        }
        let facts: [String: Any?] = [
            "title": words.title, "heads": words.outcomes.map { "\($0.name)" }, "lines": lines, "rest": words.rest,
        ]
        return facts.present
    }

    private static func courseNote(_ report: RunReport, hasPlots: Bool) -> String? {
        guard let course = report.course, hasPlots else {
            return "The run has no timeline, or was too short for plots."
        }
        let each = course.intervalSeconds == 1 ? "a second" : "\(course.intervalSeconds) seconds"
        let sums =
            report.parts == nil ? "" : " Rates are the sums of the parts, and times of answers those of the worst part."
        return "Times are those of \(report.localTime.zone). Each point stands for \(each).\(sums)"
    }

    private static func events(_ report: RunReport) -> [[String: Any]] {
        (report.course?.events ?? []).prefix(RunPlots.momentsMax).map { event in
            ["time": report.localTime.text(event.unixMilliseconds / 1000), "text": event.text]
        }
    }

    private static func settings(_ report: RunReport) -> [[String: Any]] {
        let campaign = report.summary.campaign
        let known = [
            ("campaign id", campaign.id.description), ("version", campaign.version),
            ("event loop", report.summary.lastSession.process?.loop ?? ""),
        ]
        let all = known.filter { !$0.1.isEmpty } + report.settings.map { ($0.key, $0.value) }
        return all.map { ["key": $0.0, "value": $0.1] }
    }
}

extension [String: Any?] {
    /// The entries that have a value.
    fileprivate var present: [String: Any] { compactMapValues(\.self) }
}
