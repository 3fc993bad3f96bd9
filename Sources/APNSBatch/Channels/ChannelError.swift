import APNSBatchModel
import APNSBatchNotification

/// Why a channel could not be created, read, deleted or listed, for programs (``kind``) and for people
/// (``description``).
public struct ChannelError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is. New kinds may come: switch with a default.
    public enum Kind: Sendable, Equatable {
        /// Bundle id, channel id, key or certificate is wrong. Nothing was sent.
        case configuration
        /// APNs cannot be reached, its certificate does not verify, or no answer came. A request to create or delete
        /// may have been carried out all the same.
        case unreachable
        /// APNs said no, with this status and, if it gave one, this reason.
        case refused(status: Int, reason: String?)
        /// APNs answered in a way that this version does not understand.
        case answer
    }

    public let kind: Kind
    public let description: String
    /// What somebody can do about it, as a sentence without a full stop.
    public let remedy: String?

    init(_ kind: Kind, _ description: String, remedy: String? = nil) {
        self.kind = kind
        self.description = description
        self.remedy = remedy
    }

    init(_ error: CampaignError) { self.init(.configuration, error.description) }

    /// A refusal, explained by the table of answers.
    init(endpoint: String, _ response: RequestClient.Response) {
        let answer = response.body.withUnsafeBytes { Answer(status: response.status, body: $0) }
        let words = AnswerWords(answer)
        self.init(
            .refused(status: Int(response.status), reason: answer.reason?.rawValue),
            "\(endpoint) answered \(words.text)",
            remedy: words.remedy)
    }
}

/// An answer in words.
struct AnswerWords {
    /// `400 ChannelNotRegistered: the channel does not exist`.
    let text: String
    let remedy: String?

    init(_ answer: Answer) {
        guard let reason = answer.reason else {
            text = "\(answer.status)"
            remedy = nil
            return
        }
        guard case .known(let known) = reason else {
            text = "\(answer.status) \(reason)"
            remedy = nil
            return
        }
        text = "\(answer.status) \(known.text): \(known.rule.note)"
        remedy = known.remedy
    }
}
