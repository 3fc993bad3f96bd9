import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchNotification

/// Provider tokens: JSON Web Tokens, signed with ES256.
enum TokenBenchmark {
    private static let tokensMax = 1000

    static func figures(_ inputs: Inputs) throws -> [Figure] {
        let key = try SigningKey.generate()
        let count = min(tokensMax, inputs.rows)
        let nanoseconds = try Repetitions.median {
            for second in 0..<count { _ = try make(key, issuedAt: Int64(second)) }
        }
        try check(key)
        return [Figure("token.signed", Double(count) * 1e9 / nanoseconds, "tokens/s")]
    }

    /// As long as a real one.
    static func make(_ key: SigningKey, issuedAt second: Int64) throws -> ProviderToken {
        let issuer = try ProviderToken.Issuer(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        return try ProviderToken.make(issuer: issuer, issuedAt: 1_700_000_000 + second) {
            (bytes) throws(CredentialError) in try key.sign(bytes)
        }
    }

    private static func check(_ key: SigningKey) throws {
        let message = Array("a message".utf8)
        guard try key.verificationKey.verify(message, signature: key.sign(message)) else {
            throw BenchmarkFailure("a signature that does not hold")
        }
    }
}
