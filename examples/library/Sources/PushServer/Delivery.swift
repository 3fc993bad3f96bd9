import APNSBatch

/// How the notification of a user ended, as the callers of this server see it.
enum Delivery: Sendable, Equatable {
    /// APNs accepted it.
    case accepted(messageID: String?)
    /// The user has no device.
    case noDevice
    /// The device is not active any more.
    case deviceGone
    /// It breaks a rule of APNs, such as the one on the size of payloads. It was not sent.
    case invalid(reason: String)
    /// APNs refused it for another reason.
    case rejected(reason: String)
    /// It was certainly not delivered, and a later try may succeed.
    case tryLater
    /// It may have been delivered. Whether to try again, and perhaps show it twice, is for the caller to decide.
    case undecided
}

extension Delivery {
    /// - Parameter result: How APNs answered, or why it was not asked.
    init(_ result: SendResult) {
        let reason = result.reason ?? "no reason"
        switch result.outcome {
        case .accepted: self = .accepted(messageID: result.messageID)
        case .rejected: self = result.status == 410 ? .deviceGone : .rejected(reason: reason)
        case .invalid: self = .invalid(reason: reason)
        // APNs answered 429 or 5xx until no attempt was left.
        case .unavailable: self = .tryLater
        default: self = .notAnswered(result.arrival)
        }
    }

    /// - Parameter error: Why there is no result.
    init(_ error: SendError) { self = .notAnswered(error.arrival) }

    private static func notAnswered(_ arrival: Arrival) -> Delivery {
        switch arrival {
        case .notSent: .tryLater
        // Also for cases of later versions: the careful assumption is that it may have arrived.
        default: .undecided
        }
    }
}
