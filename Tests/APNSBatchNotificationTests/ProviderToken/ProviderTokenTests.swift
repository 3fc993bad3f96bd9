import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchIdentities
import Foundation
import Testing

@testable import APNSBatchNotification

@Suite("Provider token")
struct ProviderTokenTests {
    private func make(key: SigningKey, issuedAt: Int64 = 1_767_225_600) throws -> ProviderToken {
        let issuer = try ProviderToken.Issuer(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        return try ProviderToken.make(issuer: issuer, issuedAt: issuedAt) { (message) throws(CredentialError) in
            try key.sign(message)
        }
    }

    private func jwt(_ token: ProviderToken) -> String {
        String(decoding: token.authorization.unwipedCopy.dropFirst(7), as: UTF8.self)
    }

    /// Decodes base64url bit by bit, in a slow and obvious way.
    private func decode(_ text: Substring) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let bits = text.flatMap { character -> [Int] in
            let value = alphabet.firstIndex(of: character)!
            return (0..<6).map { value >> (5 - $0) & 1 }
        }
        return (0..<bits.count / 8).map { byte in
            UInt8((0..<8).reduce(0) { $0 << 1 | bits[byte * 8 + $1] })
        }
    }

    @Test("A token has a header, claims and a signature that the public key verifies")
    func parts() throws {
        let key = try SigningKey.generate()
        let token = try make(key: key)
        let parts = jwt(token).split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        #expect(String(decoding: decode(parts[0]), as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(String(decoding: decode(parts[1]), as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1767225600}"#)
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        #expect(try key.verificationKey.verify(signed, signature: decode(parts[2])))
        #expect(token.issuedAt == 1_767_225_600)
    }

    @Test("A token is sent as a bearer token that is never indexed by HPACK")
    func authorization() throws {
        #expect(try make(key: .generate()).authorization.unwipedCopy.starts(with: "bearer ".utf8))
        #expect(RequestHeader.authorization.indexing == .literal)
    }

    @Test("Python's cryptography package verifies a token")
    func verifiedByPython() throws {
        let key = try SigningKey.generate()
        let script = """
            import sys, json, base64
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec, utils
            jwt, pem = sys.argv[1], sys.stdin.buffer.read()
            def decode(text): return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            header, claims, signature = jwt.split(".")
            raw = decode(signature)
            assert len(raw) == 64
            der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
            public = serialization.load_pem_public_key(pem)
            public.verify(der, (header + "." + claims).encode(), ec.ECDSA(hashes.SHA256()))
            header, claims = json.loads(decode(header)), json.loads(decode(claims))
            print(header["alg"], header["kid"], claims["iss"], claims["iat"], end="")
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, jwt(try make(key: key))]
        let (stdin, stdout) = (Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: key.publicKeyPEM)
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(String(decoding: output, as: UTF8.self) == "ES256 ABC123DEFG DEF123GHIJ 1767225600")
    }

    @Test("No token is made when signing fails")
    func signingFails() throws {
        struct Refused: Error {}
        let issuer = try ProviderToken.Issuer(keyID: "K", teamID: "T")
        #expect(throws: Refused.self) {
            try ProviderToken.make(issuer: issuer, issuedAt: 0) { (_) throws(Refused) in throw Refused() }
        }
    }

    @Test(
        "No token is made when an identifier is empty or would need JSON escaping",
        arguments: ["", "A\"B", "A B", "Ä", "a\n", "A.B", String(repeating: "A", count: 65)])
    func identifiers(text: String) throws {
        #expect(throws: ProviderToken.Fault.keyID) { try ProviderToken.Issuer(keyID: text, teamID: "T") }
        #expect(throws: ProviderToken.Fault.teamID) { try ProviderToken.Issuer(keyID: "K", teamID: text) }
    }

    @Test("The error names the invalid identifier")
    func faults() {
        #expect("\(ProviderToken.Fault.keyID)" == "the key id must have 1 to 64 letters and digits (Apple's have 10)")
        #expect("\(ProviderToken.Fault.teamID)" == "the team id must have 1 to 64 letters and digits (Apple's have 10)")
    }

    @Test("Base64url matches the examples of RFC 4648, without padding")
    func base64() {
        let examples = ["": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE"]
        for (text, encoded) in examples { #expect(Base64.encodeURL(Array(text.utf8)) == Array(encoded.utf8)) }
        #expect(Base64.encodeURL([0xfb, 0xff, 0xfe]) == Array("-__-".utf8))
    }
}
