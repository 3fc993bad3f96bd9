import Glibc

/// An IPv4 or IPv6 address with a port.
package struct SocketAddress: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    init(_ pointer: UnsafePointer<sockaddr>, _ length: socklen_t) {
        bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }

    func withPointer<R>(_ body: (UnsafePointer<sockaddr>, UInt32) -> R) -> R {
        unsafe bytes.withUnsafeBytes {
            unsafe body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), UInt32($0.count))
        }
    }

    package var isIPv6: Bool {
        unsafe withPointer { pointer, _ in unsafe Int32(pointer.pointee.sa_family) == AF_INET6 }
    }

    /// The numeric address and port, such as `[::1]:443`.
    package var description: String {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let status = unsafe withPointer { pointer, length in
            unsafe getnameinfo(
                pointer, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                NI_NUMERICHOST | NI_NUMERICSERV)
        }
        guard status == 0 else { return "an address" }
        let text = Self.text(host)
        return (isIPv6 ? "[\(text)]" : text) + ":" + Self.text(port)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Resolves host names with the system's resolver.
package enum HostResolver {
    package struct Failure: Error, CustomStringConvertible, Sendable {
        package let description: String
    }

    /// The maximum number of addresses per host.
    private static let addressesMax = 256

    /// Returns the addresses of a host in the order that the system prefers (RFC 6724), alternating between address
    /// families (RFC 8305, section 4): if one family does not work, every second attempt still uses the other. Blocks:
    /// must not be called on a lane's thread.
    package static func resolve(host: String, port: UInt16) throws(Failure) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            throw Failure(description: unsafe "cannot resolve \(host): \(String(cString: gai_strerror(status)))")
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next, found.count < addressesMax {
            let address = unsafe SocketAddress(entry.pointee.ai_addr, entry.pointee.ai_addrlen)
            if !found.contains(address) { found.append(address) }
            unsafe next = unsafe entry.pointee.ai_next
        }
        guard !found.isEmpty else { throw Failure(description: "\(host) has no address") }
        return alternate(found)
    }

    static func alternate(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        let preferred = addresses.filter { $0.isIPv6 == first.isIPv6 }
        let other = addresses.filter { $0.isIPv6 != first.isIPv6 }
        var mixed: [SocketAddress] = []
        for index in 0..<max(preferred.count, other.count) {
            if index < preferred.count { mixed.append(preferred[index]) }
            if index < other.count { mixed.append(other[index]) }
        }
        return mixed
    }
}
