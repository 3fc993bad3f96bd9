import CAPNSCommon
import CAPNSCrypto

/// How a payload is encrypted.
package enum ContentCipher: Sendable, CaseIterable {
    /// The tag of 16 bytes follows the ciphertext; a nonce of 12 bytes.
    case aes256gcm
    /// Filled up as PKCS#7 says; an IV of 16 bytes.
    case aes256cbc
}

/// How the payload's key is filled up before RSA encrypts it (RFC 8017 section 7).
package enum KeyPadding: Sendable, CaseIterable {
    case oaepSHA256
    case oaepSHA1
    /// RSAES-PKCS1-v1_5, for recipients that know nothing better.
    case pkcs1
}

/// Encrypts messages for recipients, each with a fresh AES key and IV from OpenSSL's generator:
///
/// - content: base64 of the AES encryption
/// - secret: base64 of the RSA encryption of 32 bytes of key and then the IV
///
/// Belongs to one thread at a time. Keys and IVs are wiped as soon as a message is sealed.
@safe package final class PayloadSealer {
    private let handle: OpaquePointer

    package init(cipher: ContentCipher = .aes256gcm, padding: KeyPadding = .oaepSHA256) throws(CredentialError) {
        var handle: OpaquePointer?
        try unsafe CredentialError.check { record in
            unsafe apns_crypto_sealer_make(cipher.code, padding.code, &handle, record)
        }
        unsafe self.handle = unsafe handle!
    }

    deinit { unsafe apns_crypto_sealer_free(handle) }

    /// Takes the recipient of the next messages; see ``RecipientKey`` for the forms of a key. The same key as the last
    /// time costs a comparison.
    package func address(_ key: UnsafeRawBufferPointer) throws(CredentialError) {
        var record = apns_error()
        let bytes = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard unsafe apns_crypto_sealer_address(handle, bytes, key.count, &record) == 0 else {
            throw CredentialError(record)
        }
    }

    /// Bytes of the content of a message.
    package func contentLength(of count: Int) -> Int { unsafe apns_crypto_sealer_content_length(handle, count) }

    /// Bytes of a secret for the recipient.
    package var secretLength: Int { unsafe apns_crypto_sealer_secret_length(handle) }

    /// Bytes of a secret for a recipient with a key of so many bits.
    package static func secretLength(bits: Int) -> Int { apns_base64_length((bits + 7) / 8) }

    /// The longest secret that any recipient may have.
    package static var secretLengthMax: Int { apns_base64_length(Int(APNS_CRYPTO_RSA_BYTES_MAX)) }

    /// Seals a message for the recipient, which must have been set.
    ///
    /// - Parameters:
    ///   - message: wiping it is the caller's business. Must not overlap the rooms.
    ///   - content: room for ``contentLength(of:)`` bytes.
    ///   - secret: room for ``secretLength`` bytes.
    package func seal(
        _ message: UnsafeRawBufferPointer, content: UnsafeMutableRawBufferPointer,
        secret: UnsafeMutableRawBufferPointer
    ) throws(CredentialError) {
        precondition(content.count >= contentLength(of: message.count) && secret.count >= secretLength)
        var record = apns_error()
        let status = unsafe apns_crypto_sealer_seal(
            handle, message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count,
            content.baseAddress?.assumingMemoryBound(to: UInt8.self),
            secret.baseAddress?.assumingMemoryBound(to: UInt8.self), &record)
        guard status == 0 else { throw CredentialError(record) }
    }
}

extension ContentCipher {
    fileprivate var code: Int32 {
        switch self {
        case .aes256gcm: Int32(APNS_CRYPTO_CIPHER_AES256_GCM.rawValue)
        case .aes256cbc: Int32(APNS_CRYPTO_CIPHER_AES256_CBC.rawValue)
        }
    }
}

extension KeyPadding {
    fileprivate var code: Int32 {
        switch self {
        case .oaepSHA256: Int32(APNS_CRYPTO_PADDING_OAEP_SHA256.rawValue)
        case .oaepSHA1: Int32(APNS_CRYPTO_PADDING_OAEP_SHA1.rawValue)
        case .pkcs1: Int32(APNS_CRYPTO_PADDING_PKCS1.rawValue)
        }
    }
}
