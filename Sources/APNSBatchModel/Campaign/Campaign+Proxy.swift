import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchNotification

extension Campaign {
    /// An HTTP proxy through which connections are made (CONNECT, RFC 9110, section 9.3.6). The proxy learns the host and
    /// port of APNs, but none of the contents, since TLS ends at APNs.
    public struct Proxy: Sendable, Equatable {
        /// The name or address of the proxy.
        public var host: String
        /// The port of the proxy.
        public var port: UInt16
        /// The user name for Basic authentication (RFC 7617), with ``password``; nil for no authentication. It must not
        /// contain a colon.
        public var user: String?
        /// The password, which is sent to the proxy unencrypted.
        public var password: String

        /// Creates a proxy, without authentication unless a user is given.
        public init(host: String, port: UInt16, user: String? = nil, password: String = "") {
            self.host = host
            self.port = port
            self.user = user
            self.password = password
        }
    }
}

extension Campaign.Proxy: CustomStringConvertible, CustomDebugStringConvertible {
    /// Host and port, without user and password.
    public var description: String { APNSHost.endpoint(host: host, port: port) }
    /// The same as ``description``, so that no log has the password.
    public var debugDescription: String { description }
}

extension Campaign.Proxy {
    /// Returns the CONNECT request for a connection to `authority`, such as `api.push.apple.com:443`.
    ///
    /// - Throws: A `configuration` error if host or port are invalid, or if user or password contain characters that are not allowed, or are
    ///   too long.
    package func request(to authority: String) throws(CampaignError) -> [UInt8] {
        if let fault = HostName.fault(host: host, port: port) { throw CampaignError(.configuration, "proxy: \(fault)") }
        var text = "CONNECT \(authority) HTTP/1.1\r\nhost: \(authority)\r\n"
        if let user {
            guard !user.contains(":"), !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw CampaignError(
                    .configuration,
                    "proxy: user and password must not contain control characters, and the user no colon")
            }
            let pair = String(decoding: Base64.encode(Array("\(user):\(password)".utf8)), as: UTF8.self)
            text += "proxy-authorization: Basic \(pair)\r\n"
        }
        guard text.utf8.count <= 4096 else {
            throw CampaignError(.configuration, "proxy: the user or the password is too long")
        }
        return Array((text + "\r\n").utf8)
    }
}

extension Campaign.Proxy {
    /// Parses `http://HOST:PORT` or `http://USER@HOST:PORT`, with an IPv6 address in brackets, and perhaps `/` at the end. In the user,
    /// `%` and two hexadecimal digits are a byte. Returns nil for any other text, and for one with a password.
    public init?(_ text: String) {
        let start = "http://"
        guard text.hasPrefix(start) else { return nil }
        let rest = text.dropFirst(start.count)
        let parts = (rest.hasSuffix("/") ? rest.dropLast() : rest).split(
            separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let place = parts.last.flatMap({ HostAndPort($0) }) else { return nil }
        let user = parts.count == 2 ? PercentEncoding.decode(parts[0]) : nil
        guard parts.count == 1 || user != nil, user?.contains(":") != true, !parts[0].isEmpty else { return nil }
        self.init(host: place.host, port: place.port, user: user)
    }
}
