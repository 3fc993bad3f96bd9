import APNSBatchBasics
import Testing

@testable import APNSBatchCredentials

extension PayloadSealer {
    /// Seals a message into buffers of exactly the right size, and returns the content and the secret.
    func sealed(_ message: [UInt8]) throws(CredentialError) -> (content: [UInt8], secret: [UInt8]) {
        var content = [UInt8](repeating: 0, count: contentLength(of: message.count))
        var secret = [UInt8](repeating: 0, count: secretLength)
        let result = message.withUnsafeBytes { message in
            content.withUnsafeMutableBytes { content in
                secret.withUnsafeMutableBytes { secret in
                    Result { () throws(CredentialError) in try seal(message, content: content, secret: secret) }
                }
            }
        }
        try result.get()
        return (content, secret)
    }

    func address(_ key: [UInt8]) throws(CredentialError) {
        try withBytes(of: key) { (key) throws(CredentialError) in try address(key) }
    }
}

@Suite("Payload encryption")
struct SealingTests {
    /// Reads a private key and lines of content and secret, and prints the messages as hexadecimal digits.
    static let open = """
        import sys, base64
        from cryptography.hazmat.primitives import hashes, padding, serialization
        from cryptography.hazmat.primitives.asymmetric import padding as rsa_padding
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        cipher, fill = sys.argv[1:]
        pem, lines = sys.stdin.buffer.read().split(b"=====")
        key = serialization.load_pem_private_key(pem, None)
        digest = {"oaepSHA256": hashes.SHA256(), "oaepSHA1": hashes.SHA1()}.get(fill)
        fill = rsa_padding.OAEP(rsa_padding.MGF1(digest), digest, None) if digest else rsa_padding.PKCS1v15()
        for line in lines.split():
            content, secret = (base64.b64decode(part, validate=True) for part in line.split(b","))
            secret = key.decrypt(secret, fill)
            if cipher == "aes256gcm":
                assert len(secret) == 44
                message = AESGCM(secret[:32]).decrypt(secret[32:], content, None)
            else:
                assert len(secret) == 48
                decryptor = Cipher(algorithms.AES(secret[:32]), modes.CBC(secret[32:])).decryptor()
                unpadder = padding.PKCS7(128).unpadder()
                message = unpadder.update(decryptor.update(content) + decryptor.finalize()) + unpadder.finalize()
            print("m" + message.hex())
        """

    @Test(
        "Python decrypts every cipher and padding, at every length around a block",
        arguments: ContentCipher.allCases, KeyPadding.allCases)
    func roundTrip(cipher: ContentCipher, padding: KeyPadding) throws {
        let sealer = try PayloadSealer(cipher: cipher, padding: padding)
        try sealer.address(Fixtures.rsaPublic)
        let messages = [0, 1, 2, 15, 16, 17, 31, 32, 33, 1000, 4096].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        }
        var input = Fixtures.rsa + Array("=====".utf8)
        for message in messages {
            let (content, secret) = try sealer.sealed(message)
            #expect(secret.count == 344)
            input += content + [UInt8(ascii: ",")] + secret + [UInt8(ascii: "\n")]
        }
        let opened = try Python.run(Self.open, arguments: ["\(cipher)", "\(padding)"], input: input)
        let expected = messages.map { message in
            "m" + message.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\n"
        }
        #expect(opened == expected.joined())
    }

    @Test("Each message is encrypted with a new key and IV")
    func fresh() throws {
        let sealer = try PayloadSealer()
        try sealer.address(Fixtures.rsaPublic)
        var seen: Set<[UInt8]> = []
        for _ in 0..<100 {
            let (content, secret) = try sealer.sealed(Array("the same".utf8))
            #expect(seen.insert(content).inserted && seen.insert(secret).inserted)
        }
    }

    @Test("The recipient can be changed, and an invalid key leaves none")
    func recipients() throws {
        let sealer = try PayloadSealer(cipher: .aes256cbc, padding: .pkcs1)
        for form in try Self.forms(ofBits: 3072) + [Sample("2048", Fixtures.rsaPublic)] {
            try sealer.address(form.bytes)
            try sealer.address(form.bytes)
            #expect(sealer.secretLength == (form.name == "2048" ? 344 : 512), "\(form.name)")
            #expect(throws: CredentialError.self) { try sealer.address([]) }
            #expect(sealer.secretLength == 0)
        }
    }

    /// Returns a public key of any size in all its forms. Python makes it without its factors, which encryption does
    /// not need.
    static func forms(ofBits bits: Int) throws -> [Sample] {
        let script = """
            import sys, secrets, base64
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
            bits = int(sys.argv[1])
            key = RSAPublicNumbers(65537, secrets.randbits(bits) | 1 | 1 << bits - 1).public_key()
            E, F = serialization.Encoding, serialization.PublicFormat
            forms = [key.public_bytes(e, f) for f in (F.SubjectPublicKeyInfo, F.PKCS1) for e in (E.PEM, E.DER)]
            forms += [base64.b64encode(forms[1]), base64.b64encode(forms[3]), forms[0].replace(b"\\n", b"\\r\\n"),
                      b"\\n".join(base64.b64encode(forms[1])[i:i + 64] for i in range(0, len(forms[1]) * 2, 64))]
            print("\\n".join(form.hex() for form in forms))
            """
        let names = [
            "PEM", "DER", "PKCS#1 PEM", "PKCS#1 DER", "base64", "PKCS#1 base64", "PEM with CRLF", "base64 in lines",
        ]
        let lines = try Python.run(script, arguments: [String(bits)], input: []).split(separator: "\n")
        return zip(names, lines).map { Sample($0, Self.unhex($1)) }
    }

    static func unhex(_ text: Substring) -> [UInt8] {
        var digits = text.utf8.map { UInt8($0 & 0x0F) + ($0 > 0x39 ? 9 : 0) }[...]
        var bytes: [UInt8] = []
        while let high = digits.popFirst(), let low = digits.popFirst() { bytes.append(high << 4 | low) }
        return bytes
    }
}

