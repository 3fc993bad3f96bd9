import Foundation

/// Certificates and keys that a test generates for its own use.
struct TestCredentials {
    static let topic = "com.example.app"
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"

    let authority: String
    let certificate: String
    let key: String
    let providerKey: String
    let providerPublicKey: String

    init(in scratch: Scratch) throws {
        try prepare(Tools.script("make-test-certs"), [scratch.directory.path], in: scratch)
        authority = scratch.path("ca.pem")
        certificate = scratch.path("cert.pem")
        key = scratch.path("key.pem")
        providerKey = scratch.path("AuthKey.p8")
        providerPublicKey = scratch.path("AuthKey.pub.pem")
        try prepare(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", providerKey], in: scratch)
        try prepare("openssl", ["pkey", "-in", providerKey, "-pubout", "-out", providerPublicKey], in: scratch)
    }

    /// Flags with which the sender trusts the servers of these tests and signs with this key.
    var flags: [String] {
        [
            "--topic", Self.topic, "--key-file", providerKey, "--key-id", Self.keyID, "--team-id", Self.teamID,
            "--ca-file", authority,
        ]
    }
}
