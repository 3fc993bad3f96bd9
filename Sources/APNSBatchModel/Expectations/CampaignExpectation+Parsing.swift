import APNSBatchBasics
import APNSBatchNotification

extension CampaignExpectation {
    /// Parses an expectation, which has one of two forms:
    ///
    /// - `METRIC OP VALUE`. OP is `==`, `>=`, `<=`, `>` or `<`. VALUE is a number (`900000`), a percentage of the rows that
    ///   were to be sent (`95%`), a duration (`90s`, `30m`, `2h`) for `duration`, or a rate (`1000/s`, `60000/min`,
    ///   `3600000/h`) for `rate`.
    /// - `METRIC within 30% of median`, which compares with earlier nights.
    ///
    /// The metrics are `rows`, the names of the outcomes, `reason:NAME`, `duration` and `rate`.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if the text has another form, or can never
    ///   hold.
    public init(_ text: String) throws(CampaignError) {
        let text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        do throws(Fault) {
            if let words = Self.partsOfMedian(text) {
                self.init(
                    try Self.metric(words.metric), .nearMedian(percent: try Self.percentage(words.percent)), text: text)
            } else {
                let (name, relation, value) = try Self.parts(text)
                let metric = try Self.metric(name)
                let condition = try Self.condition(metric, relation, value)
                if Self.neverHolds(metric, condition) { throw Fault("can never hold") }
                self.init(metric, condition, text: text)
            }
        } catch {
            throw CampaignError(.configuration, "expect: \(text.isEmpty ? "an empty text" : text): \(error.message)")
        }
    }

    private struct Fault: Error {
        let message: String
        init(_ message: String) { self.message = message }
    }

    /// Splits `METRIC within 30% of median`; nil for a text of another form.
    private static func partsOfMedian(_ text: String) -> (metric: Substring, percent: Substring)? {
        let words = text.split(separator: " ")
        guard words.count == 5, words[1] == "within", words[3] == "of", words[4] == "median" else { return nil }
        return (words[0], words[2])
    }

    private static func parts(
        _ text: String
    ) throws(Fault) -> (metric: Substring, relation: Relation, value: Substring) {
        let signs = "=<>!"
        guard let start = text.firstIndex(where: signs.contains) else {
            throw Fault("expected METRIC OP VALUE such as accepted >= 95%, or METRIC within 30% of median")
        }
        let sign = text[start...].prefix(while: signs.contains)
        guard let relation = Relation(rawValue: String(sign)) else {
            throw Fault("expected ==, >=, <=, > or <, found \(sign.quoted)")
        }
        return (trimmed(text[..<start]), relation, trimmed(text[sign.endIndex...]))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        if text.first == " " { text.removeFirst() }
        if text.last == " " { text.removeLast() }
        return text
    }

    private static func metric(_ name: Substring) throws(Fault) -> Metric {
        if let known = Metric(name: String(name)) { return known }
        guard name.hasPrefix(Metric.reasonPrefix) else {
            let all = "; the metrics are \(Metric.allNames.joined(separator: ", "))"
            throw Fault("unknown metric \(name.quoted)\(suggestion(name, Metric.allNames) ?? all)")
        }
        let reason = name.dropFirst(Metric.reasonPrefix.count)
        guard case .known = Reason(rawValue: String(reason)) else {
            let hint = suggestion(reason, KnownReason.allCases.map(\.text))
            throw Fault("APNs has no reason \(reason.quoted)\(hint ?? "; docs/reference/rules.md lists the reasons")")
        }
        return .reason(String(reason))
    }

    private static func suggestion(_ name: Substring, _ known: [String]) -> String? {
        NearestName.find(String(name), in: known).map { "; did you mean \($0)?" }
    }

    private static func condition(
        _ metric: Metric, _ relation: Relation, _ value: Substring
    ) throws(Fault) -> Condition {
        switch metric {
        case .duration: return .number(relation, try seconds(value))
        case .rate: return .number(relation, try perSecond(value))
        default: break
        }
        guard value.hasSuffix("%") else { return .number(relation, try count(value)) }
        if metric == .rows { throw Fault("expected a number of rows, because percentages are shares of the rows") }
        return .percent(relation, try percentage(value))
    }

    private static func count(_ value: Substring) throws(Fault) -> Double {
        guard let number = digits(value) else {
            throw Fault("expected a whole number or a percentage, found \(value.quoted)")
        }
        return number
    }

    private static func seconds(_ value: Substring) throws(Fault) -> Double {
        guard case .after(let time)? = Campaign.Expiration(String(value)) else {
            throw Fault("expected a duration such as 90s, 30m or 2h, found \(value.quoted)")
        }
        return time / .seconds(1)
    }

    private static func perSecond(_ value: Substring) throws(Fault) -> Double {
        guard let rate = Campaign.Rate(String(value)) else {
            throw Fault("expected a rate such as 1000/s, 60000/min or 3600000/h, found \(value.quoted)")
        }
        return rate.perSecond
    }

    private static func percentage(_ value: Substring) throws(Fault) -> Double {
        let number = trimmed(value.dropLast())
        guard value.hasSuffix("%"), number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let percent = Double(number)
        else { throw Fault("expected a percentage such as 30%, found \(value.quoted)") }
        return percent
    }

    /// Up to 15 digits, which a `Double` represents exactly.
    private static func digits(_ text: Substring) -> Double? {
        guard !text.isEmpty, text.count <= 15, text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Double(text)
    }

    private static func neverHolds(_ metric: Metric, _ condition: Condition) -> Bool {
        switch condition {
        case .number(.lessThan, 0), .percent(.lessThan, 0): true
        // Suppressed rows are not part of the basis of percentages.
        case .percent(.moreThan, 100...): metric != .outcome(.suppressed)
        case .percent(.atLeast, let percent), .percent(.equal, let percent):
            percent > 100 && metric != .outcome(.suppressed)
        default: false
        }
    }
}
