import CCrypto

/// A TLS client certificate with its private key, checked to belong together.
package struct ClientCertificate: Sendable {
    /// The chain as given, own certificate first, PEM.
    package let certificatePEM: [UInt8]
    /// The private key as plain PKCS#8 PEM, also when it was given encrypted; wiped with the last reference.
    package let keyPEM: SecretBytes
    /// What the own certificate says of itself.
    package let facts: CertificateFacts

    /// Reads a chain and its key, of any algorithm that OpenSSL knows.
    ///
    /// - Parameters:
    ///   - pem: one or more certificates, own first. May hold the private key too, as `openssl pkcs12` writes it.
    ///   - keyPEM: the private key, when it is in a file of its own.
    ///   - passphrase: of the key, at most 1,024 bytes; ignored when the key is not encrypted.
    package init(pem: [UInt8], keyPEM: [UInt8]? = nil, passphrase: [UInt8]? = nil) throws(CredentialError) {
        var record = crypto_certificate_facts()
        var plain = crypto_buffer()
        defer { crypto_buffer_free(&plain) }
        try CredentialError.check { error in
            pem.withUnsafeBufferPointer { chain in
                (keyPEM ?? pem).withUnsafeBufferPointer { key in
                    withPassphrase(passphrase) { passphrase, length in
                        crypto_certificate_match(
                            chain.baseAddress, chain.count, key.baseAddress, key.count, passphrase, length, &record,
                            &plain, error)
                    }
                }
            }
        }
        self.certificatePEM = pem
        self.keyPEM = SecretBytes(copying: UnsafeRawBufferPointer(start: plain.bytes, count: plain.length))
        self.facts = CertificateFacts(record)
    }
}

/// What a certificate says of itself.
package struct CertificateFacts: Equatable, Sendable {
    /// First and last second of validity, seconds since 1970-01-01 00:00 UTC.
    package let notBefore: Int64
    package let notAfter: Int64
    /// Common name of the subject, empty if there is none.
    package let commonName: String
    /// UID of the subject, empty if there is none. APNs certificates carry the bundle id or the MDM topic here.
    package let userID: String

    /// Reads the first certificate of a PEM text.
    package init(pem: [UInt8]) throws(CredentialError) {
        var record = crypto_certificate_facts()
        try CredentialError.check { error in
            pem.withUnsafeBufferPointer { crypto_certificate_read($0.baseAddress, $0.count, &record, error) }
        }
        self.init(record)
    }

    init(_ record: crypto_certificate_facts) {
        notBefore = record.not_before
        notAfter = record.not_after
        commonName = Self.text(record.common_name)
        userID = Self.text(record.user_id)
    }

    private static func text<T>(_ field: T) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
