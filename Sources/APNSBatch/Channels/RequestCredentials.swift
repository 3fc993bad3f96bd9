import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// The credentials of single requests, checked and ready for use.
struct RequestCredentials: Sendable {
    private enum Kind: Sendable {
        case none
        case token(SigningKey, ProviderToken.Issuer)
        case issued(SecretBytes)
        case certificate(ClientCertificate)
    }

    private let kind: Kind

    init(_ credentials: Campaign.Credentials) throws(CampaignError) {
        switch credentials {
        case .none: kind = .none
        case .providerToken(let keyPEM, let keyID, let teamID):
            do {
                kind = .token(try SigningKey(pem: keyPEM), try ProviderToken.Issuer(keyID: keyID, teamID: teamID))
            } catch let error as CredentialError {
                throw CampaignError(.configuration, "signing key: \(error)", cause: error)
            } catch {
                throw CampaignError(.configuration, "\(error)", cause: error)
            }
        case .issuedToken(let text):
            kind = .issued(try IssuedToken.read(text, now: Int64(SystemClock.seconds())).token.authorization)
        case .certificate(let chainPEM, let keyPEM):
            do {
                kind = .certificate(try ClientCertificate(pem: chainPEM, keyPEM: keyPEM))
            } catch {
                throw CampaignError(.configuration, "client certificate: \(error)", cause: error)
            }
        }
    }

    init(key: SigningKey, issuer: ProviderToken.Issuer) { kind = .token(key, issuer) }
    init(issued authorization: SecretBytes) { kind = .issued(authorization) }
    init(certificate: ClientCertificate) { kind = .certificate(certificate) }

    /// Returns the `authorization` field with a new provider token; nil with a certificate or without credentials.
    ///
    /// - Parameter now: Seconds since 1970-01-01 00:00 UTC.
    func authorization(now: UInt64) throws(CampaignError) -> SecretBytes? {
        if case .issued(let authorization) = kind { return authorization }
        guard case .token(let key, let issuer) = kind else { return nil }
        do {
            return try ProviderToken.make(issuer: issuer, issuedAt: Int64(now)) {
                (message) throws(CredentialError) in try key.sign(message)
            }.authorization
        } catch {
            throw CampaignError(.system, "cannot sign a provider token: \(error)", cause: error)
        }
    }

    /// What they are, in messages.
    var name: String { if case .certificate = kind { "client certificate" } else { "provider token" } }

    /// Returns the TLS options of a connection, with the client certificate if there is one.
    func tls(_ trust: TLSOptions) -> TLSOptions {
        guard case .certificate(let certificate) = kind else { return trust }
        var tls = trust
        tls.certificate = certificate.certificatePEM
        tls.key = certificate.keyPEM
        return tls
    }
}
