extension CampaignExpectation {
    /// Whether no run can meet both. Percentages are compared only with percentages, and numbers only with numbers.
    func contradicts(_ other: CampaignExpectation) -> Bool {
        guard metric == other.metric else { return false }
        switch (condition, other.condition) {
        case (.number(let one, let limit), .number(let another, let otherLimit)),
            (.percent(let one, let limit), .percent(let another, let otherLimit)):
            let (here, there) = (Range(one, limit), Range(another, otherLimit))
            return here.isAbove(there) || there.isAbove(here)
        default: return false
        }
    }

    /// The values that a comparison allows, of 0 and all greater ones.
    private struct Range {
        var low = 0.0
        var high = Double.infinity
        /// Whether the limit itself is not allowed.
        let isOpen: Bool

        init(_ relation: Relation, _ limit: Double) {
            isOpen = relation == .moreThan || relation == .lessThan
            switch relation {
            case .equal: (low, high) = (limit, limit)
            case .atLeast, .moreThan: low = limit
            case .atMost, .lessThan: high = limit
            }
        }

        /// Whether every value is greater than all of the other range.
        func isAbove(_ other: Range) -> Bool { low > other.high || (low == other.high && (isOpen || other.isOpen)) }
    }
}
