import CAPNSCrypto

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The digest of the bytes: 32 bytes.
    package static func digest(_ bytes: UnsafeRawBufferPointer) throws(CredentialError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(APNS_CRYPTO_SHA256_BYTES))
        try CredentialError.check { record in
            digest.withUnsafeMutableBufferPointer { digest in
                bytes.withMemoryRebound(to: UInt8.self) { bytes in
                    apns_crypto_sha256(bytes.baseAddress, bytes.count, digest.baseAddress!, record)
                }
            }
        }
        return digest
    }

    /// The digest of the bytes: 32 bytes.
    package static func digest(_ bytes: [UInt8]) throws(CredentialError) -> [UInt8] {
        try bytes.withBytes { (bytes) throws(CredentialError) in try digest(bytes) }
    }
}
