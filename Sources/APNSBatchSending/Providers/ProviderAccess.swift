import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// How connections of one provider prove who they are: read and checked, ready for use. Shared by all lanes.
package struct ProviderAccess: Sendable {
    /// What the log and errors call the team: its id, or the name of its certificate. Empty where nobody asks.
    let name: String
    /// Nil with a client certificate.
    package let tokens: ProviderTokenSource?
    let certificate: ClientCertificate?
    /// Something doubtful about them, such as a certificate that ends soon.
    let warning: String?
    /// Counts how often the credentials were replaced.
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
        case .certificate(let chainPEM, let keyPEM):
            let read = try Self.read(chainPEM, keyPEM)
            (name, tokens, certificate) = ("certificate \"\(read.facts.commonName)\"", nil, read)
            warning = try CertificateDates.check(read.facts, now: Int64(surroundings.seconds()))
        }
    }

    private static func read(_ chainPEM: [UInt8], _ keyPEM: [UInt8]) throws(CampaignError) -> ClientCertificate {
        do {
            return try ClientCertificate(pem: chainPEM, keyPEM: keyPEM)
        } catch {
            throw CampaignError(.configuration, "client certificate: \(error)")
        }
    }

    /// For messages: ` for team DEF123GHIJ`, or nothing.
    var forName: String { name.isEmpty ? "" : " for \(name)" }

    /// For messages that say whose credentials were refused: ` for team DEF123GHIJ with key ABC123DEFG`, the name of the
    /// certificate, or nothing.
    var forCredentials: String { tokens.map { "\(forName) with key \($0.issuer.keyID)" } ?? forName }

    /// Whether connections of the one are as good as connections of the other.
    func isLike(_ other: ProviderAccess) -> Bool {
        switch (tokens, other.tokens) {
        case (nil, nil): certificate?.certificatePEM == other.certificate?.certificatePEM
        case (let own?, let its?): own.isLike(its)
        default: false
        }
    }

    /// The TLS of its connections.
    func tls(_ trust: TLSOptions) -> TLSOptions {
        var tls = trust
        guard let certificate else { return tls }
        tls.certificate = certificate.certificatePEM
        tls.key = certificate.keyPEM
        return tls
    }
}
