import APNSBatchCredentials
import APNSBatchIdentities

@testable import APNSBatchSimulator

/// A signing key and the tokens signed with it. It does not use the sender's code.
struct TestAuthority {
    static let now: Int64 = 1_700_000_000_000

    let key: SigningKey
    let verification: VerificationKey
    let publicKeyPEM: [UInt8]
    let keyID: String
    let teamID: String

    init(keyID: String = "ABC123DEFG", teamID: String = "TEAM000001") throws {
        key = try SigningKey.generate()
        publicKeyPEM = try key.publicKeyPEM
        verification = try VerificationKey(publicKeyPEM: publicKeyPEM)
        self.keyID = keyID
        self.teamID = teamID
    }

    /// Returns the value of `authorization`. A parameter that is nil gets a valid value.
    func authorization(
        header: String? = nil, claims: String? = nil, issuedAt: Int64 = TestAuthority.now / 1000
    ) throws -> String {
        "bearer " + (try token(header: header, claims: claims, issuedAt: issuedAt))
    }

    func token(header: String? = nil, claims: String? = nil, issuedAt: Int64 = TestAuthority.now / 1000) throws
        -> String
    {
        let header = header ?? #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = claims ?? #"{"iss":"\#(teamID)","iat":\#(issuedAt)}"#
        let signed = base64URL(Array(header.utf8)) + "." + base64URL(Array(claims.utf8))
        return signed + "." + base64URL(try key.sign(Array(signed.utf8)))
    }

    /// The key in the form that the checks need.
    var providerKey: ProviderKey {
        let verification = verification
        return ProviderKey(keyID: keyID, teamID: teamID, team: -1) { message, signature in
            verification.verify(message, signature: signature)
        }
    }

    var configured: SimulatorConfiguration.ProviderKey {
        .init(keyID: keyID, teamID: teamID, publicKeyPEM: publicKeyPEM)
    }
}

/// Encodes bytes as base64url without padding, bit by bit.
func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    while bits.count % 6 != 0 {
        bits.append(0)
    }
    return String(
        stride(from: 0, to: bits.count, by: 6).map { start in
            alphabet[bits[start..<start + 6].reduce(0) { $0 * 2 + Int($1) }]
        })
}
