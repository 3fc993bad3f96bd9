/// What a plan has decided about a row.
package enum RowDecision: UInt8, Sendable, CaseIterable {
    /// The row is sent.
    case send = 0
    /// The row is not sent, because of a rule. It has its outcome before the first push.
    case suppressed = 1
    /// The row is sent at a later time of the same run.
    case later = 2
    /// The row is not sent, so that those that are can be compared with it.
    case heldBack = 3
}

/// The decisions about the rows of a range: two bits for each.
package struct RowDecisions: Sendable, Equatable {
    /// The number of rows.
    package let count: Int
    /// 32 rows in each, the first one in the lowest bits. Bits behind the last row are 0.
    private(set) var words: [UInt64]

    private static let rowsOfWord = 32

    /// All rows are sent.
    package init(count: Int) {
        self.count = count
        words = Array(repeating: 0, count: Self.words(of: count))
    }

    /// Returns nil if the words are not as many as `count` rows need, or if they have bits behind the last row.
    init?(count: Int, words: [UInt64]) {
        guard words.count == Self.words(of: count) else { return nil }
        let inLast = count % Self.rowsOfWord
        if inLast > 0, let last = words.last, last >> UInt64(2 * inLast) != 0 { return nil }
        (self.count, self.words) = (count, words)
    }

    static func words(of count: Int) -> Int { (count + rowsOfWord - 1) / rowsOfWord }

    package subscript(index: Int) -> RowDecision {
        get {
            precondition(index >= 0 && index < count)
            let bits = words[index / Self.rowsOfWord] >> UInt64(2 * (index % Self.rowsOfWord)) & 3
            return RowDecision(rawValue: UInt8(bits)) ?? .send
        }
        set {
            precondition(index >= 0 && index < count)
            let shift = UInt64(2 * (index % Self.rowsOfWord))
            words[index / Self.rowsOfWord] &= ~(3 << shift)
            words[index / Self.rowsOfWord] |= UInt64(newValue.rawValue) << shift
        }
    }

    /// The number of rows with a decision.
    package func count(of decision: RowDecision) -> Int {
        let low: UInt64 = 0x5555_5555_5555_5555
        let wanted = UInt64(decision.rawValue)
        let (first, second) = (wanted & 1 == 0 ? low : 0, wanted & 2 == 0 ? low : 0)
        let matching = words.reduce(0) { sum, word in
            sum + ((word ^ first) & ((word >> 1) ^ second) & low).nonzeroBitCount
        }
        // Behind the last row all bits are 0, as in rows that are sent.
        return decision == .send ? matching - (words.count * Self.rowsOfWord - count) : matching
    }
}
