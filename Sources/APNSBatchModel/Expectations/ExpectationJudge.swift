/// Judges a run by the expectations of its campaign. The result depends on nothing but the figures of the run and of earlier
/// nights.
package struct ExpectationJudge: Sendable {
    /// The expectations of the campaign, and the standard ones for other metrics.
    package let expectations: [CampaignExpectation]
    /// Those that the campaign has itself.
    private let given: [CampaignExpectation]
    /// The figures of earlier nights with which the run is compared, the latest last.
    package let earlier: [RunFigures]

    /// The number of nights for a median.
    static let nightsAtMost = 14
    static let nightsAtLeast = 3

    /// - Parameters:
    ///   - given: The expectations of the campaign. They replace the standard expectations of the same metrics.
    ///   - earlier: The figures of earlier nights, the latest last.
    /// - Throws: A `configuration` error if two expectations contradict each other.
    package init(_ given: [CampaignExpectation], earlier: [RunFigures] = []) throws(CampaignError) {
        self.init(unchecked: given, earlier: earlier)
        for (number, one) in given.enumerated() {
            guard let other = given[..<number].first(where: one.contradicts) else { continue }
            throw CampaignError(.configuration, "expect: \(other) and \(one) cannot both hold")
        }
    }

    /// The judge of a campaign without expectations of its own.
    package static let standard = ExpectationJudge(unchecked: [], earlier: [])

    private init(unchecked given: [CampaignExpectation], earlier: [RunFigures]) {
        let named = Set(given.map(\.metric))
        self.given = given
        expectations = given + CampaignExpectation.standard.filter { !named.contains($0.metric) }
        self.earlier = earlier.suffix(Self.nightsAtMost)
    }

    package func judge(_ figures: RunFigures) -> [JudgedExpectation] { expectations.map { judge($0, figures) } }

    package func judge(_ expectation: CampaignExpectation, _ figures: RunFigures) -> JudgedExpectation {
        let found = figures.value(of: expectation.metric)
        var judged = JudgedExpectation(text: "\(expectation)", metric: "\(expectation.metric)", found: found)
        switch expectation.condition {
        case .number(let relation, let limit):
            (judged.limit, judged.holds) = (limit, relation.holds(found, limit))
        case .percent(let relation, let percent):
            let limit = Self.percent(percent, of: Double(figures.rowsToSend))
            judged.limit = limit
            // Of no rows, 0 % have any property.
            judged.holds = figures.rowsToSend > 0 ? relation.holds(found, limit) : relation.holds(0, percent)
        case .nearMedian(let percent):
            judged.nights = earlier.count
            guard let median = median(of: expectation.metric) else { break }
            judged.limit = median
            judged.holds = abs(found - median) <= Self.percent(percent, of: median)
        }
        return judged
    }

    /// Rounds off what binary fractions add to percentages such as 0.1.
    private static func percent(_ percent: Double, of whole: Double) -> Double {
        (percent * whole * 1e4).rounded() / 1e6
    }

    /// Nil if there are too few earlier nights.
    private func median(of metric: CampaignExpectation.Metric) -> Double? {
        guard earlier.count >= Self.nightsAtLeast else { return nil }
        let sorted = earlier.map { $0.value(of: metric) }.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}

/// Expectations about the number of rows, which are judged before the first push.
extension ExpectationJudge {
    package var ofRows: [CampaignExpectation] { expectations.filter { $0.metric == .rows } }

    /// The number of rows with which all expectations about rows hold, however many rows follow; nil if too many rows are
    /// possible.
    package var rowsThatSuffice: UInt64? {
        var most: UInt64 = 0
        for expectation in ofRows {
            switch expectation.condition {
            case .number(.atLeast, let limit): most = max(most, UInt64(limit))
            case .number(.moreThan, let limit): most = max(most, UInt64(limit) + 1)
            case .nearMedian where median(of: .rows) == nil: break
            default: return nil
            }
        }
        return most
    }

    /// Returns the first expectation about rows that an input with this many rows does not meet.
    package func unmet(rows: UInt64) -> JudgedExpectation? {
        let figures = RunFigures(input: rows)
        return ofRows.map { judge($0, figures) }.first { $0.holds == false }
    }
}

/// Expectations about the number of invalid rows, which can be judged before the first push where all rows can be looked at.
extension ExpectationJudge {
    /// Whether the campaign itself has such an expectation, and not only the standard one.
    package var isOfInvalidRows: Bool { given.contains { $0.metric == .outcome(.invalid) } }

    /// Returns the first expectation about invalid rows that an input does not meet.
    ///
    /// - Parameters:
    ///   - invalid: The number of invalid rows among the rows that are sent.
    ///   - suppressed: The number of rows before the first one that is sent.
    package func unmet(invalid: UInt64, of rows: UInt64, suppressed: UInt64) -> JudgedExpectation? {
        judge(given, invalid, of: rows, suppressed).first { $0.holds == false }
    }

    /// Whether the campaign's expectations about invalid rows, or the standard one, hold with this many.
    package func allows(invalid: UInt64, of rows: UInt64, suppressed: UInt64) -> Bool {
        judge(expectations, invalid, of: rows, suppressed).allSatisfy { $0.holds != false }
    }

    private func judge(
        _ expectations: [CampaignExpectation], _ invalid: UInt64, of rows: UInt64, _ suppressed: UInt64
    ) -> [JudgedExpectation] {
        let figures = RunFigures(input: rows, invalid: invalid, suppressed: suppressed)
        return expectations.filter { $0.metric == .outcome(.invalid) }.map { judge($0, figures) }
    }
}
