import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The cause for which a channel could not be created, read, deleted or listed, as a ``code`` for programs and a
/// ``description`` for people.
public struct ChannelError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is. Later versions may add cases.
    @nonexhaustive
    public enum Code: Sendable, Hashable {
        /// A bundle id, channel id, key or certificate is invalid. Nothing was sent.
        case configuration
        /// APNs cannot be reached, its certificate does not verify, or no answer came. A request to create or delete a
        /// channel may have been carried out nevertheless.
        case unreachable
        /// APNs refused the request with this status and, if it sent one, this reason.
        case refused(status: Int, reason: String?)
        /// APNs sent an answer that this version does not understand.
        case answer
        /// The task was cancelled before the request. Nothing was sent.
        case cancelled
    }

    /// What kind of failure it is.
    public let code: Code
    /// A sentence without a full stop. It contains no key and no provider token.
    public let description: String
    /// How to correct the error, as a sentence without a full stop; nil if no remedy is known.
    public let remedy: String?

    init(_ code: Code, _ description: String, remedy: String? = nil) {
        (self.code, self.description, self.remedy) = (
            code, Printable.message(description), remedy.map(Printable.message)
        )
    }

    init(_ error: CampaignError) { self.init(.configuration, error.description) }

    /// Creates the error of a refusal, explained by the table of answers.
    init(endpoint: String, _ response: RequestClient.Response) {
        let answer = unsafe response.body.withUnsafeBytes { unsafe Answer(status: response.status, body: $0) }
        self.init(
            .refused(status: Int(response.status), reason: answer.reason?.rawValue),
            "\(endpoint) answered \(answer.explanation)", remedy: answer.remedy)
    }
}

extension Answer {
    /// A text such as `400 ChannelNotRegistered: the channel does not exist`.
    var explanation: String {
        if case .known(let known) = reason { "\(text): \(known.rule.note)" } else { text }
    }
}
