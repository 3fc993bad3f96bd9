import APNSBatchBasics

/// The UUID of a campaign (RFC 9562). The `apns-id` of each of its notifications is derived from it and from the row's number, so
/// that a request which is sent again has the same one.
public struct CampaignID: Sendable, Hashable, LosslessStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(_ words: (UInt64, UInt64)) { (high, low) = words }

    /// Creates a random one.
    public init() {
        // Version 4, and the variant.
        high = .random(in: 0 ... .max) & ~0xf000 | 0x4000
        low = .random(in: 0 ... .max) & ~(3 << 62) | 2 << 62
    }

    /// Parses 36 characters such as `0b4f1f3c-7d6e-4a8f-9b1a-2c3d4e5f6071`. Returns nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let digits = parts.joined()
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12], digits.allSatisfy(\.isHexDigit),
            let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    package var words: (UInt64, UInt64) { (high, low) }

    /// Lower-case hexadecimal digits in five groups.
    public var description: String {
        let digits = [high, low].map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var (groups, rest) = ([Substring](), digits[...])
        for length in [8, 4, 4, 4, 12] {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return groups.joined(separator: "-")
    }
}

extension CampaignID: Codable {
    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = CampaignID(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a UUID, found \(text.quoted)")
        }
        self = id
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
