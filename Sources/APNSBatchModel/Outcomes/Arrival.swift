/// How far the last request for a row got.
@nonexhaustive
public enum Arrival: Sendable, CaseIterable {
    /// No request was sent, or the peer reported that it did not process it.
    case notSent
    /// A request was handed to a connection, and no answer came: it may have arrived.
    case maybeSent
    /// APNs answered.
    case answered
}
