import Glibc

/// A numeric address and a port to listen on. Names are not resolved, so that it is certain who can connect.
struct ListeningAddress: Sendable {
    let host: String
    let port: UInt16
    let isIPv6: Bool

    static let form = "a port, or a numeric ADDRESS:PORT such as 127.0.0.1:9464 or [::1]:9464"

    /// Reads `PORT`, which is on 127.0.0.1, `ADDRESS:PORT` or `[ADDRESS]:PORT`; returns nil for a text of another form.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.last, let port = UInt16(last) else { return nil }
        let host = parts.count == 1 ? "127.0.0.1" : parts.dropLast().joined(separator: ":")
        isIPv6 = host.hasPrefix("[") && host.hasSuffix("]")
        self.port = port
        self.host = isIPv6 ? String(host.dropFirst().dropLast()) : host
        var bytes = in6_addr()
        guard inet_pton(family, self.host, &bytes) == 1 else { return nil }
    }

    var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }

    /// The beginning of a URL.
    func url(port: UInt16) -> String { "http://\(isIPv6 ? "[\(host)]" : host):\(port)" }

    /// Calls `body` with the address as the system has it.
    func withSystemAddress<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        if isIPv6 {
            var address = sockaddr_in6()
            (address.sin6_family, address.sin6_port) = (sa_family_t(AF_INET6), port.bigEndian)
            inet_pton(AF_INET6, host, &address.sin6_addr)
            return Self.lend(&address, body)
        }
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
        inet_pton(AF_INET, host, &address.sin_addr)
        return Self.lend(&address, body)
    }

    private static func lend<Address, Value>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
        }
    }
}
