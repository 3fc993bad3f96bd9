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

    /// Returns the first 16 bytes of the digest of some bytes, as two big-endian numbers. It takes a tenth of a microsecond, and
    /// allocates nothing.
    package static func firstHalf(of bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        var digest = SIMD4<UInt64>()
        unsafe withUnsafeMutableBytes(of: &digest) { digest in
            unsafe apns_crypto_sha256_plain(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
                digest.baseAddress!.assumingMemoryBound(to: UInt8.self))
        }
        return (UInt64(bigEndian: digest[0]), UInt64(bigEndian: digest[1]))
    }
}
