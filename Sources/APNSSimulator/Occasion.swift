import Credentials
import Glibc

/// A certificate and a signing key made for one occasion: what a simulator and its sender need when nobody has given them
/// any.
package struct Occasion: Sendable {
    package static let keyID = "SIMULATOR1"
    package static let teamID = "SIMTEAM001"

    /// Whom the sender must trust.
    package let authorityPEM: [UInt8]
    package let certificatePEM: [UInt8]
    package let keyPEM: [UInt8]
    /// What the sender signs provider tokens with.
    package let signingKeyPEM: [UInt8]
    package let publicKeyPEM: [UInt8]

    /// - Parameter hosts: names and addresses that the certificate is for.
    package static func make(hosts: [String]) throws(SimulatorError) -> Occasion {
        do {
            let identity = try ServerIdentity.make(hosts: hosts)
            let signer = try SigningKey.generate()
            return Occasion(
                authorityPEM: identity.caPEM, certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM,
                signingKeyPEM: try signer.privateKeyPEM, publicKeyPEM: try signer.publicKeyPEM)
        } catch {
            throw .configuration("cannot make a certificate: \(error)")
        }
    }

    /// A client certificate for an app, for a simulator whose `clientAuthorityPEM` is that certificate.
    package static func client(app: String) throws(SimulatorError) -> (certificatePEM: [UInt8], keyPEM: [UInt8]) {
        do {
            let client = try SelfSignedClient.make(userID: app)
            return (client.certificatePEM, client.keyPEM)
        } catch {
            throw .configuration("cannot make a client certificate: \(error)")
        }
    }

    package static let authorityFile = "ca.pem"
    package static let signingKeyFile = "AuthKey.p8"

    /// Writes what the sender needs into a directory, made if missing; the key readable by its owner only.
    package func write(to directory: String) throws(SimulatorError) {
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else { throw Self.cannotWrite(directory) }
        try Self.write(authorityPEM, to: "\(directory)/\(Self.authorityFile)", mode: 0o644)
        try Self.write(signingKeyPEM, to: "\(directory)/\(Self.signingKeyFile)", mode: 0o600)
    }

    private static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(SimulatorError) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw cannotWrite(path) }
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw cannotWrite(path) }
    }

    private static func cannotWrite(_ path: String) -> SimulatorError {
        .configuration("cannot write \(path): \(String(cString: strerror(errno)))")
    }
}
