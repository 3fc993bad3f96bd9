import CAPNSCrypto

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Returns the digest of the bytes, which has 32 bytes.
    package static func digest(_ bytes: [UInt8]) throws(CredentialError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(APNS_CRYPTO_SHA256_BYTES))
        try unsafe CredentialError.check { record in
            unsafe bytes.span.lent { unsafe apns_crypto_sha256($0, $1, &digest, record) }
        }
        return digest
    }
}
