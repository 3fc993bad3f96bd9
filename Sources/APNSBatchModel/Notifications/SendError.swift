import APNSBatchBasics

/// The cause for which a `Sender` has no result of a notification. ``arrival`` shows how far its request got: one that may
/// have arrived may reach the device twice if it is sent again.
public struct SendError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is.
    @nonexhaustive
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The sender has not been started.
        case notRunning
        /// The sender takes no more notifications, or was ended before the answer.
        case shuttingDown
        /// The task was cancelled.
        case cancelled
        /// The time for the notification passed, although connections are up.
        case timedOut
        /// The time for the notification passed, and APNs cannot be reached, does not answer, or answers only 429 and 5xx.
        case unreachable

        /// The word in metrics and spans, such as `timed_out`.
        package var name: String {
            switch self {
            case .notRunning: "not_running"
            case .shuttingDown: "shutting_down"
            case .cancelled: "cancelled"
            case .timedOut: "timed_out"
            case .unreachable: "unreachable"
            }
        }
    }

    /// What kind of failure it is.
    public let code: Code
    /// How far the last request got: ``Arrival/notSent`` if there was none, and ``Arrival/answered`` if APNs asked for a later
    /// one, which there was no time for.
    public let arrival: Arrival
    /// A sentence without a full stop. It contains no secret, no payload and no device token.
    public let description: String

    package init(_ code: Code, _ arrival: Arrival, _ description: String) {
        (self.code, self.arrival, self.description) = (code, arrival, Printable.message(description))
    }
}
