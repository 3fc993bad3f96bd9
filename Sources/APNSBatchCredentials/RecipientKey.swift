import CAPNSCrypto

/// The RSA public key of a recipient: PEM (`PUBLIC KEY` or `RSA PUBLIC KEY`), base64 of the DER of either, or that DER
/// itself.
package enum RecipientKey {
    /// The allowed sizes of a key, in bits.
    package static var bits: ClosedRange<Int> { Int(APNS_CRYPTO_RSA_BITS_MIN)...Int(APNS_CRYPTO_RSA_BITS_MAX) }

    /// Checks a key and returns its size in bits. Parses only its numbers, without allocating memory for a valid key.
    package static func check(_ key: UnsafeRawBufferPointer) throws(CredentialError) -> Int {
        var bits: UInt32 = 0
        try unsafe CredentialError.check { record in
            unsafe apns_crypto_recipient_check(
                key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count, &bits, record)
        }
        return Int(bits)
    }
}
