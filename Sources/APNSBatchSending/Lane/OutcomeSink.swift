import APNSBatchBasics
import APNSBatchModel

/// A lane's end of the outcome exchange: fills batches, and passes each on when it is full or when `flush` is called.
struct OutcomeSink: ~Copyable {
    private let exchange: OutcomeExchange
    private var batch: OutcomeBatch
    private(set) var tally = Tally()
    /// The number of outcomes that free batches have room for.
    private var roomBehind = 0
    /// The time spent waiting for a free batch, in nanoseconds.
    private var waited: UInt64 = 0
    #if DEBUG
        /// The number of outcomes in batches that were passed on.
        private var passedOn: UInt64 = 0
    #endif

    init(_ exchange: OutcomeExchange) {
        self.exchange = exchange
        let batch = exchange.freeBatch()
        precondition(batch.isEmpty, "a free batch has no outcomes")
        self.batch = batch
    }

    #if DEBUG
        /// Notes that the batch is about to be passed on.
        private mutating func notePassing() {
            passedOn += UInt64(batch.count)
            assert(tally.rows == passedOn, "each outcome that was counted is passed on once")
        }
    #endif

    /// Records the outcome of a row. Texts are copied; `ownID` is the row's own apns-id, if it has one.
    @inline(__always)
    mutating func record(
        row: UInt64, outcome: Outcome, status: UInt16 = 0, attempts: Attempts = 0, answerTime: UInt32 = 0,
        timestamp: UInt64 = OutcomeEntry.noTimestamp,
        token: UnsafeRawBufferPointer, isHex: Bool = false,
        reason: UnsafeRawBufferPointer = unsafe UnsafeRawBufferPointer(start: nil, count: 0),
        ownID: UnsafeRawPointer? = nil
    ) {
        if !batch.hasRoom { flush() }
        unsafe batch.append(
            row: row, outcome: outcome, code: status, attempts: attempts, answerTime: answerTime, timestamp: timestamp,
            token: token, isHex: isHex, reason: reason, ownID: ownID)
        tally.count(outcome, attempts: attempts)
    }

    /// Appends fields to the line of the row that was recorded last.
    func carry(_ fields: UnsafeRawBufferPointer) { unsafe batch.carry(fields) }

    /// Appends one field to the line of the row that was recorded last.
    func carry(text: UnsafeRawBufferPointer) { unsafe batch.carry(text: text) }

    /// The number of outcomes that can be recorded without a wait for the program that takes the results.
    var room: Int { batch.room + roomBehind }

    /// Looks how many batches are free. Called once a turn.
    mutating func look() { roomBehind = exchange.room() }

    /// Passes the current batch to the writer before it is full, unless the outcomes of the rows that were taken need its room
    /// because the program does not take its results.
    ///
    /// - Parameter rows: The number of these rows.
    mutating func flushEarly(taken rows: Int) {
        look()
        if roomBehind > 0, roomBehind >= rows { flush() }
    }

    /// Passes the current batch to the writer, unless it is empty.
    @inline(never)
    mutating func flush() {
        guard !batch.isEmpty else { return }
        #if DEBUG
            notePassing()
        #endif
        if let receiver = exchange.receiver {
            receiver(batch)
            return batch.removeAll()
        }
        exchange.filled.push(batch)
        let isLate = exchange.free.isEmpty
        let begin = isLate ? SystemClock.monotonic() : 0
        batch = exchange.freeBatch()
        precondition(batch.isEmpty, "a free batch has no outcomes")
        if isLate { waited += SystemClock.monotonic() - begin }
        look()
    }

    /// Returns the time spent waiting for the writer since the last call, in nanoseconds.
    mutating func takeWait() -> UInt64 {
        defer { waited = 0 }
        return waited
    }

    /// Passes on the last batch. Nothing may be recorded afterwards.
    ///
    /// It takes no other batch for that, which a program that does not take its results might keep from it.
    mutating func finish() {
        if exchange.receiver != nil || batch.isEmpty {
            flush()
            exchange.free.push(batch)
        } else {
            #if DEBUG
                notePassing()
            #endif
            exchange.filled.push(batch)
        }
    }
}
