import APNSBatchBasics
import APNSBatchIdentities
import CAPNSTestSupport
import Testing

@testable import APNSBatchCredentials

@Suite("Client certificate")
struct ClientCertificateTests {
    @Test("A certificate and its key are read from one file or two, with dates and names")
    func good() throws {
        for (pem, key) in [(Fixtures.rsaCertificate, Fixtures.rsa), (Fixtures.rsa + Fixtures.rsaCertificate, nil)] {
            let certificate = try ClientCertificate(pem: pem, keyPEM: key)
            #expect(certificate.facts.notBefore == 1_704_164_645)
            #expect(certificate.facts.notAfter == 2_559_009_906)
            #expect(certificate.facts.userID == "com.example.app")
            #expect(certificate.facts.commonName == "Apple Push Services: com.example.app")
            // The private key in the same file is not kept.
            #expect(certificate.certificatePEM == Fixtures.rsaCertificate)
            #expect(certificate.keyPEM.unwipedCopy == Fixtures.rsa)
        }
    }

    @Test("A certificate with an encrypted key is loaded with the decrypted key")
    func encrypted() throws {
        let passphrase = Array("secret".utf8)
        let identity = try ServerIdentity.make(hosts: ["client"])
        let locked = try SigningKey(pem: identity.keyPEM).privateKeyPEM(passphrase: passphrase)
        let certificate = try ClientCertificate(pem: identity.certificatePEM, keyPEM: locked, passphrase: passphrase)
        #expect(certificate.keyPEM.unwipedCopy == identity.keyPEM)
        let error = #expect(throws: CredentialError.self) {
            try ClientCertificate(pem: identity.certificatePEM, keyPEM: locked)
        }
        #expect(error?.cause == .encrypted)
    }

    @Test(
        "The error for an unusable certificate states the cause",
        arguments: [
            ("rsaCertificate", "p256", .mismatch, "the private key is not the certificate's"),
            (
                "rsaCertificate", nil, .wrongBlock,
                """
                the PEM holds a CERTIFICATE, expected a PRIVATE KEY; the key is in a file of its own, or in the .p12 file from \
                which the certificate was exported
                """
            ),
            (
                "rsa", nil, .wrongBlock,
                "the PEM holds a PRIVATE KEY, expected a CERTIFICATE; this file has no certificate"
            ),
            ("nothing", nil, .notPEM, "not PEM: there are no bytes"),
        ] as [(String, String?, CredentialError.Cause, String)])
    func refused(pem: String, key: String?, cause: CredentialError.Cause, detail: String) {
        let files = ["rsaCertificate": Fixtures.rsaCertificate, "rsa": Fixtures.rsa, "p256": Fixtures.p256]
        #expect(throws: CredentialError(cause: cause, detail: detail)) {
            try ClientCertificate(pem: files[pem] ?? [], keyPEM: key.flatMap { files[$0] })
        }
    }

    @Test("A certificate file is refused when a later certificate of its chain is damaged")
    func damagedChain() {
        var damaged = Fixtures.rsaCertificate
        damaged[200] = UInt8(ascii: "!")
        let error = #expect(throws: CredentialError.self) {
            try ClientCertificate(pem: Fixtures.rsaCertificate + damaged, keyPEM: Fixtures.rsa)
        }
        #expect(error?.cause == .malformed)
    }

    @Test("Changing any byte of a certificate file causes no crash")
    func changed() {
        for index in stride(from: 0, to: Fixtures.rsaCertificate.count, by: 3) {
            var pem = Fixtures.rsaCertificate
            pem[index] ^= 4
            _ = try? ClientCertificate(pem: pem, keyPEM: Fixtures.rsa)
            _ = try? CertificateFacts(pem: pem)
        }
    }
}

