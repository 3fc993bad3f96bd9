import APNSBatchBasics

/// The batches that travel between lanes and writer. A lane that finds none free waits for the writer.
final class OutcomeExchange: Sendable {
    let filled: BoundedQueue<OutcomeBatch>
    let free: BoundedQueue<OutcomeBatch>

    /// - Parameters:
    ///   - lanes: each lane has one batch in hand and the others on the way.
    ///   - each: batches of a lane.
    ///   - entries: outcomes that a batch holds.
    init(lanes: Int, each: Int = 3, entries: Int = OutcomeBatch.entryCapacity) {
        let count = lanes * each
        filled = BoundedQueue(capacity: count)
        free = BoundedQueue(capacity: count)
        for _ in 0..<count { free.push(OutcomeBatch(entries: entries)) }
    }
}

/// A lane's end of the exchange: fills a batch, hands it over when it is full or has waited long enough.
struct OutcomeSink: ~Copyable {
    private let exchange: OutcomeExchange
    private var batch: OutcomeBatch
    private(set) var tally = Tally()

    init(_ exchange: OutcomeExchange) {
        self.exchange = exchange
        batch = exchange.free.pop() ?? OutcomeBatch()
    }

    /// Records a row's end. The texts are copied; `ownID` is the row's own apns-id, where it brought one.
    mutating func record(
        row: UInt64, outcome: Outcome, status: UInt16 = 0, attempts: UInt16 = 0,
        timestamp: UInt64 = OutcomeEntry.noTimestamp,
        token: UnsafeRawBufferPointer, isHex: Bool = false,
        reason: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0), ownID: UnsafeRawPointer? = nil
    ) {
        if !batch.hasRoom { handOver() }
        batch.append(
            row: row, outcome: outcome, status: status, attempts: attempts, timestamp: timestamp, token: token,
            isHex: isHex, reason: reason, ownID: ownID)
        tally.count(outcome, attempts: attempts)
    }

    /// Adds fields to the line of the row that was recorded last.
    func carry(_ fields: UnsafeRawBufferPointer) { batch.carry(fields) }

    /// Adds one field to it.
    func carry(text: UnsafeRawBufferPointer) { batch.carry(text: text) }

    /// Gives what there is to the writer.
    mutating func handOver() {
        guard !batch.isEmpty else { return }
        exchange.filled.push(batch)
        batch = exchange.free.pop() ?? OutcomeBatch()
    }

    /// Hands over the last batch; nothing may be recorded afterwards.
    mutating func finish() {
        handOver()
        exchange.free.push(batch)
    }
}

/// Rows by outcome, and requests made for them.
struct Tally: Sendable, Equatable {
    var outcomes: OutcomeCounts = [:]
    var attempts: UInt64 = 0
    /// Of all rows: those that were sent again although an earlier request may have arrived.
    var resent: UInt64 = 0

    var rows: UInt64 { outcomes.sum }

    subscript(outcome: Outcome) -> UInt64 {
        get { outcomes[outcome] }
        set { outcomes[outcome] = newValue }
    }

    /// - Parameter attempts: as `Attempts` says.
    mutating func count(_ outcome: Outcome, attempts: UInt16) {
        self[outcome] += 1
        self.attempts += UInt64(Attempts.count(attempts))
        resent += UInt64(attempts >> 15)
    }

    static func + (left: Tally, right: Tally) -> Tally {
        var sum = left
        sum.outcomes += right.outcomes
        sum.attempts += right.attempts
        sum.resent += right.resent
        return sum
    }
}
