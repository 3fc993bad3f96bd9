import APNSBatchBasics

/// A provider token: a JSON Web Token (RFC 7519) signed with ES256 (RFC 7518 section 3.4), as Apple asks in
/// "Establishing a token-based connection to APNs". Good for one hour from `issuedAt`. A secret: not for logs.
package struct ProviderToken: Sendable {
    /// The value of the field `authorization`: `bearer ` and the compact form (RFC 7515 section 7.1), three parts in base64url
    /// with dots between them.
    package let authorization: SecretBytes
    /// Seconds since 1970-01-01 00:00 UTC.
    package let issuedAt: Int64
}

extension ProviderToken {
    /// Why no token can be made with an identifier.
    package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case keyID
        case teamID

        package var description: String {
            let what = self == .keyID ? "the key id" : "the team id"
            return "\(what) must have 1 to \(Issuer.identifierMax) letters and digits (Apple's have 10)"
        }
    }

    /// Who signs: a key and the team it belongs to.
    package struct Issuer: Hashable, Sendable {
        /// The most characters of an identifier. Apple's have 10; more are taken in case that changes.
        package static let identifierMax = 64

        package let keyID: String
        package let teamID: String

        package init(keyID: String, teamID: String) throws(Fault) {
            guard Self.isIdentifier(keyID) else { throw .keyID }
            guard Self.isIdentifier(teamID) else { throw .teamID }
            self.keyID = keyID
            self.teamID = teamID
        }

        /// ASCII letters and digits: nothing that JSON would have to escape.
        private static func isIdentifier(_ text: String) -> Bool {
            (1...identifierMax).contains(text.utf8.count)
                && text.unicodeScalars.allSatisfy {
                    $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
                }
        }
    }

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - issuer: key and team.
    ///   - issuedAt: seconds since 1970-01-01 00:00 UTC.
    ///   - sign: ES256 over the bytes: 64 bytes, r and then s.
    /// - Throws: what `sign` throws.
    package static func make<E: Error>(
        issuer: Issuer, issuedAt: Int64, sign: ([UInt8]) throws(E) -> [UInt8]
    ) throws(E) -> ProviderToken {
        let header = #"{"alg":"ES256","kid":"\#(issuer.keyID)"}"#
        let claims = #"{"iss":"\#(issuer.teamID)","iat":\#(issuedAt)}"#
        let dot = UInt8(ascii: ".")
        let signed = Base64.encodeURL(Array(header.utf8)) + [dot] + Base64.encodeURL(Array(claims.utf8))
        // Without the signature the token is no secret.
        var signature = try sign(signed)
        precondition(signature.count == 64, "an ES256 signature has 64 bytes")
        var last = Base64.encodeURL(signature)
        var text = Array("bearer ".utf8) + signed + [dot]
        // So that adding the last part does not move the array.
        text.reserveCapacity(text.count + last.count)
        text += last
        SecretBytes.wipe(&signature)
        SecretBytes.wipe(&last)
        return ProviderToken(authorization: SecretBytes(consuming: &text), issuedAt: issuedAt)
    }
}
