import APNSBatch
import APNSBatchBasics
import APNSBatchModel

/// The report as plain text, for mail: the content of `report.txt`. Lines have at most 80 columns, apart from commands to copy.
public enum ReportText {
    public static func text(_ report: RunReport) -> String {
        var lines = TextLines()
        lines.addParagraph(report.summary.verdict)
        lines.add()
        addRun(report, to: &lines)
        addExpectations(report, to: &lines)
        addSteps(report, to: &lines)
        addOutcomes(report, to: &lines)
        addParts(report, to: &lines)
        addReasons(report, to: &lines)
        addBreakdowns(report, to: &lines)
        addSpeed(report, to: &lines)
        addInvalid(report, to: &lines)
        return lines.text
    }

    private static func addRun(_ report: RunReport, to lines: inout TextLines) {
        let campaign = report.summary.campaign
        lines.addParagraph("\(report.title), \(report.timeText), \(report.workText)")
        let destination = report.destination.map { " to \($0)" } ?? ""
        lines.addParagraph("\(campaign.input)\(destination)")
        lines.addParagraph(report.runDirectory)
        if let run = report.summary.correctionOf { lines.addParagraph("a correction of \(run)") }
    }

    private static func addExpectations(_ report: RunReport, to lines: inout TextLines) {
        guard !report.summary.expectations.isEmpty else { return }
        lines.addTitle("Expectations")
        for expectation in report.summary.expectations {
            let result = TextLines.left(RunReport.result(expectation), 12)
            lines.addParagraph(
                String(expectation.sentence.dropFirst("expected ".count)), indent: 12, first: result)
        }
    }

    private static func addOutcomes(_ report: RunReport, to lines: inout TextLines) {
        lines.addTitle("Where every row went")
        let heading = report.medianTitle.map { TextLines.right($0, 24) } ?? ""
        lines.add(TextLines.left("", 24) + TextLines.right("rows", 14) + TextLines.right("share", 11) + heading)
        for line in report.outcomes {
            lines.add(row(line.outcome, line.rows, line.sharePercent, line.earlier))
        }
        let total = report.summary.isLeftEstimated ? "all, about" : "all"
        lines.add(row(total, report.rowsTotal, 100, nil))
        addRemarks(report, to: &lines)
    }

    private static func addRemarks(_ report: RunReport, to lines: inout TextLines) {
        guard !report.remarks.isEmpty else { return }
        lines.add()
        for remark in report.remarks { lines.addParagraph(remark, indent: 2, first: "- ") }
    }

    private static func addParts(_ report: RunReport, to lines: inout TextLines) {
        guard let parts = report.parts else { return }
        lines.addTitle("Parts")
        let shown = PartChoice(parts, most: partsMax)
        lines.add(partRow("part", ["rows", "accepted", "rejected", "others", "left"], "verdict"))
        for part in shown.lines {
            let figures = [part.rows, part.accepted, part.rejected, part.others, part.left].map(\.grouped)
            lines.add(partRow("\(part.part)", figures, part.verdictWord))
        }
        if let rest = shown.rest { lines.addParagraph("\(rest): see report.json") }
    }

    private static let partsMax = 48
    private static let partWidths = [12, 13, 12, 11, 12]

    private static func partRow(_ part: String, _ figures: [String], _ verdict: String) -> String {
        TextLines.left(part, 7) + zip(figures, partWidths).map { TextLines.right($0, $1) }.joined() + "  " + verdict
    }

    private static func addReasons(_ report: RunReport, to lines: inout TextLines) {
        guard !report.reasons.isEmpty else { return }
        lines.addTitle("Reasons of APNs")
        for line in report.reasons.prefix(reasonsMax) {
            lines.add(row(line.reason, line.rows, line.sharePercent, line.earlier))
            let unknown = "Apple does not document this reason"
            lines.addParagraph((line.meaning ?? unknown) + (line.remedy.map { ": \($0)" } ?? ""), indent: 4)
        }
        if report.reasons.count > reasonsMax {
            lines.add("and \(report.reasons.count - reasonsMax) more: see report.json")
        }
    }

    private static let reasonsMax = 12

    private static func row(_ name: String, _ rows: UInt64, _ share: Double, _ earlier: NightComparison?) -> String {
        let median = earlier.map { TextLines.right(FigureText.decimal($0.median, digits: 0), 16) } ?? ""
        return TextLines.left(name, 24) + TextLines.right(rows.grouped, 14)
            + TextLines.right(FigureText.percent(share), 11)
            + median + (earlier?.deviates == true ? " unusual" : "")
    }

    private static func addBreakdowns(_ report: RunReport, to lines: inout TextLines) {
        for words in (report.summary.breakdowns ?? []).map(BreakdownWords.init) {
            lines.addTitle(words.title)
            lines.add(breakdownRow("", "rows", "accepted", "share", "rejected", "others"))
            for line in words.lines { lines.add(row(line, words)) }
            if let rest = words.rest { lines.addParagraph(rest) }
        }
    }

    private static func row(_ line: BreakdownWords.Line, _ words: BreakdownWords) -> String {
        func count(_ outcome: Outcome) -> UInt64 { words.outcomes.firstIndex(of: outcome).map { line.counts[$0] } ?? 0 }
        let (accepted, rejected) = (count(.accepted), count(.rejected))
        return breakdownRow(
            line.name, line.rows.grouped, accepted.grouped, FigureText.percent(line.acceptedPercent), rejected.grouped,
            (line.rows &- accepted &- rejected).grouped)
    }

    private static func breakdownRow(_ name: String, _ figures: String...) -> String {
        TextLines.left(name, 22) + zip(figures, [12, 12, 11, 12, 11]).map { TextLines.right($0, $1) }.joined()
    }

    private static func addSpeed(_ report: RunReport, to lines: inout TextLines) {
        lines.addTitle("Speed and connections")
        for (name, value) in report.speed {
            lines.addParagraph(value, indent: 34, first: TextLines.left(name, 34))
        }
    }

    private static func addInvalid(_ report: RunReport, to lines: inout TextLines) {
        let rules = report.invalidRules
        guard !rules.isEmpty else { return }
        lines.addTitle("Invalid rows")
        for (rule, rows, places) in rules {
            let first = TextLines.right(rows.grouped, 12) + "  "
            let text = places.isEmpty ? rule : "\(rule): \(places.joined(separator: ", "))"
            lines.addParagraph(text, indent: 14, first: first)
        }
    }

    private static func addSteps(_ report: RunReport, to lines: inout TextLines) {
        guard !report.nextSteps.isEmpty else { return }
        lines.addTitle("What to do next")
        for (index, step) in report.nextSteps.enumerated() {
            lines.addParagraph(step.text, indent: 5, first: TextLines.left("  \(index + 1).", 5))
            if let command = step.command { lines.addCommand(command) }
        }
    }
}
