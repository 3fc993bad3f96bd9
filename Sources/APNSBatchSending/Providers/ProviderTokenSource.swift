import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification

/// The source of provider tokens for the new connections of one team, shared by all lanes. Mints tokens by the rules of
/// `ProviderTokenRotation`, one at a time. Belongs to one key; another key has a source of its own.
package final class ProviderTokenSource: Sendable {
    private struct State {
        var rotation: ProviderTokenRotation
        var current: ProviderToken?
    }

    /// What a connection gets.
    enum Lease: Sendable {
        /// The token, how long the connection may use it, and after what time its successor is due, both in nanoseconds.
        case token(
            ProviderTokenRotation.Token, authorization: SecretBytes, usableFor: UInt64, successorAfter: UInt64)
        /// No connection may be opened for so many nanoseconds.
        case wait(UInt64)
    }

    private let key: SigningKey
    let issuer: ProviderToken.Issuer
    private let log: RunLog
    private let state: Guarded<State>
    /// Returns the time in seconds since the epoch.
    private let clock: @Sendable () -> UInt64
    private let sign: (@Sendable ([UInt8]) -> [UInt8])?

    init(
        keyPEM: [UInt8], keyID: String, teamID: String, rule: ProviderTokenRotation.Rule, log: RunLog,
        surroundings: Surroundings = .system
    ) throws(CampaignError) {
        self.log = log
        clock = surroundings.seconds
        sign = surroundings.sign
        state = Guarded(State(rotation: ProviderTokenRotation(rule: rule)))
        issuer = try CampaignError.mapping(.configuration) { try ProviderToken.Issuer(keyID: keyID, teamID: teamID) }
        do {
            key = try SigningKey(pem: keyPEM)
        } catch {
            throw CampaignError(.configuration, "signing key: \(error)")
        }
    }

    /// Returns the token for a connection that is about to open, or how long that must wait.
    func lease() throws(CampaignError) -> Lease {
        let now = Int64(clock())
        return try state.withLock { (state) throws(CampaignError) in
            let token: ProviderTokenRotation.Token
            switch state.rotation.connectionStarts(now: now) {
            case .use(let known): token = known
            case .wait(let until): return .wait(Self.nanoseconds(until - now))
            case .mint(let made):
                token = made
                state.current = try mint(made)
            }
            guard let current = state.current else { return .wait(Self.nanoseconds(1)) }
            return .token(
                token, authorization: current.authorization,
                usableFor: Self.nanoseconds(state.rotation.retirement(of: token) - now),
                successorAfter: Self.nanoseconds(state.rotation.succession(of: token, now: now) - now))
        }
    }

    private func mint(_ token: ProviderTokenRotation.Token) throws(CampaignError) -> ProviderToken {
        do {
            let made = try ProviderToken.make(issuer: issuer, issuedAt: token.mintedAt) {
                (message) throws(CredentialError) in
                if let sign { return sign(message) }
                return try key.sign(message)
            }
            log.minted(issuer)
            return made
        } catch {
            throw CampaignError(.system, "cannot sign a provider token: \(error)")
        }
    }

    /// Whether the other source signs for the same team with the same key under the same id.
    func isLike(_ other: ProviderTokenSource) -> Bool {
        guard issuer == other.issuer, let own = try? key.publicKeyPEM else { return false }
        return own == (try? other.key.publicKeyPEM)
    }

    /// Notes that APNs called this token expired. Returns false if it cannot have expired, so that a clock must be wrong.
    func expired(_ token: ProviderTokenRotation.Token) -> Bool {
        state.withLock { $0.rotation.expired(token, now: Int64(clock())) } == .renewed
    }

    func tooManyUpdates() { state.withLock { $0.rotation.tooManyUpdates(now: Int64(clock())) } }

    private static func nanoseconds(_ seconds: Int64) -> UInt64 { UInt64(max(0, seconds)) * 1_000_000_000 }
}
