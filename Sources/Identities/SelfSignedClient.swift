import CCrypto

/// A client certificate that signs itself, made for the occasion: what a client of an embedded server needs that asks
/// for one. The server trusts the certificate itself.
package struct SelfSignedClient: Sendable {
    /// PEM; also what the server has to trust.
    package let certificatePEM: [UInt8]
    /// The private key, plain PKCS#8 PEM.
    package let keyPEM: [UInt8]

    /// - Parameters:
    ///   - userID: the UID of the subject, 1 to 200 bytes; for APNs the app.
    ///   - commonName: the CN of the subject, 1 to 200 bytes.
    ///   - days: how long it is valid, from one day ago, 1 to 36,500.
    package static func make(
        userID: String, commonName: String = "apns-batch test client", days: Int = 30
    ) throws(CredentialError) -> SelfSignedClient {
        precondition((1...36_500).contains(days))
        var identity = crypto_identity()
        try CredentialError.check { record in
            userID.withCString { userID in
                commonName.withCString { crypto_client_make(userID, $0, UInt32(days), &identity, record) }
            }
        }
        crypto_buffer_free(&identity.authority)
        return SelfSignedClient(certificatePEM: take(&identity.certificate), keyPEM: take(&identity.key))
    }
}
