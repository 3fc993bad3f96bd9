import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// The state of a run, computed from the records of its ledger in order.
package struct LedgerHistory: Sendable {
    /// A row that ended as unavailable: all its attempts were used.
    struct Unavailable: Sendable, Equatable {
        /// The row's index in its range.
        var index: UInt32
        var attempts: UInt16
    }

    /// A range and the state of its rows.
    package struct Range: Sendable, Equatable {
        package var facts: LedgerRange
        /// The number of the last session that announced it.
        var session: UInt32
        /// How many of its first rows may have been sent, according to the ledger.
        var handed = 0
        /// The number of rows without an outcome.
        package var remaining: Int
        /// A bit for each row, set if the row has an outcome. Empty while no row or every row has one.
        var done: [UInt64] = []
        /// Rows that ended as unavailable.
        var unavailable: [Unavailable] = []
        /// Rows that were reopened, ordered by index.
        private var reopened: [Unavailable] = []
        /// Those among them that the last reopening of the run took back, ordered by index.
        private var reopenedLast: [UInt32] = []
        /// Rows without an outcome for which sessions that ended in order had made requests, ordered by index.
        private(set) var tried: [RowAttempts] = []

        init(_ facts: LedgerRange, session: UInt32) {
            self.facts = facts
            self.session = session
            remaining = facts.rows
        }

        package func isDone(_ index: Int) -> Bool {
            remaining == 0 || (!done.isEmpty && done[index >> 6] >> UInt64(index & 63) & 1 != 0)
        }

        /// Returns the end of the run of rows that begins at `index` and in which `isDone` is the same.
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
            return min(facts.rows, (word << 6) + others.trailingZeroBitCount)
        }

        /// Takes the outcomes of unavailable rows back.
        mutating func reopen() {
            reopenedLast = unavailable.map(\.index).sorted()
            guard !unavailable.isEmpty else { return }
            if done.isEmpty {
                // `done` is empty because all rows are done: set a bit for each row, and none beyond the last.
                done = Array(repeating: ~0, count: (facts.rows + 63) / 64)
                if facts.rows & 63 != 0 { done[done.count - 1] = (1 << UInt64(facts.rows & 63)) - 1 }
            }
            for row in unavailable { done[Int(row.index) >> 6] &= ~(1 << UInt64(row.index & 63)) }
            remaining += unavailable.count
            if remaining == facts.rows { done = [] }
            // The limit of requests starts anew for them.
            let indices = Set(reopenedLast)
            tried.removeAll { indices.contains($0.index) }
            reopened.removeAll { indices.contains($0.index) }
            reopened = (reopened + unavailable).sorted { $0.index < $1.index }
            unavailable = []
            assert(remaining == facts.rows - doneCount, "each row has an outcome or remains")
        }

        /// The number of rows whose bits are set, or that are done without bits.
        private var doneCount: Int {
            done.isEmpty ? (remaining == 0 ? facts.rows : 0) : done.reduce(0) { $0 + $1.nonzeroBitCount }
        }

        /// Whether the last reopening of the run took the row back: when it was made, APNs had refused all requests for the row.
        package func wasReopenedLast(_ index: Int) -> Bool {
            let place = reopenedLast.partitioningIndex { $0 >= index }
            return place < reopenedLast.count && reopenedLast[place] == index
        }

        /// The number of requests that earlier sessions made for a reopened row; 0 for other rows.
        package func attempts(ofReopened index: Int) -> UInt16 {
            let place = reopened.partitioningIndex { $0.index >= index }
            return place < reopened.count && reopened[place].index == index ? reopened[place].attempts : 0
        }

        /// The number of requests for a row without an outcome in earlier sessions, as far as it is known.
        package func attempts(of index: Int) -> UInt16 {
            max(attempts(ofReopened: index), tried.of(index)?.attempts ?? 0)
        }

        /// How many of them count toward the limit of the campaign.
        package func counted(of index: Int) -> UInt16 { tried.of(index)?.counted ?? 0 }

        mutating func take(_ attempts: [RowAttempts]) { tried.take(attempts) }

        /// Marks a row as done; returns false if it already was.
        mutating func setDone(_ index: Int) -> Bool {
            guard !isDone(index) else { return false }
            if done.isEmpty { done = Array(repeating: 0, count: (facts.rows + 63) / 64) }
            done[index >> 6] |= 1 << UInt64(index & 63)
            remaining -= 1
            assert(remaining >= 0, "as many rows get an outcome as a range has")
            if remaining == 0 { done = [] }
            return true
        }
    }

    /// Why a record contradicts the records before it. The ledger is damaged, or not of this run.
    enum Fault: Error, Equatable {
        case misplaced
        case unknownRow(UInt64)
        case secondOutcome(UInt64)
    }

    package private(set) var header: LedgerHeader?
    package private(set) var session: LedgerSession?
    /// Whether the last session ended in order.
    package private(set) var isEnded = false
    /// The number of sessions before the last one that did not end in order.
    private var killedBefore = 0
    /// Whether it ended in order after all rows of the input had been announced.
    package private(set) var isInputRead = false
    /// The announced ranges, ordered by row, without gaps.
    package private(set) var ranges: [Range] = []
    package private(set) var tally = Tally()
    /// The figures of all sessions before the last one.
    private var figuresBefore = SessionFigures()
    package private(set) var figuresOfSession = SessionFigures()
    /// The tally at the beginning of the last session.
    private var tallyBefore = Tally()
    package private(set) var reasons = OutcomeReasons()
    /// The rows of all sessions, with their requests and reasons.
    package var totals: RunTotals { RunTotals(tally, reasons) }
    /// What operators changed, in the order in which they did.
    package private(set) var changes: [RunChange] = []
    /// The length of `results.csv` that was durable at the last mark.
    private(set) var resultsLength: UInt64 = 0
    /// The checksum of the first `resultsLength` bytes of `results.csv`; nil if the mark has none.
    private(set) var resultsSum: UInt32?
    /// The index of the range of the last row that was looked up.
    private var lastRange = 0

    /// The figures of all sessions together.
    package var figures: SessionFigures { figuresBefore + figuresOfSession }

    /// The number of rows that ended in the last session, and how many of them were accepted.
    package var endedInSession: (rows: UInt64, accepted: UInt64) {
        (tally.rows - min(tally.rows, tallyBefore.rows), tally[.accepted] - tallyBefore[.accepted])
    }

    /// The number of sessions whose process was killed, or whose disk failed; with the last one, which must be over.
    package var killedSessions: Int { killedBefore + (session != nil && !isEnded ? 1 : 0) }

    /// The approximate time of the last session's last activity, in seconds since the epoch.
    package var lastTime: UInt64 { (session?.time ?? header?.start ?? 0) &+ figuresOfSession.milliseconds / 1000 }

    /// Whether every row of the input has an outcome, and the last session ended in order.
    package var isComplete: Bool { isEnded && isInputRead && ranges.allSatisfy { $0.remaining == 0 } }

    /// The number of rows in all ranges.
    package var rows: UInt64 { ranges.last.map { $0.facts.firstRow - 1 + UInt64($0.facts.rows) } ?? 0 }

    mutating func take(_ header: LedgerHeader) throws(Fault) {
        guard self.header == nil, session == nil else { throw .misplaced }
        self.header = header
    }

    mutating func take(_ session: LedgerSession) throws(Fault) {
        guard header != nil, session.number == nextSession || isPlanned(session) else { throw .misplaced }
        killedBefore = killedSessions
        self.session = session
        (figuresBefore, figuresOfSession) = (figures, SessionFigures())
        tallyBefore = tally
        isEnded = false
        isInputRead = false
    }

    /// The number of the session that follows.
    package var nextSession: UInt32 { (session?.number ?? LedgerSession.planned) + 1 }

    /// Whether a session is that of the plan, which is in the header and before all others.
    private func isPlanned(_ session: LedgerSession) -> Bool {
        session.number == LedgerSession.planned && self.session == nil && header?.plan != nil && session.sendsNothing
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

    /// Takes the entry of a session that ended in order about the requests for rows without an outcome.
    ///
    /// - Parameter texts: Those of the record.
    mutating func takeAttempts(firstRow: UInt64, _ texts: [UInt8]) {
        guard let index = index(of: firstRow) else { return }
        unsafe ranges[index].take(
            texts.withUnsafeBytes { unsafe LedgerDecoder.attempts($0, rows: ranges[index].facts.rows) })
    }

    /// Figures are cumulative: each record replaces the earlier ones of its session.
    mutating func take(_ figures: SessionFigures) throws(Fault) {
        guard session != nil else { throw .misplaced }
        figuresOfSession.take(figures)
    }

    mutating func take(_ change: RunChange) throws(Fault) {
        guard session != nil else { throw .misplaced }
        changes.append(change)
    }

    /// Takes the outcomes of all rows back that can be reopened.
    mutating func takeReopened() throws(Fault) {
        guard session != nil else { throw .misplaced }
        for index in ranges.indices {
            for row in ranges[index].unavailable { tally.attempts -= UInt64(row.attempts) }
            ranges[index].reopen()
        }
        for outcome in Outcome.allCases where outcome.canBeReopened { (tally[outcome], reasons[outcome]) = (0, [:]) }
        assert(
            tally.rows == ranges.reduce(0) { $0 + UInt64($1.facts.rows - $1.remaining) },
            "the outcomes that are counted are those of rows that are done")
    }

    mutating func takeMark(resultsLength: UInt64, resultsSum: UInt32? = nil) {
        self.resultsLength = resultsLength
        self.resultsSum = resultsSum
    }

    mutating func takeEnd(isInputRead: Bool) throws(Fault) {
        guard session != nil, !isEnded else { throw .misplaced }
        isEnded = true
        self.isInputRead = isInputRead
    }

    /// - Parameter text: returns the text of the row's reason; called only if it is needed.
    mutating func take(_ entry: LedgerEntry, text: () throws -> [UInt8]?) throws {
        guard let index = index(of: entry.row) else { throw Fault.unknownRow(entry.row) }
        let place = Int(entry.row - ranges[index].facts.firstRow)
        guard ranges[index].setDone(place) else { throw Fault.secondOutcome(entry.row) }
        if entry.outcome.canBeReopened {
            ranges[index].unavailable.append(
                Unavailable(index: UInt32(place), attempts: entry.attempts.count))
        }
        tally.count(entry.outcome, attempts: entry.attempts)
        if entry.outcome == .invalid {
            try reasons.count(invalid: entry.row, code: entry.code) {
                String(decoding: try text() ?? [], as: UTF8.self)
            }
        } else if entry.outcome.isAnswered {
            let unknown = unsafe entry.reason == nil ? try text()?.withUnsafeBytes { unsafe Reason(bytes: $0) } : nil
            if let reason = entry.reason.map({ .known($0) }) ?? unknown { reasons.count(reason, of: entry.outcome) }
        }
    }

    /// Returns the index of a row's range. Rows of a batch are near each other, so the last range is tried first.
    private mutating func index(of row: UInt64) -> Int? {
        guard row >= 1, row <= rows else { return nil }
        if ranges[lastRange].facts.contains(row) { return lastRange }
        lastRange = found(row)
        return lastRange
    }

    /// Returns the range of a row, or nil if the row was never announced.
    func range(of row: UInt64) -> Range? { row >= 1 && row <= rows ? ranges[found(row)] : nil }

    private func found(_ row: UInt64) -> Int { ranges.partitioningIndex { $0.facts.firstRow > row } - 1 }

    /// Returns how many of a range's first rows may have been sent, including by the last session, which must be over.
    ///
    /// - Parameter handOvers: the notes of the last session's lanes; nil if they cannot be trusted.
    func handed(_ range: Range, handOvers: [UInt64: Int]?) -> Int {
        guard !isEnded, range.remaining > 0, range.session == session?.number else { return range.handed }
        if session?.sendsNothing == true { return range.handed }
        guard let handOvers else { return range.facts.rows }
        return max(range.handed, min(range.facts.rows, handOvers[range.facts.firstRow] ?? range.facts.rows))
    }
}

extension InputError {
    /// The error of an input whose rows are not those of a range.
    package static func changedSince(_ range: LedgerRange) -> InputError {
        .changedRows(first: range.firstRow, last: range.firstRow + UInt64(range.rows) - 1)
    }
}

extension LedgerRange {
    func contains(_ row: UInt64) -> Bool { row >= firstRow && row - firstRow < UInt64(rows) }
}
