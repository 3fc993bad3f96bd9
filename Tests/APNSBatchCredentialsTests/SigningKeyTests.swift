import APNSBatchIdentities
import Testing

@testable import APNSBatchCredentials

@Suite("Signing key")
struct SigningKeyTests {
    static let passphrase = Array("open sesame".utf8)

    @Test(
        "A signing key is read from every supported form of a P-256 key",
        arguments: [
            Sample("PKCS#8", Fixtures.p256), Sample("SEC 1", Fixtures.p256SEC1),
            Sample("encrypted PKCS#8", Fixtures.p256Encrypted), Sample("encrypted SEC 1", Fixtures.p256EncryptedSEC1),
            Sample("CRLF, words before", Array("a\r\n".utf8) + Fixtures.p256.flatMap { $0 == 10 ? [13, 10] : [$0] }),
        ])
    func forms(sample: Sample) throws {
        let key = try SigningKey(pem: sample.bytes, passphrase: Self.passphrase)
        #expect(try key.publicKeyPEM == Fixtures.p256Public)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var name: String
        var pem: [UInt8]
        var passphrase: [UInt8]?
        var cause: CredentialError.Cause
        var detail: String
        var testDescription: String { name }
    }

    @Test(
        "The error for an unreadable signing key states the cause",
        arguments: [
            Refusal(name: "RSA", pem: Fixtures.rsa, cause: .wrongKind, detail: "the key is RSA, expected P-256"),
            Refusal(
                name: "P-384", pem: Fixtures.p384, cause: .wrongKind,
                detail: "the key is on the curve secp384r1, expected P-256"),
            Refusal(
                name: "secp256k1", pem: Fixtures.secp256k1, cause: .wrongKind,
                detail: "the key is on the curve secp256k1, expected P-256"),
            Refusal(
                name: "Ed25519", pem: Fixtures.ed25519, cause: .wrongKind,
                detail: "the key is ED25519, expected P-256"),
            Refusal(
                name: "encrypted", pem: Fixtures.p256Encrypted, cause: .encrypted,
                detail: "the key is encrypted and no passphrase was given"),
            Refusal(
                name: "encrypted, the old way", pem: Fixtures.p256EncryptedSEC1, cause: .encrypted,
                detail: "the key is encrypted and no passphrase was given"),
            Refusal(
                name: "long passphrase", pem: Fixtures.p256Encrypted, passphrase: [UInt8](repeating: 97, count: 1025),
                cause: .passphrase, detail: "the passphrase is longer than 1024 bytes"),
            Refusal(
                name: "certificate", pem: Fixtures.rsaCertificate, cause: .wrongBlock,
                detail:
                    "the PEM holds a CERTIFICATE, expected a PRIVATE KEY; give the .p8 file, which Apple's site gives once"
            ),
            Refusal(
                name: "public key", pem: Fixtures.p256Public, cause: .wrongBlock,
                detail: """
                    the PEM holds a PUBLIC KEY, expected a PRIVATE KEY; the private key is needed; give the .p8 file, which \
                    Apple's site gives once
                    """),
            Refusal(name: "nothing", pem: [], cause: .notPEM, detail: "not PEM: there are no bytes"),
            Refusal(
                name: "the base64 alone", pem: Array("MIGTAgEAMBMGByqGSM49".utf8), cause: .notPEM,
                detail: """
                    the lines -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- are missing; put them before and \
                    behind the base64
                    """),
            Refusal(
                name: "zeros", pem: [UInt8](repeating: 0, count: 200), cause: .notPEM,
                detail: "not PEM: no line \"-----BEGIN PRIVATE KEY-----\" was found"),
        ])
    func refusals(_ refusal: Refusal) {
        #expect(throws: CredentialError(cause: refusal.cause, detail: refusal.detail)) {
            try SigningKey(pem: refusal.pem, passphrase: refusal.passphrase)
        }
    }

    @Test(
        "A wrong or empty passphrase is refused",
        arguments: [
            Sample("PKCS#8", Fixtures.p256Encrypted), Sample("SEC 1", Fixtures.p256EncryptedSEC1),
        ], ["open sesame!", "", "\0"])
    func wrongPassphrase(sample: Sample, passphrase: String) {
        let error = #expect(throws: CredentialError.self) {
            try SigningKey(pem: sample.bytes, passphrase: Array(passphrase.utf8))
        }
        #expect(error?.cause == .passphrase)
        #expect(error?.detail.hasPrefix("the passphrase does not open the key") == true)
    }

    @Test("A PEM that is cut anywhere causes no crash, and the error quotes nothing of the key")
    func cut() {
        let text = String(decoding: Fixtures.p256, as: UTF8.self)
        let secrets = text.split(separator: "\n").filter { !$0.hasPrefix("-") }
        for length in 0..<(Fixtures.p256.count - 1) {
            do {
                _ = try SigningKey(pem: Array(Fixtures.p256.prefix(length)))
                #expect(length >= Fixtures.p256.count - 2, "a key cut to \(length) bytes was taken")
            } catch {
                #expect(secrets.allSatisfy { !error.detail.contains($0.prefix(8)) })
            }
        }
    }

    @Test("A PEM with a changed byte gives an error or a key that verifies its own signatures")
    func changed() throws {
        for index in Fixtures.p256.indices {
            var pem = Fixtures.p256
            pem[index] ^= 1
            guard let key = try? SigningKey(pem: pem) else { continue }
            let message = Array("m".utf8)
            #expect(try key.verificationKey.verify(message, signature: key.sign(message)))
        }
    }

    @Test("A block with a hostile label is refused as not PEM")
    func hostileLabels() {
        let long = String(repeating: "A", count: 5000)
        for text in [
            "-----BEGIN \(long)-----", "-----BEGIN %s%n-----", "-----BEGIN -----", "-----BEGIN ", "-----BEGIN A",
        ] {
            let error = #expect(throws: CredentialError.self) { try SigningKey(pem: Array(text.utf8)) }
            #expect(error?.cause == .notPEM)
        }
    }
}

