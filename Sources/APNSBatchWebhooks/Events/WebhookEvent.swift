import APNSBatchBasics
import FoundationEssentials

/// What happened to a campaign, and what its endpoints receive. It holds nothing of a row.
package struct WebhookEvent: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case started
        case completed
        case failed
        case stopped
        case paused
        case resumed

        /// The type of the event in its body.
        package var type: String { "apns_batch.campaign.\(rawValue)" }

        /// The events of an endpoint unless it requests others.
        package static let standard: [Kind] = [.completed, .failed, .stopped]
    }

    /// The member `data` of the body. What is not known is left out.
    package struct Facts: Encodable, Sendable {
        package var campaign: String
        package var campaignId: String?
        package var runDirectory: String?
        package var host: String
        package var version: String
        package var verdict: String?
        package var exitCode: Int32?
        package var counts: Counts?

        package init(campaign: String, host: String, version: String) {
            (self.campaign, self.host, self.version) = (campaign, host, version)
        }
    }

    /// The counts of a run that has ended.
    package struct Counts: Encodable, Sendable {
        package var rows: UInt64
        package var outcomes: [String: UInt64]
        package var left: UInt64?
        package var mayBeSent: UInt64?
        package var resent: UInt64
        package var sessions: Int
        package var durationSeconds: Double

        package init(
            rows: UInt64, outcomes: [String: UInt64], left: UInt64?, mayBeSent: UInt64?, resent: UInt64, sessions: Int,
            durationSeconds: Double
        ) {
            (self.rows, self.outcomes, self.left, self.mayBeSent) = (rows, outcomes, left, mayBeSent)
            (self.resent, self.sessions, self.durationSeconds) = (resent, sessions, durationSeconds)
        }
    }

    package let kind: Kind
    /// In seconds since 1970-01-01 00:00 UTC.
    package let time: Int64
    package let facts: Facts

    package init(_ kind: Kind, at time: Int64, _ facts: Facts) {
        (self.kind, self.time, self.facts) = (kind, time, facts)
    }

    /// The largest body in bytes, as Standard Webhooks recommends.
    package static let bodyMax = 20_000
    /// The largest length of a text in it. The encoder at most doubles it, because it is printable.
    private static let textMax = 2000

    private struct Body: Encodable {
        var type: String
        var timestamp: String
        var data: Facts
    }

    /// The body of the request: one JSON object without blanks.
    package var body: String {
        var facts = facts
        facts.campaign = Self.clipped(facts.campaign)
        facts.host = Self.clipped(facts.host)
        facts.runDirectory = facts.runDirectory.map(Self.clipped)
        facts.verdict = facts.verdict.map(Self.clipped)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let body = Body(type: kind.type, timestamp: Timestamp.text(time), data: facts)
        guard let text = try? encoder.encode(body) else { return "{\"type\":\"\(kind.type)\"}" }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the beginning of a text, printable.
    private static func clipped(_ text: String) -> String {
        var clipped = String.UnicodeScalarView()
        var length = 0
        for scalar in Printable.text(text).unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= textMax else { return String(clipped) + "…" }
            clipped.append(scalar)
        }
        return String(clipped)
    }
}
