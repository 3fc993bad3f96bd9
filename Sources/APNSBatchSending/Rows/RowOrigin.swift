import APNSBatchModel
import APNSBatchRows

/// Where the rows of a lane come from: chunks of an input (``FeedRows``), or submissions of a sender (``MailboxRows``). Returns the
/// rows one at a time, and never waits.
///
/// A lane is compiled for each origin by itself, so that no call for a row is dispatched.
protocol RowOrigin: ~Copyable {
    /// The row that `advance` found; valid until `consume`.
    var row: Row { get }
    /// Whether no further row will come, apart from one that is still to be consumed.
    var isExhausted: Bool { get }
    /// Whether the last row was consumed, and no further one will come.
    var isAtEnd: Bool { get }

    /// Moves to the next row, unless the last one is still to be consumed. Returns false if there is none yet, or none any more
    /// (`isExhausted`).
    @discardableResult
    mutating func advance() -> Bool

    /// Ends the use of the row; its fields are not valid any more.
    mutating func consume()

    /// Takes no further row, and gives up those that were not consumed.
    mutating func abandon()

    /// Called every few milliseconds.
    mutating func tick(inFlight: Int)

    /// Whether the campaign begins after the row.
    var isBeforeFirst: Bool { get }

    // MARK: Flights

    /// Learns the ticket of the row's flight.
    mutating func didTake(_ ticket: Int)

    /// Learns that a row which was taken ends without an outcome.
    ///
    /// - Parameter arrival: How far its last request got.
    func giveUp(_ row: UInt64, _ arrival: Arrival)

    // MARK: Sessions

    /// The index of the row in its range of the ledger, from 0.
    var indexInRange: Int { get }
    /// Whether the row is in a range of an earlier session.
    var isPast: Bool { get }
    /// Whether an earlier session may have sent the row and has no answer.
    var mayHaveArrived: Bool { get }
    /// The number of requests for the row in earlier sessions.
    var pastAttempts: UInt16 { get }
    /// How many of these count toward the limit of the campaign.
    var pastCounted: UInt16 { get }

    /// Records that a row which may have arrived stays without an outcome.
    func noteUnanswered(_ row: UInt64, indexInRange: UInt32)

    /// Records the requests for a row that stays without an outcome.
    ///
    /// - Parameters:
    ///   - attempts: The number of requests, in all sessions.
    ///   - counted: How many of them count toward the limit.
    func noteAttempts(of row: UInt64, indexInRange: UInt32, attempts: UInt16, counted: UInt16)
}
