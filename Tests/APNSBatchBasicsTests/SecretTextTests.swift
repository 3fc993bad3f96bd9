import APNSBatchBasics
import Testing

@Suite("Secrets in messages") struct SecretTextTests {
    private static let body = String(repeating: "Qx7+/", count: 30)
    private static let part = String(repeating: "ab-_9", count: 8)

    /// Texts with a secret, by the kind of the secret: what stands before it, itself, and what stands behind.
    private static let secrets: [(name: String, before: String, secret: String, after: String)] = [
        ("PEM", "cannot open -----BEGIN PRIVATE KEY-----", "\n\(body)\n\(body)\n", "-----END PRIVATE KEY-----: no"),
        ("PEM, escaped", "-----BEGIN EC PRIVATE KEY-----", "\\n\(body)\\n", "-----END EC PRIVATE KEY----- x"),
        ("PEM in one line, without its end", "-----BEGIN ENCRYPTED PRIVATE KEY-----", body, ""),
        ("DER", "cannot open ", "MIGHAgEA\(body)", ": no such file"),
        ("DER in quotes", "found \"", "MIIEvQIB\(body)", "\""),
        ("base64 of a PEM", "key_file: ", "LS0tLS1CRUdJTi\(body)", ": no such file"),
        ("provider token", "cannot open ", "eyJhbGci\(part).eyJpc3Mi\(part).\(part)", ": no such file"),
        ("signing secret", "cannot open whsec_", body, ": no such file"),
    ]

    @Test("A secret of each kind is not shown, and all around it is", arguments: secrets.map(\.name))
    func hidden(name: String) throws {
        let text = try #require(Self.secrets.first { $0.name == name })
        // Not in the expectation, which would print it.
        let shown = Printable.message(text.before + text.secret + text.after)
        #expect((shown == text.before + "(not shown)" + text.after) as Bool)
        let twice = Printable.message(
            "\(text.before + text.secret + text.after) \(text.before + text.secret + text.after)")
        let has = twice.contains(Self.body) || twice.contains(Self.part)
        #expect(!has)
    }

    @Test(
        "Other texts stay as they are",
        arguments: [
            "", "-----BEGIN PRIVATE KEY-----", "expected -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----",
            "the line -----BEGIN PRIVATE KEY----- is missing",
            "not PEM: no line \"-----BEGIN PRIVATE KEY-----\"; the connections keep their credentials, and so on",
            "no line -----BEGIN PRIVATE KEY----- before the line that is -----END PRIVATE KEY-----",
            "MIDI files, MIT and MII",
            "/home/MI/\(String(repeating: "long/", count: 40))",
            "eyJ is how a token begins", "whsec_ and the base64 of 24 to 64 bytes",
            "rows.csv:12:3: token: expected hex digits",
        ])
    func plain(text: String) { #expect(Printable.message(text) == text) }
}
