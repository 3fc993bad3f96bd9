import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// A lane's end of the input: one row at a time out of the chunks that the reader hands over. Never waits.
struct RowSource: ~Copyable {
    private let queue: BoundedQueue<InputChunk>
    private let board: HandOverBoard?
    private var cursor: RowCursor
    private var chunk: RowChunk?
    /// Of the chunk: asking it would count a reference for every row.
    private var firstRow: UInt64 = 0
    /// What is known of the chunk's rows, if an earlier process had it.
    private var past: PastRange?
    /// Rows of the chunk that stand on the board as handed over.
    private var noted = 0
    private var isPending = false
    private(set) var isExhausted = false
    /// The row that `hasRow` found; valid until `consume`.
    private(set) var row = Row()
    /// Seconds since the epoch, some milliseconds old.
    private(set) var wallClock: UInt64
    private let seconds: @Sendable () -> UInt64

    /// - Parameters:
    ///   - board: where rows are noted before they are taken; nil without a ledger.
    ///   - seconds: the time of day.
    init(
        queue: BoundedQueue<InputChunk>, board: HandOverBoard? = nil, cursor: consuming RowCursor,
        seconds: @escaping @Sendable () -> UInt64
    ) {
        self.queue = queue
        self.board = board
        self.cursor = cursor
        self.seconds = seconds
        wallClock = seconds()
    }

    /// Whether there is a row now. False may mean that the reader has none yet or that the input has ended
    /// (`isExhausted`).
    mutating func hasRow() -> Bool {
        if isPending { return true }
        while true {
            while chunk != nil, cursor.next(into: &row) {
                if let past, past.range.isDone(place) { continue }
                if place >= noted { note() }
                isPending = true
                return true
            }
            recycleChunk()
            guard takeChunk() else { return false }
        }
    }

    /// The row's index in its chunk.
    var place: Int { Int(truncatingIfNeeded: row.row &- firstRow) }

    /// A row stays without an outcome and may have arrived.
    func left(_ row: UInt64, place: UInt32) {
        board?.left(firstRow: row &- UInt64(place), rows: Int(place) + 1)
    }

    /// Whether an earlier process had the row in hand.
    var isPast: Bool { past != nil }

    /// Requests of earlier processes for the row: those of one that was reopened, and one at least if it may have been sent.
    var pastAttempts: UInt16 {
        guard let past else { return 0 }
        let known = min(past.range.attempts(ofReopened: place), Attempts.pastMax)
        return place < past.handed ? max(known, 1) : known
    }

    /// Whether an earlier process may have sent the row, and nobody knows what became of it.
    var mayHaveBeenSent: Bool {
        guard let past else { return false }
        return place < past.handed && !past.wasAnswered(place)
    }

    /// Ahead, so that a note is written for every some hundred rows.
    private mutating func note() {
        guard let chunk else { return }
        noted = min(chunk.rowCount, place + HandOverBoard.step)
        board?.note(slot: chunk.index, firstRow: chunk.start.row, rows: noted)
    }

    /// The row is done with; its fields are valid no more.
    mutating func consume() { isPending = false }

    private mutating func takeChunk() -> Bool {
        guard !isExhausted else { return false }
        switch queue.tryPop() {
        case .element(let next):
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

    /// Gives up what was not taken.
    mutating func abandon() {
        isExhausted = true
        isPending = false
        recycleChunk()
    }

    private mutating func recycleChunk() {
        chunk?.recycle()
        chunk = nil
    }

    mutating func refreshClock() { wallClock = seconds() }
}
