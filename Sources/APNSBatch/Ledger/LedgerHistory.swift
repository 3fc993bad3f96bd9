import APNSProtocol

/// What a ledger tells: a pure value, made by taking its records in order.
package struct LedgerHistory: Sendable {
    /// A range, and what is known of its rows.
    struct Range: Sendable, Equatable {
        var facts: LedgerRange
        /// The session that announced it last.
        var session: UInt32
        /// So many of its first rows may have been sent, as the ledger says.
        var handed = 0
        /// Rows without an outcome.
        var remaining: Int
        /// A bit for each row that has one; empty while none or all do.
        var done: [UInt64] = []

        init(_ facts: LedgerRange, session: UInt32) {
            self.facts = facts
            self.session = session
            remaining = facts.rows
        }

        func isDone(_ index: Int) -> Bool {
            remaining == 0 || (!done.isEmpty && done[index >> 6] >> UInt64(index & 63) & 1 != 0)
        }

        /// Where the rows end that follow a row and are done as it is, or not done as it is not.
        func end(ofRunAt index: Int) -> Int {
            guard !done.isEmpty else { return facts.rows }
            let flip: UInt64 = isDone(index) ? ~0 : 0
            var word = index >> 6
            var others = (done[word] ^ flip) & (~0 << UInt64(index & 63))
            while others == 0 {
                word += 1
                guard word < done.count else { return facts.rows }
                others = done[word] ^ flip
            }
            return min(facts.rows, word << 6 + others.trailingZeroBitCount)
        }

        /// False when it already was.
        mutating func setDone(_ index: Int) -> Bool {
            guard !isDone(index) else { return false }
            if done.isEmpty { done = Array(repeating: 0, count: (facts.rows + 63) / 64) }
            done[index >> 6] |= 1 << UInt64(index & 63)
            remaining -= 1
            if remaining == 0 { done = [] }
            return true
        }
    }

    /// Why a record cannot be true. The ledger is damaged, or somebody else's.
    enum Fault: Error, Equatable {
        case misplaced
        case unknownRow(UInt64)
        case secondOutcome(UInt64)
    }

    private(set) var header: LedgerHeader?
    private(set) var session: LedgerSession?
    /// Whether the last session ended in order.
    private(set) var isEnded = false
    /// Whether it did so when the whole input was announced.
    private(set) var isInputRead = false
    /// In the order of their rows, without gaps.
    private(set) var ranges: [Range] = []
    private(set) var tally = Tally()
    private(set) var reasons: [Reason: UInt64] = [:]
    /// So much of `results.csv` was durable at the last mark.
    private(set) var resultsLength: UInt64 = 0
    /// Of the last row that was looked for.
    private var lastRange = 0

    /// Rows in ranges.
    var rows: UInt64 { ranges.last.map { $0.facts.firstRow - 1 + UInt64($0.facts.rows) } ?? 0 }

    mutating func take(_ header: LedgerHeader) throws(Fault) {
        guard self.header == nil, session == nil else { throw .misplaced }
        self.header = header
    }

    mutating func take(_ session: LedgerSession) throws(Fault) {
        guard header != nil, session.number == (self.session?.number ?? 0) + 1 else { throw .misplaced }
        self.session = session
        isEnded = false
        isInputRead = false
    }

    mutating func take(_ range: LedgerRange) throws(Fault) {
        guard let session, !isEnded else { throw .misplaced }
        if range.firstRow == rows + 1 {
            ranges.append(Range(range, session: session.number))
            return
        }
        guard let index = index(of: range.firstRow), ranges[index].facts == range else { throw .misplaced }
        ranges[index].session = session.number
    }

    mutating func takeHanded(firstRow: UInt64, rows: UInt64) throws(Fault) {
        guard let index = index(of: firstRow), ranges[index].facts.firstRow == firstRow,
            rows <= ranges[index].facts.rows
        else { throw .misplaced }
        ranges[index].handed = max(ranges[index].handed, Int(rows))
    }

    mutating func takeMark(resultsLength: UInt64) { self.resultsLength = resultsLength }

    mutating func takeEnd(isInputRead: Bool) throws(Fault) {
        guard session != nil, !isEnded else { throw .misplaced }
        isEnded = true
        self.isInputRead = isInputRead
    }

    /// - Parameter reason: of a rejected row.
    mutating func take(_ entry: LedgerEntry, reason: @autoclosure () -> Reason?) throws(Fault) {
        guard let index = index(of: entry.row) else { throw .unknownRow(entry.row) }
        guard ranges[index].setDone(Int(entry.row - ranges[index].facts.firstRow)) else {
            throw .secondOutcome(entry.row)
        }
        tally.count(entry.outcome, attempts: entry.attempts)
        if entry.outcome == .rejected, let reason = reason() { reasons.countReason(reason) }
    }

    /// The range of a row. Rows of a batch are near each other, so the last one is looked at first.
    private mutating func index(of row: UInt64) -> Int? {
        guard row >= 1, row <= rows else { return nil }
        if ranges[lastRange].facts.contains(row) { return lastRange }
        var (low, high) = (0, ranges.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if ranges[middle].facts.firstRow <= row { low = middle } else { high = middle - 1 }
        }
        lastRange = low
        return low
    }

    /// How many of a range's first rows may have been sent, counting the last session, which is over.
    ///
    /// - Parameter board: what the lanes of the last session noted; nil when it cannot be believed.
    func handed(_ range: Range, board: [UInt64: Int]?) -> Int {
        guard !isEnded, range.remaining > 0, range.session == session?.number else { return range.handed }
        guard let board else { return range.facts.rows }
        return max(range.handed, min(range.facts.rows, board[range.facts.firstRow] ?? range.facts.rows))
    }
}

extension LedgerRange {
    func contains(_ row: UInt64) -> Bool { row >= firstRow && row - firstRow < UInt64(rows) }
}

extension [Reason: UInt64] {
    /// Different reasons that are counted; a server may make up any number of them.
    private static var limit: Int { 256 }

    mutating func countReason(_ reason: Reason) {
        let isKept = self[reason] != nil || count < Self.limit
        self[isKept ? reason : .unknown("other"), default: 0] += 1
    }
}
