import APNSBatchModel

/// Counts keys and the rows that repeat one.
package struct DuplicateTally: Sendable, Equatable {
    /// The rows that have a key.
    package private(set) var rows: UInt64 = 0
    /// The rows whose key an earlier row has.
    package private(set) var repeated: UInt64 = 0
    /// The first rows that repeat a key, each behind the first row of the key.
    package private(set) var examples: [[UInt64]] = []

    package init() {}

    init(rows: UInt64, repeated: UInt64, examples: [[UInt64]]) {
        (self.rows, self.repeated, self.examples) = (rows, repeated, examples)
    }

    /// The number of different keys.
    package var distinct: UInt64 { rows - repeated }

    static let examplesMost = 3

    /// - Parameter first: The first row with its key; nil for that row itself.
    package mutating func note(_ row: KeyedRow, first: KeyedRow?) {
        rows += 1
        guard let first else { return }
        repeated += 1
        if examples.count == Self.examplesMost, let last = examples.last, row.row >= last[1] { return }
        let place = examples.firstIndex { row.row < $0[1] } ?? examples.count
        examples.insert([first.row, row.row], at: place)
        if examples.count > Self.examplesMost { examples.removeLast() }
    }

    /// The tokens that several rows have, if the keys are tokens; nil if there are none.
    package var duplicateTokens: DuplicateTokens? {
        repeated == 0 ? nil : DuplicateTokens(rows: repeated, sampledOneIn: 1, examples: examples)
    }
}
