/// The push types and their rules.
///
/// Source: Apple, "Sending notification requests to APNs" (push types, topics, sizes, priorities).
enum PushType: UInt8, CaseIterable {
    case alert, background, voip, complication, fileprovider, location, liveactivity, pushtotalk, widgets, controls, mdm

    private static let table: [(name: StaticString, topicSuffix: StaticString)] = [
        ("alert", ""), ("background", ""), ("voip", ".voip"), ("complication", ".complication"),
        ("fileprovider", ".pushkit.fileprovider"), ("location", ".location-query"),
        ("liveactivity", ".push-type.liveactivity"), ("pushtotalk", ".voip-ptt"), ("widgets", ".push-type.widgets"),
        ("controls", ".push-type.controls"), ("mdm", ""),
    ]

    /// The value of `apns-push-type`.
    @inline(__always)
    var name: StaticString { Self.table[Int(rawValue)].name }

    /// The suffix of the topic after the bundle identifier.
    @inline(__always)
    var topicSuffix: StaticString { Self.table[Int(rawValue)].topicSuffix }

    @inline(__always)
    var payloadMaximum: Int {
        self == .voip ? PushType.payloadMaximumOfAll : 4096
    }

    /// The largest payload of any push type in bytes.
    static var payloadMaximumOfAll: Int { 5120 }

    @inline(__always)
    init?(_ name: Bytes) {
        guard let found = Self.allCases.first(where: { unsafe name.equals($0.name) }) else { return nil }
        self = found
    }
}
