import APNSBatchCredentials
import CAPNSCrypto
import CAPNSIdentities

/// A public key on P-256 that verifies ES256 signatures (RFC 7518, section 3.4). May be used by several threads at the
/// same time.
@safe package final class VerificationKey: Sendable {
    /// Not modified after init; CAPNSCrypto allows several threads to use a key.
    nonisolated(unsafe) private let handle: OpaquePointer

    /// Reads the first `PUBLIC KEY` block of a PEM text.
    package init(publicKeyPEM pem: [UInt8]) throws(CredentialError) {
        var handle: OpaquePointer?
        try unsafe CredentialError.check { record in
            unsafe pem.span.lent { unsafe apns_crypto_key_read_public($0, $1, &handle, record) }
        }
        unsafe self.handle = unsafe handle!
    }

    deinit {
        unsafe apns_crypto_key_free(handle)
    }

    /// Returns whether a signature (r and s, 32 bytes each) of a message is valid. False for other lengths.
    package func verify(_ message: some Collection<UInt8>, signature: [UInt8]) -> Bool {
        unsafe Array(message).span.lent { text, count in
            unsafe signature.span.lent { unsafe apns_crypto_es256_verify(handle, text, count, $0, $1, nil) == 1 }
        }
    }
}

extension SigningKey {
    /// Generates a key with OpenSSL's random generator.
    package static func generate() throws(CredentialError) -> SigningKey {
        var handle: OpaquePointer?
        try unsafe CredentialError.check { unsafe apns_crypto_key_generate(&handle, $0) }
        return unsafe SigningKey(taking: handle!)
    }

    /// The public key that verifies this key's signatures.
    package var verificationKey: VerificationKey {
        get throws(CredentialError) { try VerificationKey(publicKeyPEM: publicKeyPEM) }
    }
}