@Suite("Recipient key")
struct RecipientKeyTests {
    private func bits(_ key: [UInt8]) throws(CredentialError) -> Int {
        try withBytes(of: key) { (key) throws(CredentialError) in try RecipientKey.check(key) }
    }

    @Test(
        "A recipient key of 2,048 to 8,192 bits is read from every supported form", arguments: [2048, 2049, 4096, 8192])
    func forms(count: Int) throws {
        let sealer = try PayloadSealer()
        for form in try SealingTests.forms(ofBits: count) {
            #expect(try bits(form.bytes) == count, "\(form.name)")
            try sealer.address(form.bytes)
            #expect(sealer.secretLength == ((count + 7) / 8 + 2) / 3 * 4)
        }
    }

    @Test(
        "A recipient key with too few or too many bits is refused",
        arguments: [(1024, ""), (2047, ""), (8193, ", more than 8192")])
    func sizes(count: Int, more: String) throws {
        for form in try SealingTests.forms(ofBits: count) {
            let error = #expect(throws: CredentialError.self) { try bits(form.bytes) }
            #expect(error?.cause == .size)
            // A key of 8,193 bits is still read, so its size is in the message. Only a far longer key is refused by its
            // length.
            #expect(error?.detail == "\(Self.expected), found one of \(count) bits\(more)", "\(form.name)")
        }
    }

    static let expected = "expected an RSA public key of 2048 bits or more (PEM or base64 DER)"

    @Test(
        "The error for an invalid recipient key states what was found",
        arguments: [
            ([], .notPEM, "nothing"),
            (Array("not a key".utf8), .malformed, "text that is neither PEM nor base64"),
            (Array("bm90IGEga2V5".utf8), .malformed, "bytes that are no DER"),
            (Fixtures.p256Public, .wrongKind, "an EC key"),
            (Fixtures.rsa, .wrongBlock, #"a PEM block "PRIVATE KEY""#),
            (Fixtures.rsaCertificate, .wrongBlock, #"a PEM block "CERTIFICATE""#),
            (Array(Fixtures.rsaPublic.dropLast(30)), .malformed, "a PEM block without its end"),
            ([UInt8](repeating: 65, count: 4000), .size, "more bytes than a key of 8192 bits has"),
            ([0x30, 0x82, 0xFF, 0xFF, 1], .malformed, "bytes that are no DER"),
        ] as [([UInt8], CredentialError.Cause, String)])
    func refused(key: [UInt8], cause: CredentialError.Cause, found: String) {
        #expect(throws: CredentialError(cause: cause, detail: "\(Self.expected), found \(found)")) { try bits(key) }
    }

    @Test("Cutting or changing a recipient key causes no crash")
    func damaged() throws {
        let sealer = try PayloadSealer()
        let der = try SealingTests.forms(ofBits: 2048)[1].bytes
        for count in 0..<der.count {
            #expect(throws: CredentialError.self) { try sealer.address(Array(der.prefix(count))) }
        }
        for index in der.indices {
            for bit in [0, 3, 7] {
                var changed = der
                changed[index] ^= 1 << bit
                if (try? sealer.address(changed)) != nil { _ = try? sealer.sealed([1, 2, 3]) }
            }
        }
    }
}

@Suite("Base64")
struct Base64Tests {
    @Test(
        "Base64 gives the texts of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ])
    func examples(bytes: String, text: String) {
        #expect(Base64.encode(Array(bytes.utf8)) == Array(text.utf8))
        #expect(Base64.decode(Array(text.utf8)) == Array(bytes.utf8))
    }

    @Test("Base64 decodes every byte at every length")
    func roundTrip() {
        for count in 0..<300 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test(
        "Base64 refuses texts that are not the canonical encoding of a value",
        arguments: ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====", "Z===", "Zm 9v", "Zm9v\n", "Zm-v", "Zg=a"])
    func refused(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}

/// Calls `withUnsafeBytes` with a body that throws errors of one type.
private func withBytes<R>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(CredentialError) -> R
) throws(CredentialError) -> R {
    try bytes.withUnsafeBytes { bytes in Result { () throws(CredentialError) in try body(bytes) } }.get()
}
