import APNSBatchCredentials
import CAPNSCrypto
import CAPNSIdentities

/// A public key on P-256 that verifies ES256 signatures (RFC 7518 section 3.4). Usable by several threads at once.
package final class VerificationKey: Sendable {
    /// Never changed after init, and CAPNSCrypto allows one key on several threads.
    nonisolated(unsafe) private let handle: OpaquePointer

    /// Reads the first `PUBLIC KEY` block of a PEM text.
    package init(publicKeyPEM pem: [UInt8]) throws(CredentialError) {
        var handle: OpaquePointer?
        try CredentialError.check { record in
            pem.withUnsafeBufferPointer { pem in
                pem.neverNull { apns_crypto_key_read_public($0, pem.count, &handle, record) }
            }
        }
        self.handle = handle!
    }

    deinit {
        apns_crypto_key_free(handle)
    }

    /// Whether the signature (r and s, 32 bytes each) is this key's for the message. False for one of another length.
    package func verify(_ message: UnsafeRawBufferPointer, signature: UnsafeRawBufferPointer) -> Bool {
        message.withMemoryRebound(to: UInt8.self) { message in
            signature.withMemoryRebound(to: UInt8.self) { signature in
                message.neverNull { text in
                    signature.neverNull {
                        apns_crypto_es256_verify(handle, text, message.count, $0, signature.count, nil) == 1
                    }
                }
            }
        }
    }

    /// Whether the signature (r and s, 32 bytes each) is this key's for the message. False for one of another length.
    package func verify(_ message: [UInt8], signature: [UInt8]) -> Bool {
        message.withUnsafeBytes { message in
            signature.withUnsafeBytes { verify(message, signature: $0) }
        }
    }
}

extension SigningKey {
    /// Makes a new key from the library's random generator.
    package static func generate() throws(CredentialError) -> SigningKey {
        var handle: OpaquePointer?
        try CredentialError.check { apns_crypto_key_generate(&handle, $0) }
        return SigningKey(taking: handle!)
    }

    /// What verifies this key's signatures.
    package var verificationKey: VerificationKey {
        get throws(CredentialError) { try VerificationKey(publicKeyPEM: publicKeyPEM) }
    }
}
