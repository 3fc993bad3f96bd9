/// The requests for a row that has no outcome, as a session that ended in order has left them.
package struct RowAttempts: Sendable, Equatable {
    /// The row's index in its range.
    package var index: UInt32
    /// The number of requests in all sessions.
    package var attempts: UInt16
    /// How many of them count toward the limit of the campaign.
    package var counted: UInt16

    package init(index: UInt32, attempts: UInt16, counted: UInt16) {
        (self.index, self.attempts, self.counted) = (index, attempts, counted)
    }

    /// The number of bytes in a ledger.
    static let length = 8
    /// The largest number of them in one record.
    static let mostInRecord = 8192
}

extension [RowAttempts] {
    /// Takes over later numbers. Both are ordered by index.
    mutating func take(_ later: [RowAttempts]) {
        var known = Dictionary(uniqueKeysWithValues: map { ($0.index, $0) })
        for row in later { known[row.index] = row }
        self = known.values.sorted { $0.index < $1.index }
    }

    /// The numbers of a row; nil if there are none.
    func of(_ index: Int) -> RowAttempts? {
        let place = partitioningIndex { $0.index >= index }
        return place < count && self[place].index == index ? self[place] : nil
    }
}
