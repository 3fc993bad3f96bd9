import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// A lane's end of the input: the rows of the chunks that the reader enqueues.
struct FeedRows: RowOrigin, ~Copyable {
    private let queue: BoundedQueue<InputChunk>
    private let handOvers: HandOverRecord?
    private var cursor: RowCursor
    /// The number of the first row that is sent.
    private let firstSent: UInt64
    private var chunk: RowChunk?
    /// The number of the chunk's first row. Stored, because access to the chunk would count a reference for every row.
    private var firstRow: UInt64 = 0
    /// What is known of the chunk's rows, if an earlier session announced them; otherwise nil.
    private var past: PastRange?
    /// The number of rows of the chunk that the hand-over file shows as handed over.
    private var noted = 0
    private var noteStep = HandOverRecord.step(inFlight: 0)
    private var isPending = false
    private(set) var isExhausted = false
    private(set) var row = Row()

    /// - Parameters:
    ///   - handOvers: The hand-over file, in which rows are noted before they are taken; nil without a ledger.
    ///   - firstSent: The number of the first row that is sent.
    init(
        queue: BoundedQueue<InputChunk>, handOvers: HandOverRecord?, cursor: consuming RowCursor, firstSent: UInt64
    ) {
        self.queue = queue
        self.handOvers = handOvers
        self.cursor = cursor
        self.firstSent = firstSent
    }

    /// Parses the next row, and notes it in the hand-over file.
    @discardableResult
    mutating func advance() -> Bool {
        if isPending { return true }
        while true {
            while chunk != nil, cursor.next(into: &row) {
                if let past, past.range.isDone(indexInRange) { continue }
                if indexInRange >= noted { note() }
                isPending = true
                return true
            }
            recycleChunk()
            guard takeChunk() else { return false }
        }
    }

    var isAtEnd: Bool { isExhausted && !isPending }

    var isBeforeFirst: Bool { row.row < firstSent }

    /// Notes rows ahead of the current one, so that one note is enough for some hundred rows.
    private mutating func note() {
        guard let chunk else { return }
        noted = min(chunk.rowCount, indexInRange + noteStep)
        precondition(indexInRange < noted, "a row is noted before it is taken, and is one of its chunk")
        handOvers?.note(slot: chunk.index, firstRow: chunk.start.row, rows: noted)
    }

    mutating func consume() {
        assert(isPending, "a row is consumed once")
        isPending = false
    }

    private mutating func takeChunk() -> Bool {
        guard !isExhausted else { return false }
        switch queue.tryPop() {
        case .element(let next):
            assert(chunk == nil, "a lane has one chunk at a time")
            if let past = next.past {
                precondition(
                    past.range.facts.firstRow == next.chunk.start.row, "what is known of rows belongs to their chunk")
            }
            chunk = next.chunk
            past = next.past
            firstRow = next.chunk.start.row
            noted = 0
            cursor.open(next.chunk)
            return true
        case .nothingYet: return false
        case .closed:
            isExhausted = true
            return false
        }
    }

    /// Leaves the rows that were not taken to a resumed run.
    mutating func abandon() {
        isExhausted = true
        isPending = false
        recycleChunk()
    }

    private mutating func recycleChunk() {
        chunk?.recycle()
        chunk = nil
    }

    mutating func tick(inFlight: Int) { noteStep = HandOverRecord.step(inFlight: inFlight) }

    /// A row that ends without an outcome is left to a resumed run.
    func giveUp(_ row: UInt64, _ arrival: Arrival) {}

    func didTake(_ ticket: Int) {}

    // MARK: Sessions

    var indexInRange: Int { Int(truncatingIfNeeded: row.row &- firstRow) }

    var isPast: Bool { past != nil }

    /// As the ledger has it for a row that was reopened or had no outcome when a session ended in order, and at least 1 if it may have
    /// arrived.
    var pastAttempts: UInt16 {
        guard let past else { return 0 }
        let known = min(past.range.attempts(of: indexInRange), Attempts.pastMax)
        return indexInRange < past.handed ? max(known, 1) : known
    }

    /// None of those before a row was reopened.
    var pastCounted: UInt16 { min(past?.range.counted(of: indexInRange) ?? 0, Attempts.pastMax) }

    var mayHaveArrived: Bool {
        guard let past else { return false }
        return indexInRange < past.handed && !past.wasAnswered(indexInRange)
    }

    func noteUnanswered(_ row: UInt64, indexInRange: UInt32) {
        handOvers?.noteUnanswered(firstRow: row &- UInt64(indexInRange), rows: Int(indexInRange) + 1)
    }

    func noteAttempts(of row: UInt64, indexInRange: UInt32, attempts: UInt16, counted: UInt16) {
        handOvers?.noteAttempts(
            firstRow: row &- UInt64(indexInRange),
            RowAttempts(index: indexInRange, attempts: attempts, counted: counted))
    }
}