@Suite("Server identity")
struct ServerIdentityTests {
    @Test("The certificate of a server identity matches its key and is valid now")
    func matches() throws {
        let identity = try ServerIdentity.make(hosts: ["localhost", "127.0.0.1", "::1"], days: 2)
        let certificate = try ClientCertificate(pem: identity.certificatePEM, keyPEM: identity.keyPEM)
        #expect(certificate.facts.notAfter - certificate.facts.notBefore == 3 * 86_400)
        #expect(try CertificateFacts(pem: identity.caPEM).commonName == "apns-batch test authority")
        #expect(throws: CredentialError.self) {
            try ClientCertificate(pem: identity.caPEM, keyPEM: identity.keyPEM)
        }
    }

    @Test("Python verifies a server identity for exactly the hosts that it names")
    func verifiedByPython() throws {
        let identity = try ServerIdentity.make(hosts: ["localhost", "*.example.com", "127.0.0.1", "::1"])
        let script = """
            import sys, ipaddress
            from cryptography import x509
            from cryptography.x509.verification import PolicyBuilder, Store
            parts = sys.stdin.buffer.read().split(b"=====")
            store = Store([x509.load_pem_x509_certificate(parts[0])])
            leaf = x509.load_pem_x509_certificate(parts[1])
            def good(name):
                try:
                    PolicyBuilder().store(store).build_server_verifier(name).verify(leaf, [])
                    return True
                except x509.verification.VerificationError:
                    return False
            names = [x509.DNSName("localhost"), x509.DNSName("a.example.com"), x509.DNSName("example.org"),
                     x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.IPAddress(ipaddress.ip_address("::1")),
                     x509.IPAddress(ipaddress.ip_address("127.0.0.2"))]
            print("".join("1" if good(name) else "0" for name in names), end="")
            """
        let output = try Python.run(script, input: identity.caPEM + Array("=====".utf8) + identity.certificatePEM)
        #expect(output == "110110")
    }

    @Test(
        "A server identity is not made for invalid host names",
        arguments: [
            ([], "0 host names given, expected 1 to 64"),
            (["localhost", ""], "host 2 is neither a host name nor an IP address"),
            (["a,IP:10.0.0.1"], "host 1 is neither a host name nor an IP address"),
            (["höst"], "host 1 is neither a host name nor an IP address"),
            (["a\0b"], "a host name holds a NUL"),
            ([String(repeating: "a", count: 254)], "host 1 is neither a host name nor an IP address"),
            ([String](repeating: "a", count: 65), "65 host names given, expected 1 to 64"),
        ])
    func refused(hosts: [String], detail: String) {
        #expect(throws: CredentialError(cause: .name, detail: detail)) { try ServerIdentity.make(hosts: hosts) }
    }
}

@Suite("Digests, random bytes and secrets")
struct SmallThingsTests {
    @Test("A process can disable its core dumps")
    func coreDumps() async {
        await #expect(processExitsWith: .success) {
            precondition(test_support_is_dumpable() == 1)
            precondition(CoreDumps.forbid())
            precondition(test_support_is_dumpable() == 0)
        }
    }

    @Test("SHA-256 gives the digests of the examples in FIPS 180-4")
    func digests() throws {
        func hex(_ text: String) throws -> String {
            try SHA256.digest(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        #expect(try hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(try hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("Random bytes have the requested length and do not repeat")
    func random() throws {
        #expect(try SecureRandom.bytes(0).isEmpty)
        #expect(try SecureRandom.bytes(32).count == 32)
        #expect(try SecureRandom.bytes(32) != SecureRandom.bytes(32))
        #expect(try SecureRandom.number() != SecureRandom.number())
    }

    @Test("Moving bytes into a secret empties and wipes the original")
    func secret() {
        var bytes: [UInt8] = [1, 2, 3]
        let secret = SecretBytes(consuming: &bytes)
        #expect(bytes.isEmpty)
        #expect(secret.unwipedCopy == [1, 2, 3])
        let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: 3, alignment: 1)
        defer { kept.deallocate() }
        kept.copyBytes(from: [1, 2, 3])
        SecretBytes.wipe(kept)
        #expect(Array(kept) == [0, 0, 0])
        #expect(SecretBytes(copying: UnsafeRawBufferPointer(start: nil, count: 0)).count == 0)
    }
}