@Suite("ES256 signatures")
struct ES256Tests {
    @Test(
        "A signature has 64 bytes and is verified by the public key, for messages of any length",
        arguments: [0, 1, 63, 64, 100_000])
    func roundTrip(length: Int) throws {
        let key = try SigningKey.generate()
        let verifier = try VerificationKey(publicKeyPEM: key.publicKeyPEM)
        let message = [UInt8](repeating: 7, count: length)
        let signature = try key.sign(message)
        #expect(signature.count == SigningKey.signatureBytes)
        #expect(verifier.verify(message, signature: signature))
    }

    @Test("The values r and s keep 32 bytes when they begin with zeros")
    func padding() throws {
        // About one signature in 128 has a leading zero byte in r or in s.
        let key = try SigningKey(pem: Fixtures.p256)
        let verifier = try key.verificationKey
        var padded = 0
        for number in 0..<1000 {
            let message = Array("message \(number)".utf8)
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(verifier.verify(message, signature: signature))
            if signature[0] == 0 || signature[32] == 0 { padded += 1 }
        }
        #expect(padded > 0)
    }

    @Test("Verification fails for a changed message, a changed signature or another key")
    func refuses() throws {
        let key = try SigningKey.generate()
        let verifier = try key.verificationKey
        let message = Array("header.claims".utf8)
        let signature = try key.sign(message)
        #expect(!verifier.verify(message + [0], signature: signature))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 0x80
            #expect(!verifier.verify(message, signature: changed))
        }
        #expect(try !SigningKey.generate().verificationKey.verify(message, signature: signature))
    }

    @Test("A signature of another length or out of range is not verified", arguments: [0, 1, 63, 65, 70, 1000])
    func lengths(count: Int) throws {
        let verifier = try SigningKey.generate().verificationKey
        #expect(!verifier.verify([1], signature: [UInt8](repeating: 1, count: count)))
        #expect(!verifier.verify([1], signature: [UInt8](repeating: 0, count: 64)))
        #expect(!verifier.verify([1], signature: [UInt8](repeating: 255, count: 64)))
    }

    @Test("Several threads can sign with one key")
    func threads() async throws {
        let key = try SigningKey.generate()
        let verifier = try key.verificationKey
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let message = Array("\(lane) \(round)".utf8)
                        guard try verifier.verify(message, signature: key.sign(message)) else { return false }
                    }
                    return true
                }
            }
            for try await good in group { #expect(good) }
        }
    }
}

@Suite("Verification key")
struct VerificationKeyTests {
    @Test("A verification key is read from a public key only")
    func reading() throws {
        _ = try VerificationKey(publicKeyPEM: Fixtures.p256Public)
        let refusals: [([UInt8], CredentialError)] = [
            (Fixtures.rsaPublic, CredentialError(cause: .wrongKind, detail: "the key is RSA, expected P-256")),
            (
                Fixtures.p256,
                CredentialError(cause: .wrongBlock, detail: "the PEM holds a PRIVATE KEY, expected a PUBLIC KEY")
            ),
            ([], CredentialError(cause: .notPEM, detail: "not PEM: there are no bytes")),
        ]
        for (pem, error) in refusals {
            #expect(throws: error) { try VerificationKey(publicKeyPEM: pem) }
        }
    }
}

@Suite("Key output")
struct KeyWritingTests {
    @Test("A key that was written can be read back, plain and encrypted")
    func roundTrip() throws {
        let key = try SigningKey.generate()
        let plain = try SigningKey(pem: key.privateKeyPEM)
        #expect(try plain.publicKeyPEM == key.publicKeyPEM)
        let passphrase = Array("gåtefull".utf8)
        let encrypted = try key.privateKeyPEM(passphrase: passphrase)
        #expect(String(decoding: encrypted, as: UTF8.self).hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----"))
        #expect(try SigningKey(pem: encrypted, passphrase: passphrase).publicKeyPEM == key.publicKeyPEM)
    }

    @Test("Two generated keys differ")
    func differ() throws {
        #expect(try SigningKey.generate().publicKeyPEM != SigningKey.generate().publicKeyPEM)
    }
}
