import APNSBatchBasics
import APNSBatchModel

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
