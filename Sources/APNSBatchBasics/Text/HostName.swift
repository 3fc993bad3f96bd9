import Glibc

/// Names and addresses of hosts.
package enum HostName {
    /// Returns what is wrong with the place of a server; nil if a connection to it can be tried.
    package static func fault(host: String, port: UInt16) -> String? {
        if !isOne(host) { return "expected the name or the address of a host, found \(host.quoted)" }
        return port == 0 ? "expected a port from 1 to 65535, found 0" : nil
    }

    /// Whether a text is an address, or a name of at most 253 letters, digits, hyphens and underscores in labels of at most 63, with or
    /// without a point at its end (RFC 1035, section 2.3.1; underscores occur). An IPv6 address has no brackets, and may have a zone.
    package static func isOne(_ text: String) -> Bool {
        if text.utf8.contains(UInt8(ascii: ":")) { return isIPv6(text) }
        var labels = text.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last == "" { labels.removeLast() }
        return text.utf8.count <= 254
            && labels.allSatisfy { label in
                1...63 ~= label.utf8.count && label.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
            }
    }

    private static func isIPv6(_ text: String) -> Bool {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var bytes = in6_addr()
        let isZone = parts.count == 1 || !parts[1].isEmpty && parts[1].utf8.allSatisfy { 0x21..<0x7F ~= $0 }
        return unsafe isZone && inet_pton(AF_INET6, String(parts[0]), &bytes) == 1
    }
}
