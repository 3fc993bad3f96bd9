/// The endpoint of a path. Names are borrowed from the path.
@safe enum Endpoint {
    /// `/3/device/<token>`; nil when the token is missing.
    case device(Bytes?)
    /// `/4/broadcasts/apps/<bundle id>`
    case broadcast(app: Bytes)
    /// `/1/apps/<bundle id>/channels`
    case channels(app: Bytes)
    /// `/1/apps/<bundle id>/all-channels`
    case allChannels(app: Bytes)
    case unknown

    /// An empty token counts as missing, and a path with more parts is unknown.
    init(path: Bytes?) {
        guard let path = unsafe path else {
            self = .unknown
            return
        }
        self = unsafe path.begins(with: "/3/device") ? Self.device(behind: path.dropping(9)) : Self.other(path)
    }

    func takes(_ method: Bytes?) -> Bool {
        guard let method = unsafe method else { return false }
        switch self {
        case .device, .broadcast: return unsafe method.equals("POST")
        case .channels: return unsafe method.equals("POST") || method.equals("GET") || method.equals("DELETE")
        case .allChannels: return unsafe method.equals("GET")
        case .unknown: return false
        }
    }

    var service: Services {
        switch self {
        case .device, .broadcast: .pushes
        case .channels, .allChannels: .management
        case .unknown: []
        }
    }

    @inline(__always)
    private static func device(behind rest: Bytes) -> Endpoint {
        guard rest.count > 1 else {
            return unsafe rest.count == 0 || rest[0] == UInt8(ascii: "/") ? .device(nil) : .unknown
        }
        guard unsafe rest[0] == UInt8(ascii: "/") else { return .unknown }
        let token = unsafe rest.dropping(1)
        return unsafe token.contains(UInt8(ascii: "/")) ? .unknown : .device(token)
    }

    @inline(never)
    private static func other(_ path: Bytes) -> Endpoint {
        if unsafe path.begins(with: "/4/broadcasts/apps/") {
            let app = unsafe path.dropping(19)
            return unsafe isApp(app) ? .broadcast(app: app) : .unknown
        }
        guard unsafe path.begins(with: "/1/apps/") else { return .unknown }
        let rest = unsafe path.dropping(8)
        for (ending, isAll) in [("/all-channels" as StaticString, true), ("/channels", false)]
        where unsafe rest.ends(with: ending) {
            let app = unsafe rest.keeping(rest.count - ending.utf8CodeUnitCount)
            guard unsafe isApp(app) else { return .unknown }
            return unsafe isAll ? .allChannels(app: app) : .channels(app: app)
        }
        return .unknown
    }

    private static func isApp(_ text: Bytes) -> Bool {
        unsafe text.count > 0 && FieldForm.isTopic(text)
    }
}

/// The services of a listener. APNs has the two on different hosts.
struct Services: OptionSet {
    var rawValue: UInt8

    /// Pushes to devices, and broadcasts.
    static let pushes = Services(rawValue: 1)
    /// Channel management.
    static let management = Services(rawValue: 2)
    static let all: Services = [.pushes, .management]
}
