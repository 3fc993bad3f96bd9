import CAPNSCrypto

/// The RSA public key of a recipient, in one of the forms that it comes in: PEM (`PUBLIC KEY` or `RSA PUBLIC KEY`), base64
/// of the DER of either, or that DER itself.
package enum RecipientKey {
    /// Bits of the modulus that are taken.
    package static var bits: ClosedRange<Int> { Int(APNS_CRYPTO_RSA_BITS_MIN)...Int(APNS_CRYPTO_RSA_BITS_MAX) }

    /// Checks a key and tells its bits. Reads the numbers only, which costs little: allocates nothing for a good key.
    package static func check(_ key: UnsafeRawBufferPointer) throws(CredentialError) -> Int {
        var bits: UInt32 = 0
        try unsafe CredentialError.check { record in
            unsafe apns_crypto_recipient_check(
                key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count, &bits, record)
        }
        return Int(bits)
    }
}
