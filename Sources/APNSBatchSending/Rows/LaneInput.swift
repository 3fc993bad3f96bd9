import APNSBatchBasics
import APNSBatchRecords
import APNSBatchRows

/// Where the rows of lanes come from.
package enum LaneInput: Sendable {
    /// The chunks of a reader, and the hand-over file in which rows are noted.
    case chunks(BoundedQueue<InputChunk>, of: InputReader, HandOverRecord?)
    /// The notifications of a sender, and the number of their fields.
    case mailbox(Mailbox, columns: Int)
}
