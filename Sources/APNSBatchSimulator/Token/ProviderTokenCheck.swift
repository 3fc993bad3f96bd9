/// Judges `authorization` on each request (Apple, "Establishing a token-based connection to APNs").
///
/// - 403 MissingProviderToken: no header, or no token in it.
/// - 403 InvalidProviderToken: not `bearer` and a token of the right form; `alg` not ES256; unknown `kid`; `iss` not
///   the team of the key; wrong signature; `iat` in the future; a team other than the first one on this connection.
/// - 403 BadEnvironmentKeyIdInToken: a key of the other environment.
/// - 403 UnrelatedKeyIdInToken: another key of the same team than the first one on this connection.
/// - 403 ExpiredProviderToken: `iat` more than an hour ago.
/// - 429 TooManyProviderTokenUpdates: another token than the last one on this connection, which was less than 20
///   minutes in use.
///
/// Apple gives no reason for the second team; the one chosen says that the token is not valid here.
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
    ///   - header: the value of `authorization`, nil when there is none.
    ///   - connection: what is remembered of the connection; updated.
    ///   - now: milliseconds since the epoch.
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

    /// The token behind `bearer` and blanks; the scheme's name in either case (RFC 9110, section 11.1). Nil for another
    /// scheme.
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

    /// The cache's entry for a token, after checking it where it is new.
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

    /// The rules about one connection: one team, one key, and no new token within the interval.
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
    /// How far in the future a token may have been issued, for clocks that differ.
    var clockToleranceMilliseconds: Int64 = 60_000
}

/// A signing key that the simulator knows.
@safe struct ProviderKey: Sendable {
    var keyID: String
    var teamID: String
    /// Number of the team; keys of one team have the same.
    var team: Int32
    var number: Int32 = -1
    /// The topics of the key; nil for those of the simulator.
    var topics: [String]?
    var isOfOtherEnvironment = false
    /// Whether a signature (64 bytes, r and s) is this key's over the message.
    var verify: @Sendable (_ message: Bytes, _ signature: [UInt8]) -> Bool

    /// Numbers the keys, and their teams in order of appearance.
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
