import APNSBatchCredentials
import CAPNSCrypto
import CAPNSIdentities

/// A generated certificate authority and a TLS server certificate that it signed, for the simulator and tests. Clients
/// can verify it like any other certificate.
package struct ServerIdentity: Sendable {
    /// The authority's certificate, for the trusted certificates of clients. Its key was wiped.
    package let caPEM: [UInt8]
    /// The server's certificate, PEM.
    package let certificatePEM: [UInt8]
    /// The server's private key, unencrypted PKCS#8 PEM.
    package let keyPEM: [UInt8]

    /// Creates an identity on P-256, usable as TLS server and as TLS client.
    ///
    /// - Parameters:
    ///   - hosts: The 1 to 64 names that the certificate is for; IPv4 and IPv6 addresses become IP entries of
    ///     subjectAltName (RFC 5280, section 4.2.1.6), all others DNS entries.
    ///   - days: The number of days until it expires, 1 to 36,500. It is valid from one day ago.
    package static func make(hosts: [String], days: Int = 30) throws(CredentialError) -> ServerIdentity {
        precondition((1...36_500).contains(days))
        guard hosts.allSatisfy({ !$0.utf8.contains(0) }) else {
            throw CredentialError(cause: .name, detail: "a host name holds a NUL")
        }
        var identity = unsafe apns_crypto_identity()
        try unsafe CredentialError.check { record in
            unsafe withCStrings(hosts[...]) { names in
                unsafe names.withUnsafeBufferPointer {
                    unsafe apns_crypto_identity_make($0.baseAddress, $0.count, UInt32(days), &identity, record)
                }
            }
        }
        return unsafe ServerIdentity(
            caPEM: take(&identity.authority), certificatePEM: take(&identity.certificate), keyPEM: take(&identity.key))
    }
}

/// A generated, self-signed TLS client certificate, for the simulator and tests. The server trusts the certificate
/// itself.
package struct SelfSignedClient: Sendable {
    /// The certificate, PEM.
    package let certificatePEM: [UInt8]
    /// The private key, unencrypted PKCS#8 PEM.
    package let keyPEM: [UInt8]

    /// Creates a certificate on P-256.
    ///
    /// - Parameters:
    ///   - userID: The UID of the subject, 1 to 200 bytes; for APNs the bundle id.
    ///   - commonName: The CN of the subject, 1 to 200 bytes.
    ///   - days: The number of days until it expires, 1 to 36,500. It is valid from one day ago.
    package static func make(
        userID: String, commonName: String = "apns-batch test client", days: Int = 30
    ) throws(CredentialError) -> SelfSignedClient {
        precondition((1...36_500).contains(days))
        var identity = unsafe apns_crypto_identity()
        try unsafe CredentialError.check { record in
            unsafe userID.withCString { userID in
                unsafe commonName.withCString {
                    unsafe apns_crypto_client_make(userID, $0, UInt32(days), &identity, record)
                }
            }
        }
        unsafe apns_crypto_buffer_free(&identity.authority)
        return unsafe SelfSignedClient(certificatePEM: take(&identity.certificate), keyPEM: take(&identity.key))
    }
}

/// Calls `body` with all texts as C strings, which are valid until it returns.
private func withCStrings<R>(
    _ texts: ArraySlice<String>, _ done: [UnsafePointer<CChar>?] = unsafe [], _ body: ([UnsafePointer<CChar>?]) -> R
) -> R {
    guard let first = texts.first else { return unsafe body(done) }
    return unsafe first.withCString { unsafe withCStrings(texts.dropFirst(), done + [$0], body) }
}
