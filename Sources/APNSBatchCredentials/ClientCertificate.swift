import APNSBatchBasics
import CAPNSCrypto

/// A TLS client certificate with the private key that matches it.
package struct ClientCertificate: Sendable {
    /// The chain as given, own certificate first, PEM, without private keys.
    package let certificatePEM: [UInt8]
    /// The private key as unencrypted PKCS#8 PEM, even if it was given encrypted; wiped with the last reference.
    package let keyPEM: SecretBytes
    /// The facts of the own certificate.
    package let facts: CertificateFacts

    /// Reads a chain and its key, of any algorithm that OpenSSL supports.
    ///
    /// - Parameters:
    ///   - pem: One or more certificates, own first. May contain the private key too, as written by `openssl pkcs12`.
    ///   - key: The private key as PEM: a file of its own, or `pem` again.
    ///   - passphrase: The passphrase of the key, at most 1,024 bytes; ignored if the key is not encrypted.
    package init(pem: Span<UInt8>, key: Span<UInt8>, passphrase: [UInt8]? = nil) throws(CredentialError) {
        var record = apns_crypto_certificate_facts()
        var plain = unsafe apns_crypto_buffer()
        do throws(CredentialError) {
            try unsafe CredentialError.check { error in
                unsafe pem.lent { chain, count in
                    unsafe key.lent { key, keyCount in
                        unsafe withPassphrase(passphrase) { passphrase, length in
                            unsafe apns_crypto_certificate_match(
                                chain, count, key, keyCount, passphrase, length, &record, &plain, error)
                        }
                    }
                }
            }
        } catch {
            throw Self.explained(error, chain: pem, key: key)
        }
        certificatePEM = Self.withoutPrivateKeys(pem)
        keyPEM = unsafe takeSecret(&plain)
        facts = CertificateFacts(record)
    }

    /// Reads a PKCS#12 file (`.p12`, `.pfx`) with key, certificate and chain.
    ///
    /// - Parameter passphrase: At most 1,024 bytes; nil for a file that was made without one.
    package init(pkcs12: Span<UInt8>, passphrase: [UInt8]? = nil) throws(CredentialError) {
        var chain = unsafe apns_crypto_buffer()
        var key = unsafe apns_crypto_buffer()
        do throws(CredentialError) {
            try unsafe CredentialError.check { error in
                unsafe pkcs12.lent { file, count in
                    unsafe withPassphrase(passphrase) { passphrase, length in
                        unsafe apns_crypto_pkcs12_read(file, count, passphrase, length, &chain, &key, error)
                    }
                }
            }
        } catch {
            throw DamagedFile.explain(error, pkcs12, wanted: .certificate) ?? error
        }
        keyPEM = unsafe takeSecret(&key)
        certificatePEM = unsafe take(&chain)
        facts = try CertificateFacts(pem: certificatePEM)
    }

    /// Reads a PKCS#12 file, which contains its key, or a PEM chain. PKCS#12 is recognised as DER, whose first bytes
    /// never begin a text.
    package init(file: Span<UInt8>, key: Span<UInt8>, passphrase: [UInt8]? = nil) throws(CredentialError) {
        if file.count > 1 && file[0] == 0x30 && file[1] >= 0x80 {
            try self.init(pkcs12: file, passphrase: passphrase)
        } else {
            try self.init(pem: file, key: key, passphrase: passphrase)
        }
    }

    /// Reads a PEM chain.
    ///
    /// - Parameter keyPEM: The private key; nil if it is contained in `pem`.
    package init(pem: [UInt8], keyPEM: [UInt8]? = nil, passphrase: [UInt8]? = nil) throws(CredentialError) {
        let key = keyPEM ?? pem
        try self.init(pem: pem.span, key: key.span, passphrase: passphrase)
    }

    /// Returns the error with what is wrong with the file that it is about.
    private static func explained(
        _ error: CredentialError, chain: Span<UInt8>, key: Span<UInt8>
    ) -> CredentialError {
        let marks = ["expected a PRIVATE KEY", "BEGIN PRIVATE KEY", "the private key"]
        if marks.contains(where: { error.detail.contains($0) }) {
            return DamagedFile.explain(error, key, wanted: .certificateKey) ?? error
        }
        return DamagedFile.explain(error, chain, wanted: .certificate) ?? error
    }

    /// Returns a PEM text without its private key blocks.
    static func withoutPrivateKeys(_ pem: Span<UInt8>) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(pem.count)
        var isInside = false
        var start = 0
        while start <= pem.count {
            let end = (start..<pem.count).first { pem[$0] == UInt8(ascii: "\n") } ?? pem.count
            if isMarker(pem, start..<end, "-----BEGIN ") { isInside = true }
            if !isInside {
                for index in start..<end { kept.append(pem[index]) }
                kept.append(UInt8(ascii: "\n"))
            }
            if isMarker(pem, start..<end, "-----END ") { isInside = false }
            start = end + 1
        }
        // Each line was followed by a line end, so that there is one too many unless the text ended inside a block.
        if kept.last == UInt8(ascii: "\n") { kept.removeLast() }
        return kept
    }

    private static func isMarker(_ pem: Span<UInt8>, _ line: Range<Int>, _ start: String) -> Bool {
        guard line.count >= start.utf8.count, zip(line, start.utf8).allSatisfy({ pem[$0] == $1 }) else { return false }
        return String(decoding: line.map { pem[$0] }, as: UTF8.self).contains("PRIVATE KEY-----")
    }
}
