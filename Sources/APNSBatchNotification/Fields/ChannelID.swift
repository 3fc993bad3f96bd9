/// The `apns-channel-id` header: the name that APNs gave a broadcast channel, in base64.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs".
package enum ChannelID {
    /// The most bytes taken. A bound of ours: APNs makes ids of 24.
    package static let lengthMax = 64

    /// Base64 with padding (RFC 4648 section 4): whole groups of four, padding only at the end, at most ``lengthMax``.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        if text.count > lengthMax { return .channelIDTooLong(text.count) }
        guard text.count > 0, text.count % 4 == 0 else { return .channelID }
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, text.dropLast(padding).allSatisfy(isDigit) else { return .channelID }
        return nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
