import APNSBatchBasics

/// A provider token that was made elsewhere, so that its key is not needed here. Its form and its age are checked, its signature
/// cannot be.
package struct IssuedToken: Sendable {
    package let token: ProviderToken
    package let issuer: ProviderToken.Issuer

    /// Why a text is not a usable provider token. Descriptions contain no part of it but ids.
    package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case length
        case form
        case header
        case claims
        case identifier(ProviderToken.Fault)
        /// How many seconds in the future it was issued.
        case future(Int64)
        /// How many seconds ago it was issued.
        case expired(Int64)

        package var description: String {
            switch self {
            case .length: "expected at most \(IssuedToken.lengthMax) bytes"
            case .form: "expected three parts in base64url, separated by dots, of which the last one has 64 bytes"
            case .header: "expected a header with \"alg\":\"ES256\" and the key id as \"kid\""
            case .claims: "expected claims with the team id as \"iss\" and the time in seconds as \"iat\""
            case .identifier(let fault): "\(fault)"
            case .future(let seconds):
                "it was issued \(seconds) seconds in the future: check the clocks of both machines"
            case .expired(let seconds): "it was issued \(seconds / 60) minutes ago, and is valid for 60: make a new one"
            }
        }
    }

    /// The maximum length of a token, in bytes. Tokens that Apple describes have some 200.
    package static let lengthMax = 2048
    /// The time for which APNs accepts a token, in seconds (Apple, "Establishing a token-based connection to APNs").
    private static let validity: Int64 = 3600
    /// By how many seconds clocks may differ.
    private static let tolerance: Int64 = 60
    /// 64 bytes in base64url without padding.
    private static let signatureLength = 86

    /// Reads a token in compact serialization (RFC 7515, section 7.1), without blanks.
    ///
    /// - Parameter now: Seconds since 1970-01-01 00:00 UTC.
    package init(_ text: ArraySlice<UInt8>, now: Int64) throws(Fault) {
        guard text.count <= Self.lengthMax else { throw .length }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // The signature is not decoded, so that there is no copy of it that would have to be wiped.
        guard parts.count == 3, let header = Base64.decodeURL(parts[0]), let claims = Base64.decodeURL(parts[1]),
            parts[2].count == Self.signatureLength,
            parts[2].allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { throw .form }
        let (algorithm, keyID) = (Self.member("alg", of: header, .string), Self.member("kid", of: header, .string))
        guard algorithm == "ES256", let keyID else { throw .header }
        guard let teamID = Self.member("iss", of: claims, .string),
            let issuedAt = Self.member("iat", of: claims, .number).flatMap({ Int64($0) })
        else { throw .claims }
        do {
            issuer = try ProviderToken.Issuer(keyID: keyID, teamID: teamID)
        } catch {
            throw .identifier(error)
        }
        guard issuedAt <= now + Self.tolerance else { throw .future(issuedAt - now) }
        guard issuedAt > now - Self.validity else { throw .expired(now - issuedAt) }
        var field: [UInt8] = []
        field.reserveCapacity(7 + text.count)
        field += Array("bearer ".utf8)
        field += text
        token = ProviderToken(authorization: SecretBytes(consuming: &field), issuedAt: issuedAt)
    }

    /// Returns the text of a member of an object, or nil if there is none of this kind.
    private static func member(_ name: String, of json: [UInt8], _ kind: JSONScanner.Token) -> String? {
        unsafe json.withUnsafeBytes { bytes in
            var scanner = unsafe JSONScanner(bytes, top: .object)
            guard scanner.next() == .objectStart else { return nil }
            var found: String?
            while scanner.next() == .key {
                let isWanted = scanner.text == name
                let value = scanner.next()
                if isWanted { found = value == kind ? scanner.text : nil }
                scanner.finish(value)
            }
            return scanner.state == .failed ? nil : found
        }
    }
}
