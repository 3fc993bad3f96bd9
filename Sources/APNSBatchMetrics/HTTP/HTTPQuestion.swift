/// A GET or HEAD request of HTTP/1, read only as far as an answer depends on it.
///
/// Source: RFC 9112, sections 3 and 5.
package struct HTTPQuestion: Sendable, Equatable {
    /// The maximum length of a request line with its header fields, in bytes.
    package static let limit = 8192

    /// Whether the answer has no body.
    package var isHead: Bool
    /// The path without the query.
    package var path: String
    /// The value of the header field `accept`; nil if there is none.
    package var accept: String?

    /// Why a request cannot be answered: its status.
    package enum Fault: UInt16, Error {
        case malformed = 400
        case otherMethod = 405
    }

    /// Reads a request.
    ///
    /// - Parameter head: The bytes up to and including the empty line, or up to some other place if there is none.
    package init(_ head: [UInt8]) throws(Fault) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        let parts = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1."), parts[1].hasPrefix("/"),
            lines.count >= 3, lines.suffix(2).allSatisfy(\.isEmpty)
        else { throw .malformed }
        guard parts[0] == "GET" || parts[0] == "HEAD" else { throw .otherMethod }
        isHead = parts[0] == "HEAD"
        path = String(parts[1].prefix { $0 != "?" })
        let values = lines.dropFirst().compactMap { Self.value(of: "accept", in: $0) }
        accept = values.isEmpty ? nil : values.joined(separator: ",")
    }

    private static func value(of name: String, in line: Substring) -> String? {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return String(value)
    }
}
