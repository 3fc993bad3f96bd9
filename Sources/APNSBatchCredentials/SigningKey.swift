import CAPNSCrypto

/// A private key on P-256 that signs provider tokens (ES256, RFC 7518, section 3.4).
///
/// Immutable: several threads may sign at the same time. The key is wiped on deinit.
@safe package final class SigningKey: Sendable {
    /// Not modified after init; CAPNSCrypto allows several threads to use a key.
    nonisolated(unsafe) private let handle: OpaquePointer

    /// Takes ownership of an `apns_crypto_key *` with a private key.
    package init(taking handle: OpaquePointer) {
        unsafe self.handle = unsafe handle
    }

    /// Reads a PEM text: PKCS#8, as in Apple's `.p8` files (RFC 5958), encrypted PKCS#8, or SEC 1.
    ///
    /// - Parameters:
    ///   - pem: The whole file.
    ///   - passphrase: At most 1,024 bytes; ignored if the key is not encrypted.
    package convenience init(pem: Span<UInt8>, passphrase: [UInt8]? = nil) throws(CredentialError) {
        var handle: OpaquePointer?
        do throws(CredentialError) {
            try unsafe CredentialError.check { record in
                unsafe pem.lent { pem, count in
                    unsafe withPassphrase(passphrase) {
                        unsafe apns_crypto_key_read_private(pem, count, $0, $1, &handle, record)
                    }
                }
            }
        } catch {
            throw DamagedFile.explain(error, pem, wanted: .signingKey) ?? error
        }
        unsafe self.init(taking: handle!)
    }

    package convenience init(pem: [UInt8], passphrase: [UInt8]? = nil) throws(CredentialError) {
        try self.init(pem: pem.span, passphrase: passphrase)
    }

    deinit {
        unsafe apns_crypto_key_free(handle)
    }
}

extension SigningKey {
    /// The length of a signature, in bytes: r and s, 32 each, big endian.
    package static var signatureBytes: Int { Int(APNS_CRYPTO_ES256_BYTES) }

    /// Signs a message of any length, and returns ``signatureBytes`` bytes.
    package func sign(_ message: [UInt8]) throws(CredentialError) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Self.signatureBytes)
        try unsafe CredentialError.check { record in
            unsafe message.span.lent { unsafe apns_crypto_es256_sign(handle, $0, $1, &signature, record) }
        }
        return signature
    }

    /// The public key as a `PUBLIC KEY` PEM text.
    package var publicKeyPEM: [UInt8] {
        get throws(CredentialError) {
            var buffer = unsafe apns_crypto_buffer()
            try unsafe CredentialError.check { unsafe apns_crypto_key_write_public(handle, &buffer, $0) }
            return unsafe take(&buffer)
        }
    }

    /// The private key as an unencrypted PKCS#8 PEM text, in an array that is not wiped. For generated test keys.
    package var privateKeyPEM: [UInt8] {
        get throws(CredentialError) { try privateKeyPEM(passphrase: nil) }
    }

    /// Returns the private key as an encrypted PKCS#8 PEM text (PBES2, AES-256-CBC); without a passphrase not encrypted.
    package func privateKeyPEM(passphrase: [UInt8]?) throws(CredentialError) -> [UInt8] {
        var buffer = unsafe apns_crypto_buffer()
        try unsafe CredentialError.check { record in
            unsafe withPassphrase(passphrase) { unsafe apns_crypto_key_write_private(handle, $0, $1, &buffer, record) }
        }
        return unsafe take(&buffer)
    }
}
