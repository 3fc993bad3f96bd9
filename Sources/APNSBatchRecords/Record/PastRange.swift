/// A range of an earlier session that is read again.
package final class PastRange: Sendable {
    package let range: LedgerHistory.Range
    /// How many of its first rows may have been sent.
    package let handed: Int
    /// Whether this session reopens its unavailable rows, so that these were not sent again since APNs answered.
    private let isReopening: Bool

    init(_ range: LedgerHistory.Range, handed: Int, isReopening: Bool = false) {
        assert(handed >= range.handed && handed <= range.facts.rows, "rows that were handed over stay so")
        self.range = range
        self.handed = handed
        self.isReopening = isReopening
    }

    /// Whether APNs refused the row, so that no earlier request for it can have arrived.
    package func wasAnswered(_ index: Int) -> Bool { isReopening && range.wasReopenedLast(index) }
}
