/// A server in a text: `HOST:PORT`, with an IPv6 address in brackets.
package struct HostAndPort: Equatable, Sendable {
    /// The name, or the address without brackets.
    package let host: String
    /// 1 to 65535.
    package let port: UInt16

    /// Returns nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard HostName.isOne(String(host)) else { return nil }
        (self.host, self.port) = (String(host), port)
    }
}
