import APNSBatchBasics
import APNSBatchWebhooks
import Testing

@Suite struct WebhookSecretsTests {
    private static let specified = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func secrets(_ file: String) throws(WebhookSecrets.Fault) -> WebhookSecrets {
        try WebhookSecrets(file: Array(file.utf8))
    }

    private func secret(bytes: Int) -> String {
        "whsec_" + String(decoding: Base64.encode(Array(repeating: 7, count: bytes)), as: UTF8.self)
    }

    @Test func `the signature is that of the specification`() throws {
        let signature = try secrets("\(Self.specified)\n").signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: "{\"test\": 2432232314}")
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `each secret makes a signature, and blank lines none`() throws {
        func signature(_ file: String) throws -> String {
            try secrets(file).signature(id: "msg_1", timestamp: 1, body: "{}")
        }
        let (one, other) = (Self.specified, secret(bytes: 32))
        let both = try "\(signature(one)) \(signature(other))"
        #expect(try signature("\n \(one)\t\r\n\n\(other)") == both)
        #expect(both.split(separator: " ").count == 2)
    }

    @Test func `keys have 24 to 64 bytes, and a fault names the line and not the secret`() throws {
        for bytes in [24, 32, 64] { _ = try secrets(secret(bytes: bytes)) }
        let wrong = [
            secret(bytes: 23), secret(bytes: 65), "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_!!!!",
            Self.specified + "=", Self.specified + " " + Self.specified,
        ]
        for line in wrong {
            let fault = #expect(throws: WebhookSecrets.Fault.self) { try secrets("\(Self.specified)\n\(line)\n") }
            #expect(fault?.description == "line 2: expected whsec_ and the base64 of 24 to 64 bytes")
        }
        let none = #expect(throws: WebhookSecrets.Fault.self) { try secrets("\n\n") }
        #expect(none?.description == "expected a secret in each line, found none")
    }
}
