import APNSBatchCredentials
import APNSBatchIdentities
import Testing

@Suite("A client certificate made for the occasion")
struct SelfSignedClientTests {
    @Test("carries the names and belongs to its key")
    func names() throws {
        let made = try SelfSignedClient.make(userID: "com.example.app", commonName: "Zoë, O=x", days: 1)
        let certificate = try ClientCertificate(pem: made.certificatePEM, keyPEM: made.keyPEM)
        #expect(certificate.facts.userID == "com.example.app")
        #expect(certificate.facts.commonName == "Zoë, O=x")
        #expect(certificate.facts.notAfter - certificate.facts.notBefore == 2 * 86_400)
    }

    @Test("needs names of a bearable length", arguments: ["", String(repeating: "a", count: 201)])
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
