import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// A lane's end of the input: returns the rows of the chunks that the reader enqueues, one at a time. Never waits.
struct RowSource: ~Copyable {
    private let queue: BoundedQueue<InputChunk>
    private let handOvers: HandOverRecord?
    private var cursor: RowCursor
    /// Where rows come from in place of chunks; nil in a campaign.
    private(set) var mail: MailSource?
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
    /// The row that `advance` found; valid until `consume`.
    private(set) var row = Row()
    /// The time in seconds since the epoch, some milliseconds old.
    private(set) var wallClock: UInt64
    private let seconds: @Sendable () -> UInt64

    /// - Parameters:
    ///   - handOvers: The hand-over file, in which rows are noted before they are taken; nil without a ledger.
    ///   - seconds: Returns the time of day in seconds since the epoch.
    init(
        queue: BoundedQueue<InputChunk>, handOvers: HandOverRecord? = nil, cursor: consuming RowCursor,
        seconds: @escaping @Sendable () -> UInt64
    ) {
        self.queue = queue
        self.handOvers = handOvers
        self.cursor = cursor
        self.seconds = seconds
        wallClock = seconds()
    }

    /// Creates a source of the notifications of a sender.
    ///
    /// - Parameter columns: The number of fields of a notification.
    init(_ mailbox: Mailbox, columns: Int, lane: Int, seconds: @escaping @Sendable () -> UInt64) {
        self.init(queue: BoundedQueue(capacity: 1), cursor: RowCursor(columnCount: columns), seconds: seconds)
        mail = MailSource(mailbox, columns: columns, lane: lane)
    }

    /// Moves to the next row, unless the last one is still to be consumed: parses it, and notes it in the hand-over file.
    /// Returns false if the reader has none yet, or the input has ended (`isExhausted`).
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
            if mail != nil { return takeMail() }
            recycleChunk()
            guard takeChunk() else { return false }
        }
    }

    @inline(never)
    private mutating func takeMail() -> Bool {
        isPending = mail!.advance(&row)
        if !isPending { isExhausted = mail!.isExhausted }
        return isPending
    }

    /// Whether the input has ended and its last row was consumed.
    var isAtEnd: Bool { isExhausted && !isPending }

    /// The index of the row in its chunk, which is its range of the ledger; from 0.
    var indexInRange: Int { Int(truncatingIfNeeded: row.row &- firstRow) }

    /// Records that a row which may have arrived stays without an outcome.
    func noteUnanswered(_ row: UInt64, indexInRange: UInt32) {
        handOvers?.noteUnanswered(firstRow: row &- UInt64(indexInRange), rows: Int(indexInRange) + 1)
    }

    /// Whether the row is in a range of an earlier session.
    var isPast: Bool { past != nil }

    /// Records the requests for a row that stays without an outcome.
    ///
    /// - Parameters:
    ///   - attempts: The number of requests, in all sessions.
    ///   - counted: How many of them count toward the limit.
    func noteAttempts(of row: UInt64, indexInRange: UInt32, attempts: UInt16, counted: UInt16) {
        handOvers?.noteAttempts(
            firstRow: row &- UInt64(indexInRange),
            RowAttempts(index: indexInRange, attempts: attempts, counted: counted))
    }

    /// The number of requests for the row in earlier sessions: as the ledger has it for a row that was reopened or had no outcome when
    /// a session ended in order, and at least 1 if it may have arrived.
    var pastAttempts: UInt16 {
        guard let past else { return 0 }
        let known = min(past.range.attempts(of: indexInRange), Attempts.pastMax)
        return indexInRange < past.handed ? max(known, 1) : known
    }

    /// How many of these count toward the limit of the campaign; none of those before a row was reopened.
    var pastCounted: UInt16 { min(past?.range.counted(of: indexInRange) ?? 0, Attempts.pastMax) }

    /// Whether an earlier session may have sent the row and has no answer.
    var mayHaveArrived: Bool {
        guard let past else { return false }
        return indexInRange < past.handed && !past.wasAnswered(indexInRange)
    }

    /// Notes rows ahead of the current one, so that one note is enough for some hundred rows.
    private mutating func note() {
        guard let chunk else { return }
        noted = min(chunk.rowCount, indexInRange + noteStep)
        handOvers?.note(slot: chunk.index, firstRow: chunk.start.row, rows: noted)
    }

    /// Ends the use of the row; its fields are not valid any more.
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

    /// Removes a submission that has not become a flight. Returns whether there was one.
    mutating func drop(_ id: UInt64) -> Bool {
        if isPending, row.row == id {
            isPending = false
            return true
        }
        return mail?.drop(id) ?? false
    }

    /// Takes no further row, and leaves those that were not taken to a resumed run.
    mutating func abandon() {
        if mail != nil { abandonMail() }
        isExhausted = true
        isPending = false
        recycleChunk()
    }

    private mutating func abandonMail() {
        if isPending { mail!.mailbox.giveUp(row.row, .notSent) }
        mail!.abandon()
    }

    private mutating func recycleChunk() {
        chunk?.recycle()
        chunk = nil
    }

    /// Called every few milliseconds.
    mutating func tick(inFlight: Int) {
        wallClock = seconds()
        noteStep = HandOverRecord.step(inFlight: inFlight)
    }
}
