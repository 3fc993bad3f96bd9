import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// The credentials with which the connections of one provider authenticate: read, checked and ready for use. Shared by all
/// lanes.
package struct ProviderAccess: Sendable {
    /// The name of the team in the log and in errors: its id, or the name of its certificate. Empty without credentials.
    let name: String
    /// Nil with a client certificate.
    package let tokens: ProviderTokenSource?
    let certificate: ClientCertificate?
    /// A warning about the credentials, such as that a certificate expires soon.
    let warning: String?
    /// The generation of the credentials; it grows with each replacement.
    let generation: Int

    init(
        _ credentials: Campaign.Credentials, generation: Int = 0, rule: ProviderTokenRotation.Rule, log: RunLog,
        surroundings: Surroundings = .system
    ) throws(CampaignError) {
        self.generation = generation
        switch credentials {
        case .none: (name, tokens, certificate, warning) = ("", nil, nil, nil)
        case .providerToken(let keyPEM, let keyID, let teamID):
            tokens = try ProviderTokenSource(
                keyPEM: keyPEM, keyID: keyID, teamID: teamID, rule: rule, log: log, surroundings: surroundings)
            (name, certificate, warning) = ("team \(teamID)", nil, nil)
        case .issuedToken(let text):
            let tokens = try ProviderTokenSource(issued: text, rule: rule, surroundings: surroundings)
            (self.tokens, name, certificate, warning) = (tokens, "team \(tokens.issuer.teamID)", nil, nil)
        case .certificate(let chainPEM, let keyPEM):
            let read = try Self.read(chainPEM, keyPEM)
            (name, tokens, certificate) = ("certificate \(read.facts.commonName.quoted)", nil, read)
            warning = try CertificateDates.check(read.facts, now: Int64(surroundings.seconds()))
        }
    }

    private static func read(_ chainPEM: [UInt8], _ keyPEM: [UInt8]) throws(CampaignError) -> ClientCertificate {
        do {
            return try ClientCertificate(pem: chainPEM, keyPEM: keyPEM)
        } catch {
            throw CampaignError(.configuration, "client certificate: \(error)", cause: error)
        }
    }

    /// The name for messages, such as ` for team DEF123GHIJ`; empty without credentials.
    var forName: String { name.isEmpty ? "" : " for \(name)" }

    /// The name for messages about refused credentials, such as ` for team DEF123GHIJ with key ABC123DEFG`, or with the name
    /// of the certificate; empty without credentials.
    var forCredentials: String { tokens.map { "\(forName) with key \($0.issuer.keyID)" } ?? forName }

    /// What to do about a reason for which these credentials were refused; nil if that is not known.
    func remedy(_ reason: Reason?) -> String? {
        guard case .known(let known) = reason else { return nil }
        return tokens == nil && certificate == nil ? known.remedy : known.remedy(isKey: tokens != nil)
    }

    /// Whether both are the same credentials, so that connections need not be replaced.
    func isLike(_ other: ProviderAccess) -> Bool {
        switch (tokens, other.tokens) {
        case (nil, nil): certificate?.certificatePEM == other.certificate?.certificatePEM
        case (let own?, let its?): own.isLike(its)
        default: false
        }
    }

    /// Returns the TLS options of its connections: `trust`, with the client certificate if there is one.
    func tls(_ trust: TLSOptions) -> TLSOptions {
        var tls = trust
        guard let certificate else { return tls }
        tls.certificate = certificate.certificatePEM
        tls.key = certificate.keyPEM
        return tls
    }
}
