/// Checks `authorization` of each request (Apple, "Establishing a token-based connection to APNs").
///
/// - 403 MissingProviderToken: there is no such field, or no token in it.
/// - 403 InvalidProviderToken: it is not `bearer` and a well-formed token, `alg` is not ES256, `kid` is unknown, `iss`
///   is not the team of the key, the signature is wrong, `iat` is in the future, or the team is not the first one on
///   this connection.
/// - 403 BadEnvironmentKeyIdInToken: the key is for the other environment.
/// - 403 UnrelatedKeyIdInToken: the key is not the first one on this connection, but of the same team.
/// - 403 ExpiredProviderToken: `iat` is more than an hour ago.
/// - 429 TooManyProviderTokenUpdates: the token is not the previous one on this connection, which was in use for less
///   than 20 minutes.
///
/// Apple gives no reason for a second team. The simulator uses the one for a token that is not valid.
struct ProviderTokenCheck: ~Copyable {
    private let keys: [ProviderKey]
    private let limits: ProviderTokenLimits
    private var cache = ProviderTokenCache(capacity: 64)
    /// The number of connections on which tokens of two teams were received.
    private(set) var connectionsWithTwoTeams: UInt64 = 0

    init(keys: [ProviderKey], limits: ProviderTokenLimits) {
        self.keys = ProviderKey.numbered(keys)
        self.limits = limits
    }

    /// - Parameters:
    ///   - header: the value of `authorization`, or nil if there is none.
    ///   - connection: the credentials seen on the connection; updated.
    ///   - now: the time in milliseconds since the epoch.
    mutating func answer(_ header: Bytes?, on connection: inout ConnectionIdentity, now: Int64) -> FixedAnswer {
        guard let header = unsafe header, header.count > 0 else { return .missingProviderToken }
        guard let text = unsafe Self.token(in: header) else { return .invalidProviderToken }
        guard text.count > 0 else { return .missingProviderToken }
        if unsafe !cache.holds(text, at: connection.entry) {
            connection.entry = unsafe entry(for: text)
        }
        let token = cache[connection.entry]
        guard token.judgement == .accepted else { return token.judgement }
        guard token.issuedAt <= now + limits.clockToleranceMilliseconds else { return .invalidProviderToken }
        guard now - token.issuedAt <= limits.lifetimeMilliseconds else { return .expiredProviderToken }
        return update(&connection, token, now)
    }

    /// Returns the token after `bearer` and spaces. The case of the scheme's name is ignored (RFC 9110, section 11.1).
    /// Returns nil for another scheme.
    private static func token(in header: Bytes) -> Bytes? {
        guard header.count >= 6 else { return nil }
        let scheme: StaticString = "bearer"
        for index in 0..<6 where unsafe header[index] | 0x20 != scheme.utf8Start[index] {
            return nil
        }
        var start = 6
        while start < header.count, unsafe header[start] == UInt8(ascii: " ") {
            start += 1
        }
        guard start > 6 || start == header.count else { return nil }
        return unsafe header.dropping(start)
    }

    /// Returns the cache's entry for a token, after checking the token if it is new.
    @inline(never)
    private mutating func entry(for text: Bytes) -> Int {
        let known = unsafe cache.find(text)
        guard known < 0 else { return known }
        guard let token = unsafe WebToken(text), let key = key(of: token),
            unsafe key.verify(token.signed, token.signature)
        else {
            return unsafe cache.insert(text, .invalidProviderToken, team: -1, key: -1, issuedAt: 0)
        }
        let judgement = key.isOfOtherEnvironment ? FixedAnswer.badEnvironmentKeyIDInToken : .accepted
        return unsafe cache.insert(text, judgement, team: key.team, key: key.number, issuedAt: token.issuedAt)
    }

    private func key(of token: WebToken) -> ProviderKey? {
        guard token.algorithm == "ES256", token.signature.count == 64 else { return nil }
        return keys.first { $0.keyID == token.keyID && $0.teamID == token.issuer }
    }

    /// Checks the rules for one connection: one team, one key, and no new token within the interval.
    @inline(__always)
    private mutating func update(
        _ connection: inout ConnectionIdentity, _ token: KnownToken, _ now: Int64
    ) -> FixedAnswer {
        if connection.token == token.identity {
            return .accepted
        }
        if connection.token != 0 {
            guard connection.team == token.team else {
                connectionsWithTwoTeams += connection.sawOtherTeam ? 0 : 1
                connection.sawOtherTeam = true
                return .invalidProviderToken
            }
            guard connection.key == token.key else { return .unrelatedKeyIDInToken }
            guard now - connection.since >= limits.updateIntervalMilliseconds else {
                return .tooManyProviderTokenUpdates
            }
        }
        connection.token = token.identity
        connection.team = token.team
        connection.key = token.key
        connection.since = now
        return .accepted
    }
}

struct ProviderTokenLimits {
    var lifetimeMilliseconds: Int64 = 3_600_000
    /// The minimum time between two tokens on one connection.
    var updateIntervalMilliseconds: Int64 = 1_200_000
    /// How far in the future a token may have been issued, to allow for clock differences.
    var clockToleranceMilliseconds: Int64 = 60_000
}

/// A signing key of the simulator.
@safe struct ProviderKey: Sendable {
    var keyID: String
    var teamID: String
    /// The index of the team, which is the same for all keys of a team.
    var team: Int32
    var number: Int32 = -1
    /// The topics of the key; nil for the simulator's own ones.
    var topics: [String]?
    var isOfOtherEnvironment = false
    /// Returns whether a signature (64 bytes, r and s) of the message was made with this key.
    var verify: @Sendable (_ message: Bytes, _ signature: [UInt8]) -> Bool

    /// Assigns an index to each key, and to their teams in order of appearance.
    static func numbered(_ keys: [ProviderKey]) -> [ProviderKey] {
        var teams: [String: Int32] = [:]
        return keys.enumerated().map { number, key in
            var key = key
            key.number = Int32(number)
            key.team = teams[key.teamID, default: Int32(teams.count)]
            teams[key.teamID] = key.team
            return key
        }
    }
}
