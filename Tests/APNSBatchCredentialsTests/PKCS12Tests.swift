import APNSBatchIdentities
import Testing

@testable import APNSBatchCredentials

@Suite("PKCS#12 file")
struct PKCS12Tests {
    /// Makes a file from the certificate and key in PEM. The arguments are the form and the passphrase.
    private static let make = """
        import sys, subprocess, tempfile, os
        from cryptography import x509
        from cryptography.hazmat.primitives import serialization, hashes
        from cryptography.hazmat.primitives.serialization import pkcs12
        form, passphrase = sys.argv[1], sys.argv[2].encode()
        key_pem, leaf_pem, other_pem = sys.stdin.buffer.read().split(b"=====")
        key = serialization.load_pem_private_key(key_pem, None)
        leaf, other = (x509.load_pem_x509_certificate(pem) for pem in (leaf_pem, other_pem))
        best = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
        if form == "modern":
            data = pkcs12.serialize_key_and_certificates(b"name", key, leaf, [other], best)
        elif form == "no key":
            data = pkcs12.serialize_key_and_certificates(b"name", None, leaf, [other], best)
        elif form == "no certificate":
            data = pkcs12.serialize_key_and_certificates(b"name", key, None, None, best)
        else:
            with tempfile.TemporaryDirectory() as folder:
                names = [os.path.join(folder, name) for name in ("key", "leaf", "out")]
                for name, pem in zip(names, (key_pem, leaf_pem)):
                    open(name, "wb").write(pem)
                flags = ["-legacy"] if form == "RC2" else ["-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES"]
                flags += ["-nomac"] if form == "no checksum" else []
                subprocess.run(["openssl", "pkcs12", "-export", "-inkey", names[0], "-in", names[1], "-out", names[2],
                                "-passout", "pass:" + passphrase.decode(), *flags], check=True)
                data = open(names[2], "rb").read()
        print(data.hex(), end="")
        """

    private static func file(_ form: String, _ passphrase: String) throws -> [UInt8] {
        let other = try ServerIdentity.make(hosts: ["other"]).certificatePEM
        let parts = [Fixtures.rsa, Fixtures.rsaCertificate, other].joined(separator: Array("=====".utf8))
        return SealingTests.unhex(try Python.run(make, arguments: [form, passphrase], input: Array(parts))[...])
    }

    @Test(
        "A PKCS#12 file gives its certificate, chain and key", arguments: ["modern", "3DES", "RC2"],
        ["open sesame", ""])
    func reading(form: String, passphrase: String) throws {
        let file = try Self.file(form, passphrase)
        for given in passphrase.isEmpty ? [nil, []] : [Array(passphrase.utf8)] {
            let certificate = try ClientCertificate(pkcs12: file, passphrase: given)
            #expect(certificate.facts.userID == "com.example.app")
            #expect(certificate.keyPEM.unwipedCopy == Fixtures.rsa)
            let chain = String(decoding: certificate.certificatePEM, as: UTF8.self)
            #expect(chain.hasPrefix(String(decoding: Fixtures.rsaCertificate, as: UTF8.self)))
            #expect(chain.split(separator: "-----BEGIN CERTIFICATE-----").count == (form == "modern" ? 2 : 1))
        }
    }

    @Test("PKCS#12 and PEM are distinguished by content")
    func content() throws {
        let file = try Self.file("modern", "x")
        #expect(
            try ClientCertificate(file: file, passphrase: [120]).facts.userID == "com.example.app")
        #expect(
            try ClientCertificate(file: Fixtures.rsaCertificate, keyPEM: Fixtures.rsa).facts.userID == "com.example.app"
        )
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var form: String
        var passphrase: String?
        var cause: CredentialError.Cause
        var detail: String
        var testDescription: String { "\(form), \(passphrase ?? "none")" }
    }

    @Test(
        "The error for an unusable PKCS#12 file states the cause",
        arguments: [
            Refusal(
                form: "modern", passphrase: "wrong", cause: .passphrase,
                detail: "the passphrase does not open the PKCS#12 file"),
            Refusal(
                form: "RC2", passphrase: "", cause: .passphrase,
                detail: "the passphrase does not open the PKCS#12 file"),
            Refusal(
                form: "3DES", cause: .encrypted,
                detail: "the PKCS#12 file is encrypted and no passphrase was given"),
            Refusal(
                form: "no checksum", passphrase: "wrong", cause: .passphrase,
                detail: """
                    the PKCS#12 file has no MAC, and cannot be opened with this passphrase; export it again with one, as \
                    openssl pkcs12 -export does without -nomac
                    """),
            Refusal(
                form: "no key", passphrase: "right", cause: .missing,
                detail: "the PKCS#12 file holds no private key"),
            Refusal(
                form: "no certificate", passphrase: "right", cause: .missing,
                detail: "the PKCS#12 file holds no certificate for its private key"),
            Refusal(
                form: "modern", passphrase: String(repeating: "a", count: 1025), cause: .passphrase,
                detail: "the passphrase is longer than 1024 bytes"),
        ])
    func refused(_ refusal: Refusal) throws {
        let file = try Self.file(refusal.form, "right")
        #expect(throws: CredentialError(cause: refusal.cause, detail: refusal.detail)) {
            try ClientCertificate(pkcs12: file, passphrase: refusal.passphrase.map { Array($0.utf8) })
        }
    }

    @Test("A PKCS#12 file that is cut or changed causes no crash")
    func damaged() throws {
        let file = try Self.file("3DES", "x")
        for count in stride(from: 0, to: file.count, by: 61) {
            #expect(throws: CredentialError.self) {
                try ClientCertificate(pkcs12: Array(file.prefix(count)), passphrase: [120])
            }
        }
        for index in stride(from: 0, to: file.count, by: 37) {
            var changed = file
            changed[index] ^= 0x11
            _ = try? ClientCertificate(pkcs12: changed, passphrase: [120])
        }
    }
}

@Suite("Certificate dates")
struct CertificateDatesTests {
    @Test("Certificate dates tell whether it is not yet valid, about to expire, or expired")
    func dates() throws {
        let facts = try CertificateFacts(pem: Fixtures.rsaCertificate)
        #expect(facts.isEarly(now: facts.notBefore - 1) && !facts.isEarly(now: facts.notBefore))
        #expect(!facts.isExpired(now: facts.notAfter) && facts.isExpired(now: facts.notAfter + 1))
        #expect(!facts.expires(within: 60, now: facts.notAfter - 60))
        #expect(facts.expires(within: 60, now: facts.notAfter - 59))
    }
}

extension ClientCertificate {
    init(pkcs12: [UInt8], passphrase: [UInt8]?) throws(CredentialError) {
        try self.init(pkcs12: pkcs12.span, passphrase: passphrase)
    }

    init(file: [UInt8], keyPEM: [UInt8] = [], passphrase: [UInt8]? = nil) throws(CredentialError) {
        try self.init(file: file.span, key: keyPEM.span, passphrase: passphrase)
    }
}
