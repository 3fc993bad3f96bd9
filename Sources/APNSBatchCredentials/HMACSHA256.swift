import APNSBatchBasics
import CAPNSCrypto

/// HMAC-SHA256 (RFC 2104 with FIPS 180-4).
package enum HMACSHA256 {
    /// Returns the authentication code of the message, which has 32 bytes.
    package static func code(of message: [UInt8], key: SecretBytes) throws(CredentialError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(APNS_CRYPTO_SHA256_BYTES))
        try key.withSpan { (key) throws(CredentialError) -> Void in
            try unsafe CredentialError.check { record in
                unsafe key.lent { key, keyLength in
                    unsafe message.span.lent { message, length in
                        unsafe apns_crypto_hmac_sha256(key, keyLength, message, length, &code, record)
                    }
                }
            }
        }
        return code
    }
}
