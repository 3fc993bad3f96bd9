/// Passes sorted rows on, each with the first one of its key.
struct KeyGroups {
    private var first: KeyedRow?

    mutating func take(_ rows: borrowing KeyedRows, _ visit: (KeyedRow, _ first: KeyedRow?) -> Void) {
        for index in 0..<rows.count { take(rows[index], visit) }
    }

    @inline(__always)
    mutating func take(_ row: KeyedRow, _ visit: (KeyedRow, _ first: KeyedRow?) -> Void) {
        guard let first, first.hasKey(of: row) else {
            first = row
            return visit(row, nil)
        }
        visit(row, first)
    }
}
