import APNSBatchCredentials
import APNSBatchIdentities
import Testing

@Suite("Self-signed client certificate")
struct SelfSignedClientTests {
    @Test("A self-signed client certificate carries its names and belongs to its key")
    func names() throws {
        let made = try SelfSignedClient.make(userID: "com.example.app", commonName: "Zoë, O=x", days: 1)
        let certificate = try ClientCertificate(pem: made.certificatePEM, keyPEM: made.keyPEM)
        #expect(certificate.facts.userID == "com.example.app")
        #expect(certificate.facts.commonName == "Zoë, O=x")
        #expect(certificate.facts.notAfter - certificate.facts.notBefore == 2 * 86_400)
    }

    @Test(
        "A self-signed client certificate with an empty or overlong name is refused",
        arguments: ["", String(repeating: "a", count: 201)])
    func wrongNames(_ name: String) {
        let expected = "a name of 1 to 200 bytes was expected"
        for (userID, commonName) in [(name, "right"), ("right", name)] {
            #expect {
                try SelfSignedClient.make(userID: userID, commonName: commonName)
            } throws: {
                "\($0)".contains(expected)
            }
        }
    }
}
