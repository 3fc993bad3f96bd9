import Credentials
import Identities

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

    /// - Parameters:
    ///   - hosts: names and addresses that the certificate is for.
    ///   - days: how long it is valid.
    package static func make(hosts: [String], days: Int = 30) throws(SimulatorError) -> Occasion {
        do {
            let identity = try ServerIdentity.make(hosts: hosts, days: days)
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
}
