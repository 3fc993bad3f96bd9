import APNSBatchBasics

/// A provider token: a JSON Web Token (RFC 7519) signed with ES256 (RFC 7518 section 3.4), as specified by Apple in
/// "Establishing a token-based connection to APNs". It is valid for one hour from `issuedAt`. It is secret and must not be
/// logged.
package struct ProviderToken: Sendable {
    /// The value of the header `authorization`: `bearer ` and the compact serialization (RFC 7515 section 7.1), three parts
    /// in base64url separated by dots.
    package let authorization: SecretBytes
    /// Seconds since 1970-01-01 00:00 UTC.
    package let issuedAt: Int64
}

extension ProviderToken {
    /// Why an identifier cannot be used in a token.
    package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case keyID
        case teamID

        package var description: String {
            let what = self == .keyID ? "the key id" : "the team id"
            return "\(what) must have 1 to \(Issuer.identifierMax) letters and digits (Apple's have 10)"
        }
    }

    /// The issuer of a token: a key and its team.
    package struct Issuer: Hashable, Sendable {
        /// The maximum length of an identifier. Apple's have 10 characters; more are accepted in case that changes.
        package static let identifierMax = 64

        package let keyID: String
        package let teamID: String

        package init(keyID: String, teamID: String) throws(Fault) {
            guard Self.isIdentifier(keyID) else { throw .keyID }
            guard Self.isIdentifier(teamID) else { throw .teamID }
            self.keyID = keyID
            self.teamID = teamID
        }

        /// Whether the text consists of ASCII letters and digits, which need no escapes in JSON.
        private static func isIdentifier(_ text: String) -> Bool {
            (1...identifierMax).contains(text.utf8.count)
                && text.unicodeScalars.allSatisfy {
                    $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
                }
        }
    }

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - issuer: the key and its team.
    ///   - issuedAt: seconds since 1970-01-01 00:00 UTC.
    ///   - sign: signs bytes with ES256, and returns 64 bytes, r followed by s.
    /// - Throws: the error of `sign`.
    package static func make<E: Error>(
        issuer: Issuer, issuedAt: Int64, sign: ([UInt8]) throws(E) -> [UInt8]
    ) throws(E) -> ProviderToken {
        let header = #"{"alg":"ES256","kid":"\#(issuer.keyID)"}"#
        let claims = #"{"iss":"\#(issuer.teamID)","iat":\#(issuedAt)}"#
        let dot = UInt8(ascii: ".")
        let signed = Base64.encodeURL(Array(header.utf8)) + [dot] + Base64.encodeURL(Array(claims.utf8))
        // Without the signature the token is not secret.
        var signature = try sign(signed)
        precondition(signature.count == 64, "an ES256 signature has 64 bytes")
        var last = Base64.encodeURL(signature)
        var text = Array("bearer ".utf8) + signed + [dot]
        // Ensures that appending the last part does not reallocate the array.
        text.reserveCapacity(text.count + last.count)
        text += last
        SecretBytes.wipe(&signature)
        SecretBytes.wipe(&last)
        return ProviderToken(authorization: SecretBytes(consuming: &text), issuedAt: issuedAt)
    }
}
