/// A host of APNs and its ports.
///
/// Source: Apple, "Sending notification requests to APNs" and "Sending channel management requests to APNs".
package struct APNSHost: Equatable, Sendable {
    package enum Use: Equatable, Sendable {
        /// Pushes to devices, and broadcasts.
        case push
        /// Creating, reading and deleting broadcast channels.
        case channelManagement
    }

    /// An environment of APNs. A device token belongs to one of them.
    package enum Environment: Equatable, Sendable, CaseIterable {
        case production
        case sandbox
    }

    package let use: Use
    package let environment: Environment
    package let name: String
    /// The default port, then the alternatives.
    package let ports: [UInt16]

    package static let all = [
        APNSHost(use: .push, environment: .production, name: "api.push.apple.com", ports: [443, 2197]),
        APNSHost(use: .push, environment: .sandbox, name: "api.sandbox.push.apple.com", ports: [443, 2197]),
        APNSHost(
            use: .channelManagement, environment: .production, name: "api-manage-broadcast.push.apple.com",
            ports: [2196]),
        APNSHost(
            use: .channelManagement, environment: .sandbox, name: "api-manage-broadcast.sandbox.push.apple.com",
            ports: [2195]),
    ]

    package static func push(_ environment: Environment) -> APNSHost {
        all.first { $0.use == .push && $0.environment == environment }!
    }

    package static func channelManagement(_ environment: Environment) -> APNSHost {
        all.first { $0.use == .channelManagement && $0.environment == environment }!
    }

    /// Returns the value of `:authority`: the host, in brackets if it is an IPv6 address, and the port unless it is 443,
    /// the default of the scheme (RFC 9113 section 8.3.1, RFC 3986 section 3.2).
    package static func authority(host: String, port: UInt16) -> String {
        port == 443 ? bracketed(host) : endpoint(host: host, port: port)
    }

    /// Returns host and port in the form used in messages and CONNECT requests: `api.push.apple.com:443`.
    package static func endpoint(host: String, port: UInt16) -> String { "\(bracketed(host)):\(port)" }

    private static func bracketed(_ host: String) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    }
}
