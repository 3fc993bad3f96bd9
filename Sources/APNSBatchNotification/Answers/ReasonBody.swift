/// The body of a refusal, `{"reason":"…","timestamp":…}`, read with tolerance: members in any order, others among them,
/// white space, a body cut short. What makes no sense is left out, never a failure.
///
/// Source: Apple, "Handling notification responses from APNs".
package struct ReasonBody: Equatable, Sendable {
    package var reason: Reason?
    /// Milliseconds since 1970-01-01 00:00 UTC.
    package var timestamp: Int64?

    package init(reason: Reason? = nil, timestamp: Int64? = nil) {
        self.reason = reason
        self.timestamp = timestamp
    }

    /// Reads a body. No allocation when the reason is known and written without escapes. Complexity: O(n).
    package static func parse(_ body: UnsafeRawBufferPointer) -> ReasonBody {
        var result = ReasonBody()
        var scanner = ReasonScanner(body)
        guard scanner.take(UInt8(ascii: "{")) else { return result }
        while let name = scanner.string(), scanner.take(UInt8(ascii: ":")) {
            if name.isExactly("reason"), let text = scanner.string() {
                result.reason = text.bytes.isEmpty ? nil : text.reason
            } else if name.isExactly("timestamp"), let number = scanner.integer() {
                result.timestamp = number
            } else if !scanner.skipValue() {
                break
            }
            guard scanner.take(UInt8(ascii: ",")) else { break }
        }
        return result
    }
}
