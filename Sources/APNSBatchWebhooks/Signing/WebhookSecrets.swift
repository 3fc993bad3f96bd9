import APNSBatchBasics
import APNSBatchCredentials

/// The secrets with which the requests to an endpoint are signed, as Standard Webhooks specifies. There are several while the receiver
/// replaces one by another: each makes a signature of its own.
package struct WebhookSecrets: Sendable {
    /// A file of secrets is wrong. The text does not contain a secret.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    private let keys: [SecretBytes]

    private static let prefix = Array("whsec_".utf8)
    private static let keyLengths = 24...64

    /// Reads the content of a file that has one secret in each line: `whsec_` and the base64 of 24 to 64 bytes. Empty lines are
    /// skipped.
    package init(file: [UInt8]) throws(Fault) {
        var keys: [SecretBytes] = []
        for (index, line) in file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let text = Self.trimmed(line)
            if text.isEmpty { continue }
            guard let key = Self.key(text) else {
                throw Fault(description: "line \(index + 1): expected whsec_ and the base64 of 24 to 64 bytes")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw Fault(description: "expected a secret in each line, found none") }
        self.keys = keys
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool {
            [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains(byte)
        }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return line
    }

    private static func key(_ text: ArraySlice<UInt8>) -> SecretBytes? {
        guard text.starts(with: prefix) else { return nil }
        var code = Array(text.dropFirst(prefix.count))
        defer { SecretBytes.wipe(&code) }
        guard var key = Base64.decode(code) else { return nil }
        let secret = SecretBytes(consuming: &key)
        return keyLengths.contains(secret.count) ? secret : nil
    }

    /// Returns the value of the header field `webhook-signature`: `v1,` and the base64 of the HMAC-SHA256 over
    /// `id.timestamp.body`, once for each secret, separated by blanks.
    ///
    /// - Parameters:
    ///   - id: The value of the header field `webhook-id`.
    ///   - timestamp: The value of `webhook-timestamp`, in seconds since 1970-01-01 00:00 UTC.
    package func signature(id: String, timestamp: Int64, body: String) throws -> String {
        let message = Array("\(id).\(timestamp).\(body)".utf8)
        var signatures: [String] = []
        for key in keys {
            let code = try HMACSHA256.code(of: message, key: key)
            signatures.append("v1," + String(decoding: Base64.encode(code), as: UTF8.self))
        }
        return signatures.joined(separator: " ")
    }
}
