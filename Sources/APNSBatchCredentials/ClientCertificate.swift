import CAPNSCrypto

/// A TLS client certificate with its private key, checked to belong together.
package struct ClientCertificate: Sendable {
    /// The chain as given, own certificate first, PEM; without the private key that may stand in the same file.
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
        var record = apns_crypto_certificate_facts()
        var plain = apns_crypto_buffer()
        defer { apns_crypto_buffer_free(&plain) }
        try CredentialError.check { error in
            pem.withUnsafeBufferPointer { chain in
                (keyPEM ?? pem).withUnsafeBufferPointer { key in
                    withPassphrase(passphrase) { passphrase, length in
                        apns_crypto_certificate_match(
                            chain.baseAddress, chain.count, key.baseAddress, key.count, passphrase, length, &record,
                            &plain, error)
                    }
                }
            }
        }
        self.certificatePEM = Self.withoutPrivateKeys(pem)
        self.keyPEM = SecretBytes(copying: UnsafeRawBufferPointer(start: plain.bytes, count: plain.length))
        self.facts = CertificateFacts(record)
    }

    /// Reads a PKCS#12 file (`.p12`, `.pfx`): key, certificate and chain under one passphrase.
    ///
    /// - Parameter passphrase: at most 1,024 bytes; nil for a file that was made without one.
    package init(pkcs12: [UInt8], passphrase: [UInt8]? = nil) throws(CredentialError) {
        var chain = apns_crypto_buffer()
        var key = apns_crypto_buffer()
        defer { apns_crypto_buffer_free(&key) }
        try CredentialError.check { error in
            pkcs12.withUnsafeBufferPointer { file in
                withPassphrase(passphrase) { passphrase, length in
                    apns_crypto_pkcs12_read(file.baseAddress, file.count, passphrase, length, &chain, &key, error)
                }
            }
        }
        certificatePEM = take(&chain)
        keyPEM = SecretBytes(copying: UnsafeRawBufferPointer(start: key.bytes, count: key.length))
        facts = try CertificateFacts(pem: certificatePEM)
    }

    /// Reads either form, told apart by content: PKCS#12 is DER, which no text begins like. A PKCS#12 file brings its own
    /// key.
    package init(
        file: [UInt8], keyPEM: [UInt8]? = nil, passphrase: [UInt8]? = nil
    ) throws(CredentialError) {
        if Self.isPKCS12(file) {
            try self.init(pkcs12: file, passphrase: passphrase)
        } else {
            try self.init(pem: file, keyPEM: keyPEM, passphrase: passphrase)
        }
    }

    /// A PEM text without its blocks of private keys, whatever their kind.
    static func withoutPrivateKeys(_ pem: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(pem.count)
        var isInside = false
        for line in pem.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if isMarker(line, "-----BEGIN ") { isInside = true }
            if !isInside {
                kept += line
                kept.append(UInt8(ascii: "\n"))
            }
            if isMarker(line, "-----END ") { isInside = false }
        }
        // One line end too many, unless the text ended inside of a block.
        if kept.last == UInt8(ascii: "\n") { kept.removeLast() }
        return kept
    }

    private static func isMarker(_ line: ArraySlice<UInt8>, _ start: String) -> Bool {
        line.starts(with: start.utf8) && String(decoding: line, as: UTF8.self).contains("PRIVATE KEY-----")
    }

    private static func isPKCS12(_ file: [UInt8]) -> Bool { file.count > 1 && file[0] == 0x30 && file[1] >= 0x80 }
}
