import APNSBatchBasics
import Glibc

/// A provider token taken apart: a JSON Web Token in compact form (RFC 7519; RFC 7515, section 3.1). The signature is
/// not checked here.
@safe struct WebToken {
    var algorithm: String
    var keyID: String
    var issuer: String
    /// Milliseconds since the epoch.
    var issuedAt: Int64
    /// The part that is signed; borrowed from the text.
    var signed: Bytes
    var signature: [UInt8]

    /// The longest token looked at, in bytes.
    static let lengthMaximum = 4096

    /// Nil when the text is not three base64url parts of which the first two are JSON objects with the members that
    /// Apple asks for: `alg` and `kid`, strings; `iss`, a string; `iat`, a number.
    init?(_ text: Bytes) {
        guard text.count <= Self.lengthMaximum,
            let first = unsafe text.firstIndex(of: UInt8(ascii: ".")),
            let second = unsafe text[(first + 1)...].firstIndex(of: UInt8(ascii: ".")),
            let header = unsafe Base64.decodeURL(text.keeping(first)),
            let claims = unsafe Base64.decodeURL(Bytes(rebasing: text[(first + 1)..<second])),
            let signature = unsafe Base64.decodeURL(text.dropping(second + 1)),
            let headerMembers = Members(header), let claimMembers = Members(claims),
            let algorithm = headerMembers.algorithm, let keyID = headerMembers.keyID,
            let issuer = claimMembers.issuer, let issuedAt = claimMembers.issuedAt
        else { return nil }
        self.algorithm = algorithm
        self.keyID = keyID
        self.issuer = issuer
        self.issuedAt = issuedAt
        unsafe self.signed = unsafe text.keeping(second)
        self.signature = signature
    }
}

/// The members of a token's header or claims that matter.
private struct Members {
    var algorithm: String?
    var keyID: String?
    var issuer: String?
    var issuedAt: Int64?

    init?(_ json: [UInt8]) {
        let isRead = unsafe json.withUnsafeBytes { text in
            unsafe JSONScanner.members(of: text) { name, value in
                if name.equals("alg") {
                    algorithm = Self.string(value)
                } else if name.equals("kid") {
                    keyID = Self.string(value)
                } else if name.equals("iss") {
                    issuer = Self.string(value)
                } else if name.equals("iat") {
                    issuedAt = Self.milliseconds(value)
                }
            }
        }
        guard isRead else { return nil }
    }

    /// A string without escapes; identifiers need none.
    private static func string(_ value: JSONValue) -> String? {
        guard value.kind == .string, !value.text.isEscaped else { return nil }
        return unsafe String(decoding: value.text.bytes, as: UTF8.self)
    }

    /// A NumericDate (RFC 7519, section 2), fractions included, within some 30,000 years.
    private static func milliseconds(_ value: JSONValue) -> Int64? {
        guard value.kind == .number else { return nil }
        let text = unsafe String(decoding: value.text.bytes, as: UTF8.self)
        guard let seconds = Double(text), abs(seconds) < 1e12 else { return nil }
        return Int64((seconds * 1000).rounded(.down))
    }
}
