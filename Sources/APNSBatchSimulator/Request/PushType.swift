/// The push types and their rules, in one table.
///
/// Source: Apple, "Sending notification requests to APNs" (push types, topics, sizes, priorities).
enum PushType: UInt8, CaseIterable {
    case alert, background, voip, complication, fileprovider, location, liveactivity, pushtotalk, widgets, controls, mdm

    /// The value of `apns-push-type`.
    @inline(__always)
    var name: StaticString {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .voip: "voip"
        case .complication: "complication"
        case .fileprovider: "fileprovider"
        case .location: "location"
        case .liveactivity: "liveactivity"
        case .pushtotalk: "pushtotalk"
        case .widgets: "widgets"
        case .controls: "controls"
        case .mdm: "mdm"
        }
    }

    /// The suffix of the topic after the bundle identifier.
    @inline(__always)
    var topicSuffix: StaticString {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    @inline(__always)
    var payloadMaximum: Int {
        self == .voip ? PushType.payloadMaximumOfAll : 4096
    }

    /// The largest payload of any push type in bytes.
    static var payloadMaximumOfAll: Int { 5120 }

    /// Returns the push type with this name, or nil.
    @inline(__always)
    init?(_ name: Bytes) {
        guard let found = Self.allCases.first(where: { unsafe name.equals($0.name) }) else { return nil }
        self = found
    }
}
