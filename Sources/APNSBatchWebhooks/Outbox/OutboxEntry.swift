import APNSBatchBasics
import APNSBatchCredentials
import FoundationEssentials

/// An event that waits for its delivery to one endpoint: the content of a file in the outbox. It names the files of the URL and the
/// secrets, and holds neither.
package struct OutboxEntry: Codable, Equatable, Sendable {
    /// The version of the format.
    package private(set) var format = 1
    /// The value of `webhook-id`, which is the same in all attempts.
    package let id: String
    /// The kind of the event.
    package let event: String
    /// The name of the campaign.
    package let campaign: String
    /// When the event happened, in seconds since 1970-01-01 00:00 UTC.
    package let time: Int64
    package let urlFile: String
    package let secretFile: String
    /// The seconds that an attempt may take.
    package let timeout: Int
    package let body: String
    /// The number of attempts that have failed.
    package private(set) var attempts = 0
    /// The time before which the endpoint refuses another attempt, in seconds since 1970-01-01 00:00 UTC; 0 without such an answer.
    package private(set) var notBefore: Int64 = 0

    package init(
        _ event: WebhookEvent, urlFile: String, secretFile: String, timeout: Int
    ) throws {
        id = try "msg_" + String(decoding: Base64.encodeURL(SecureRandom.bytes(18)), as: UTF8.self)
        (self.event, campaign, time) = (event.kind.rawValue, event.facts.campaign, event.time)
        (self.urlFile, self.secretFile, self.timeout) = (urlFile, secretFile, timeout)
        body = event.body
    }

    /// Reads the content of a file; nil if it is not that of an outbox.
    init?(file: [UInt8]) {
        guard let entry = try? JSONDecoder().decode(OutboxEntry.self, from: Data(file)), entry.format == 1,
            entry.time >= 0, Self.timeouts.contains(entry.timeout), Self.attemptsRange.contains(entry.attempts),
            entry.id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return nil }
        self = entry
    }

    var file: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ((try? encoder.encode(self)).map { Array($0) } ?? []) + [UInt8(ascii: "\n")]
    }

    /// The seconds that an attempt may take. The end of a run waits for one.
    package static let timeouts = 1...30

    /// The number of attempts that a file can have. There is one in some seconds, for three days.
    private static let attemptsRange = 0...1_000_000

    // MARK: Attempts

    /// What is known of an attempt.
    package enum Answer: Equatable, Sendable {
        /// The status of the answer, and the seconds of its Retry-After.
        case status(Int, retryAfter: Int64?)
        /// There is no answer.
        case none
    }

    package enum Fate: Equatable, Sendable {
        case delivered
        /// The endpoint refuses further events.
        case endpointGone
        /// There may be another attempt.
        case waits
    }

    /// Entries are given up at this age, in seconds.
    private static let ageMax: Int64 = 3 * 86_400
    /// The longest time that an endpoint can ask for.
    private static let waitMax: Int64 = 3600
    /// The pause when the endpoint is overloaded and gives no time.
    private static let waitStandard: Int64 = 60

    /// Notes what came of an attempt.
    package mutating func note(_ answer: Answer, now: Int64) -> Fate {
        guard case .status(let status, let retryAfter) = answer else {
            attempts += 1
            return .waits
        }
        switch status {
        case 200..<300: return .delivered
        case 410: return .endpointGone
        default:
            attempts += 1
            let isBusy = [429, 502, 504].contains(status)
            if let wait = retryAfter ?? (isBusy ? Self.waitStandard : nil) {
                notBefore = now + min(max(wait, 0), Self.waitMax)
            }
            return .waits
        }
    }

    /// Whether the endpoint allows an attempt. A time that is further away than an endpoint can ask for is from a clock that was
    /// set back since.
    package func isAllowed(now: Int64) -> Bool { notBefore <= now || notBefore - now > Self.waitMax }

    /// Whether the event is too old to be delivered.
    package func isOutdated(now: Int64) -> Bool { now - time > Self.ageMax }
}
