import CAPNSCommon
import CAPNSCrypto

/// The cipher that encrypts a payload.
package enum ContentCipher: Sendable, CaseIterable {
    /// AES-256-GCM with a nonce of 12 bytes; the tag of 16 bytes follows the ciphertext.
    case aes256gcm
    /// AES-256-CBC with an IV of 16 bytes and PKCS#7 padding.
    case aes256cbc
}

/// The padding of RSA encryption of the payload's key (RFC 8017, section 7).
package enum KeyPadding: Sendable, CaseIterable {
    case oaepSHA256
    case oaepSHA1
    /// RSAES-PKCS1-v1_5, for recipients that do not support OAEP.
    case pkcs1
}

/// Encrypts messages for recipients, each with a fresh AES key and IV from OpenSSL's generator:
///
/// - content: base64 of the AES encryption
/// - secret: base64 of the RSA encryption of 32 bytes of key and then the IV
///
/// May be used by one thread at a time. Keys and IVs are wiped after each message.
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

    /// Sets the recipient of the following messages; see ``RecipientKey`` for the forms of a key. The same key as in
    /// the last call costs only a comparison.
    package func address(_ key: UnsafeRawBufferPointer) throws(CredentialError) {
        var record = apns_error()
        let bytes = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard unsafe apns_crypto_sealer_address(handle, bytes, key.count, &record) == 0 else {
            throw CredentialError(record)
        }
    }

    /// Returns the length of the content for a message, in bytes.
    package func contentLength(of count: Int) -> Int { unsafe apns_crypto_sealer_content_length(handle, count) }

    /// The length of the secret for the recipient, in bytes.
    package var secretLength: Int { unsafe apns_crypto_sealer_secret_length(handle) }

    /// Returns the length of the secret for a key with this number of bits, in bytes.
    package static func secretLength(bits: Int) -> Int { apns_base64_length((bits + 7) / 8) }

    /// The maximum length of a secret, in bytes.
    package static var secretLengthMax: Int { apns_base64_length(Int(APNS_CRYPTO_RSA_BYTES_MAX)) }

    /// Seals a message for the recipient, which must have been set.
    ///
    /// - Parameters:
    ///   - message: The message, which the caller wipes. Must not overlap `content` or `secret`.
    ///   - content: Room for ``contentLength(of:)`` bytes.
    ///   - secret: Room for ``secretLength`` bytes.
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
