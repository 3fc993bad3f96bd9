/// What a plan says of the whole input.
package struct PlanFacts: Sendable, Equatable {
    /// The number of rows, exactly.
    package private(set) var rows: UInt64 = 0
    /// The number of ranges.
    package private(set) var ranges: UInt64 = 0
    /// The rows that are suppressed, sent later, and held back. The others are sent.
    package private(set) var suppressed: UInt64 = 0
    package private(set) var later: UInt64 = 0
    package private(set) var heldBack: UInt64 = 0
    /// The keys of the rows; nil if no rule has asked for them.
    package var duplicates: DuplicateTally?

    package init() {}

    init(
        rows: UInt64, ranges: UInt64, suppressed: UInt64, later: UInt64, heldBack: UInt64, duplicates: DuplicateTally?
    ) {
        (self.rows, self.ranges) = (rows, ranges)
        (self.suppressed, self.later, self.heldBack) = (suppressed, later, heldBack)
        self.duplicates = duplicates
    }

    /// The number of rows that are sent at once.
    package var sent: UInt64 { rows - suppressed - later - heldBack }

    mutating func add(_ range: PlanRange) {
        rows += UInt64(range.decisions.count)
        ranges += 1
        suppressed += UInt64(range.decisions.count(of: .suppressed))
        later += UInt64(range.decisions.count(of: .later))
        heldBack += UInt64(range.decisions.count(of: .heldBack))
    }
}
