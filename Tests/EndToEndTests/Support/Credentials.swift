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

    /// - Parameter isOther: Whether they are those of somebody whom no other test knows.
    init(in scratch: Scratch, isOther: Bool = false) throws {
        for file in isOther ? try Self.make() : try Self.made.get() {
            _ = FileManager.default.createFile(
                atPath: scratch.path(file.name), contents: file.content, attributes: [.posixPermissions: file.mode])
        }
        authority = scratch.path("ca.pem")
        certificate = scratch.path("cert.pem")
        key = scratch.path("key.pem")
        providerKey = scratch.path("AuthKey.p8")
        providerPublicKey = scratch.path("AuthKey.pub.pem")
    }

    private struct File: Sendable {
        let name: String
        let content: Data
        let mode: Int
    }

    /// The files, which are made once: ten programs take a part in that. Each test has copies of its own.
    private static let made = Result { try make() }

    private static func make() throws -> [File] {
        let scratch = try Scratch()
        try prepare(Tools.script("make-test-certs"), [scratch.directory.path], in: scratch)
        let key = scratch.path("AuthKey.p8")
        try prepare(
            "openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key], in: scratch)
        try prepare("openssl", ["pkey", "-in", key, "-pubout", "-out", scratch.path("AuthKey.pub.pem")], in: scratch)
        return try ["ca.pem", "cert.pem", "key.pem", "AuthKey.p8", "AuthKey.pub.pem"].map { name in
            let mode = try FileManager.default.attributesOfItem(atPath: scratch.path(name))[.posixPermissions]
            return File(name: name, content: try Data(contentsOf: scratch.file(name)), mode: mode as? Int ?? 0o600)
        }
    }

    /// Flags with which the sender trusts the servers of these tests and signs with this key.
    var flags: [String] {
        [
            "--topic", Self.topic, "--key-file", providerKey, "--key-id", Self.keyID, "--team-id", Self.teamID,
            "--ca-file", authority,
        ]
    }
}
