import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification

/// The source of provider tokens for the new connections of one team, shared by all lanes. Mints tokens by the rules of
/// `ProviderTokenRotation`, one at a time, or gives out the one token that was made elsewhere. Belongs to one key or to one such
/// token; another one has a source of its own.
package final class ProviderTokenSource: Sendable {
    private struct State {
        var rotation: ProviderTokenRotation
        var clock = ClockWatch()
        var current: ProviderToken?
        /// Whether APNs has called the token that was made elsewhere expired.
        var isIssuedExpired = false
    }

    /// What a connection gets.
    enum Lease: Sendable {
        /// The token, how long the connection may use it, and after what time its successor is due, both in nanoseconds.
        case token(
            ProviderTokenRotation.Token, authorization: SecretBytes, usableFor: UInt64, successorAfter: UInt64)
        /// No connection may be opened for this many nanoseconds.
        case wait(UInt64)
        /// No connection can be opened until there is another token; the text is the reason.
        case expired(String)
    }

    private enum Origin: Sendable {
        case key(SigningKey, RunLog)
        case issued(ProviderToken)
    }

    private let origin: Origin
    let issuer: ProviderToken.Issuer
    private let rule: ProviderTokenRotation.Rule
    private let state: Guarded<State>
    private let surroundings: Surroundings
    private let sign: (@Sendable ([UInt8]) -> [UInt8])?

    init(
        keyPEM: [UInt8], keyID: String, teamID: String, rule: ProviderTokenRotation.Rule, log: RunLog,
        surroundings: Surroundings = .system
    ) throws(CampaignError) {
        self.rule = rule
        self.surroundings = surroundings
        sign = surroundings.sign
        state = Guarded(State(rotation: ProviderTokenRotation(rule: rule)))
        issuer = try CampaignError.mapping(.configuration) { try ProviderToken.Issuer(keyID: keyID, teamID: teamID) }
        do {
            origin = .key(try SigningKey(pem: keyPEM), log)
        } catch {
            throw CampaignError(.configuration, "signing key: \(error)", cause: error)
        }
    }

    /// Creates the source of a token that was made elsewhere.
    init(
        issued text: [UInt8], rule: ProviderTokenRotation.Rule, surroundings: Surroundings = .system
    ) throws(CampaignError) {
        self.rule = rule
        (self.surroundings, sign) = (surroundings, nil)
        state = Guarded(State(rotation: ProviderTokenRotation(rule: rule)))
        let issued = try IssuedToken.read(text, now: Int64(surroundings.seconds()))
        (origin, issuer) = (.issued(issued.token), issued.issuer)
    }

    /// Returns the token for a connection that is about to open, or how long that must wait.
    func lease() throws(CampaignError) -> Lease {
        if case .issued(let token) = origin { return lease(token, Int64(surroundings.seconds())) }
        return try state.withLock { (state) throws(CampaignError) in
            let now = readClock(&state)
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

    /// Returns the time of day, by which `iat` is made, and informs the rotation if it was set since the last call.
    private func readClock(_ state: inout State) -> Int64 {
        let now = Int64(surroundings.seconds())
        let change = state.clock.look(wallClock: now, monotonic: surroundings.monotonic())
        if change != 0 { state.rotation.clockWasSet(by: change) }
        return now
    }

    /// Its connections get successors when another token replaces it, and end with it otherwise.
    private func lease(_ token: ProviderToken, _ now: Int64) -> Lease {
        let left = token.issuedAt + rule.retireAfter - now
        guard left > 0, !state.withLock(\.isIssuedExpired) else {
            return .expired(
                "the provider token of team \(issuer.teamID) with key \(issuer.keyID) was issued "
                    + "\(max(0, now - token.issuedAt) / 60) minutes ago and is used up; replace it")
        }
        return .token(
            .init(number: 1, mintedAt: token.issuedAt), authorization: token.authorization,
            usableFor: Self.nanoseconds(left), successorAfter: Self.nanoseconds(left))
    }

    private func mint(_ token: ProviderTokenRotation.Token) throws(CampaignError) -> ProviderToken? {
        guard case .key(let key, let log) = origin else { return nil }
        do {
            let made = try ProviderToken.make(issuer: issuer, issuedAt: token.mintedAt) {
                (message) throws(CredentialError) in
                if let sign { return sign(message) }
                return try key.sign(message)
            }
            log.minted(issuer)
            return made
        } catch {
            throw CampaignError(.system, "cannot sign a provider token: \(error)", cause: error)
        }
    }

    /// Whether the other source signs for the same team with the same key under the same id, or has the same token.
    func isLike(_ other: ProviderTokenSource) -> Bool {
        guard issuer == other.issuer else { return false }
        switch (origin, other.origin) {
        case (.key(let own, _), .key(let its, _)):
            guard let own = try? own.publicKeyPEM else { return false }
            return own == (try? its.publicKeyPEM)
        case (.issued(let own), .issued(let its)): return own.authorization.hasSameBytes(as: its.authorization)
        default: return false
        }
    }

    /// Notes that APNs called this token expired. Returns false if it cannot have expired, so that a clock must be wrong.
    func expired(_ token: ProviderTokenRotation.Token) -> Bool {
        state.withLock { state in
            guard case .key = origin else {
                state.isIssuedExpired = true
                return true
            }
            return state.rotation.expired(token, now: readClock(&state)) == .renewed
        }
    }

    func tooManyUpdates() { state.withLock { $0.rotation.tooManyUpdates(now: readClock(&$0)) } }

    private static func nanoseconds(_ seconds: Int64) -> UInt64 { UInt64(max(0, seconds)) * 1_000_000_000 }
}

extension IssuedToken {
    /// Reads a token; a line end after it is ignored.
    package static func read(_ text: [UInt8], now: Int64) throws(CampaignError) -> IssuedToken {
        let end = text.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }.map { $0 + 1 } ?? 0
        do {
            return try IssuedToken(text[..<end], now: now)
        } catch {
            throw CampaignError(.configuration, "provider token: \(error)", cause: error)
        }
    }
}
