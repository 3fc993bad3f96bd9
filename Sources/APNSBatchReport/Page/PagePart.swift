import APNSBatchBasics

/// What the template inserts of parts.
enum PagePart {
    private static let linesMax = 500

    static func facts(of parts: [RunReport.PartLine]) -> [String: Any] {
        let shown = PartChoice(parts, most: linesMax)
        var facts: [String: Any] = ["lines": shown.lines.map(line)]
        if let rest = shown.rest { facts["rest"] = "\(rest): see report.json" }
        return facts
    }

    private static func line(_ part: RunReport.PartLine) -> [String: Any] {
        let style =
            switch part.verdictWord {
            case "OK": "met"
            case "LOOK": "soft"
            default: "unmet"
            }
        return [
            "part": "\(part.part)", "rows": part.rows.grouped, "accepted": part.accepted.grouped,
            "rejected": part.rejected.grouped, "others": part.others.grouped, "left": part.left.grouped,
            "word": part.verdictWord, "class": style, "sentence": part.sentence,
        ]
    }
}
