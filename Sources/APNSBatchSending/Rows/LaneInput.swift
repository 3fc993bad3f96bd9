import APNSBatchBasics
import APNSBatchRecords
import APNSBatchRows

/// Where the rows of lanes come from.
package enum LaneInput: Sendable {
    /// The chunks of a reader, and the hand-over file in which rows are noted.
    case chunks(BoundedQueue<InputChunk>, of: InputReader, HandOverRecord?)
    /// The notifications of a sender, and the number of their fields.
    case mailbox(Mailbox, columns: Int)

    /// Creates a lane's end of it.
    ///
    /// - Parameter seconds: Returns the time of day in seconds since the epoch.
    func source(lane: Int, seconds: @escaping @Sendable () -> UInt64) -> RowSource {
        switch self {
        case .chunks(let queue, let reader, let handOvers):
            RowSource(queue: queue, handOvers: handOvers, cursor: reader.makeCursor(), seconds: seconds)
        case .mailbox(let mailbox, let columns):
            RowSource(mailbox, columns: columns, lane: lane, seconds: seconds)
        }
    }
}
