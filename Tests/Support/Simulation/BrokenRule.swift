import APNSBatch
import LaneTransport

/// A rule of the sender that is broken on purpose, to show that the simulation finds it.
package enum BrokenRule: String, CaseIterable, Sendable {
    /// A stream that the server refused counts as accepted.
    case refusedIsAccepted = "refused-is-accepted"
    /// What may have been sent counts as not sent, and goes again at no cost and without end.
    case maybeIsNotSent = "maybe-is-not-sent"
    /// The first row under way on a connection that is lost has no outcome.
    case forgetAtLoss = "forget-at-loss"
    /// Rows are sent before it is durable that they will be.
    case sendBeforeIntent = "send-before-intent"
    /// The lanes' notes are believed though they were lost with the power.
    case believeBoard = "believe-board"
    /// What was torn off at the ledger's end stays there.
    case keepTornTail = "keep-torn-tail"

    /// The others are the disk's.
    var spoilsOutcomes: Bool {
        switch self {
        case .refusedIsAccepted, .maybeIsNotSent, .forgetAtLoss: true
        case .sendBeforeIntent, .believeBoard, .keepTornTail: false
        }
    }

    /// What it does to an outcome; false: forgets it.
    func spoil(_ outcome: inout OutcomeRecord) -> Bool {
        switch self {
        case .refusedIsAccepted:
            if outcome.deliveryState == .notSent, outcome.failureScope == .http2 {
                outcome.delivery = Delivery.answered.rawValue
                outcome.status = 200
            }
        case .maybeIsNotSent:
            if outcome.deliveryState == .maybeSent { outcome.delivery = Delivery.notSent.rawValue }
        case .forgetAtLoss:
            if outcome.deliveryState == .maybeSent, outcome.failureScope == .system { return false }
        case .sendBeforeIntent, .believeBoard, .keepTornTail: break
        }
        return true
    }
}
