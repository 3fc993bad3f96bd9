/// The push types and the rules that hang on them, one table.
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

    /// What the topic ends with, behind the bundle identifier.
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

    /// The largest payload in bytes.
    @inline(__always)
    var payloadMaximum: Int {
        self == .voip ? PushType.payloadMaximumOfAll : 4096
    }

    /// The largest payload of any push type in bytes.
    static var payloadMaximumOfAll: Int { 5120 }

    /// The push type of this name, or nil.
    @inline(__always)
    init?(_ name: Bytes) {
        switch name.count {
        case 3 where name.equals("mdm"): self = .mdm
        case 4 where name.equals("voip"): self = .voip
        case 5 where name.equals("alert"): self = .alert
        case 7 where name.equals("widgets"): self = .widgets
        case 8 where name.equals("location"): self = .location
        case 8 where name.equals("controls"): self = .controls
        case 10 where name.equals("background"): self = .background
        case 10 where name.equals("pushtotalk"): self = .pushtotalk
        case 12 where name.equals("liveactivity"): self = .liveactivity
        case 12 where name.equals("complication"): self = .complication
        case 12 where name.equals("fileprovider"): self = .fileprovider
        default: return nil
        }
    }
}
