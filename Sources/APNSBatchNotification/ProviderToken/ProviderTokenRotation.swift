/// When to mint a provider token, and which connection uses which: one value per team, shared by all its connections.
///
/// Source: Apple, "Establishing a token-based connection to APNs": a token is good for one hour and must not be renewed
/// more often than every 20 minutes on the same connection. The rule that keeps both: a new one is minted when the last
/// is 30 minutes old, and a connection keeps the token it started with until that is 52 minutes old, then it is
/// replaced; its successor is opened a little before.
///
///     (no token) ──new connection──▶ mint 1 ──30 min──▶ mint 2 for new connections ──30 min──▶ …
///                                      └── connections of 1: keep ─────────────52 min──▶ replace
///
/// Time is passed in, in seconds since 1970-01-01 00:00 UTC: APNs judges `iat` by the clock on the wall. A clock set
/// back makes a token look fresh, never wrong.
package struct ProviderTokenRotation: Equatable, Sendable {
    /// The limits, in seconds.
    package struct Rule: Equatable, Sendable {
        /// A new connection gets a new token when the last one is this old.
        package var mintAfter: Int64
        /// A connection is replaced when its token is this old.
        package var retireAfter: Int64
        /// How long nothing is minted after TooManyProviderTokenUpdates.
        package var pause: Int64
        /// A token younger than this that APNs calls expired means that a clock is wrong.
        package var surelyValid: Int64

        /// - Parameters:
        ///   - mintAfter: at least 1.
        ///   - retireAfter: more than `mintAfter`.
        ///   - pause: 20 minutes by default, as `surelyValid`.
        package init(mintAfter: Int64, retireAfter: Int64, pause: Int64 = 1200, surelyValid: Int64 = 1200) {
            precondition(0 < mintAfter && mintAfter < retireAfter && 0 <= pause && 0 <= surelyValid)
            self.mintAfter = mintAfter
            self.retireAfter = retireAfter
            self.pause = pause
            self.surelyValid = surelyValid
        }

        /// How long before its end a connection's successor is opened: half a minute, but never so early that it would
        /// get the same token.
        var ahead: Int64 { min(30, (retireAfter - mintAfter) / 2) }

        /// 30, 52, 20 and 20 minutes.
        package static let standard = Rule(mintAfter: 1800, retireAfter: 3120)
    }

    /// A token by its number, from 1; the text is the caller's to keep.
    package struct Token: Hashable, Sendable {
        package let number: Int
        package let mintedAt: Int64
    }

    /// What a new connection does about its token.
    package enum Start: Equatable, Sendable {
        /// Make a token with this `iat`, remember it under its number, and use it.
        case mint(Token)
        /// Use the one made before.
        case use(Token)
        /// Open no connection before then.
        case wait(until: Int64)
    }

    /// What to do when APNs called a token expired. The connection it was on is replaced in every case.
    package enum Expired: Equatable, Sendable {
        /// The next connection gets another token.
        case renewed
        /// A token that cannot be an hour old was called expired, and so was its successor: this machine's clock is
        /// wrong.
        case clockWrong
    }

    private let rule: Rule
    private var last: Token?
    /// The last token is no longer for new connections.
    private var lastExpired = false
    /// Tokens in a row called expired when they were surely valid.
    private var doubtfulInARow = 0
    /// Nothing is minted before then.
    private var pausedUntil: Int64?

    package init(rule: Rule = .standard) {
        self.rule = rule
    }
}

extension ProviderTokenRotation {
    /// A connection is about to open.
    package mutating func connectionStarts(now: Int64) -> Start {
        if let last, !lastExpired, now - last.mintedAt < rule.mintAfter { return .use(last) }
        guard let until = pausedUntil, now < until else { return .mint(mint(now)) }
        // Not allowed to mint: the old one will do while it has life left.
        if let last, !lastExpired, now - last.mintedAt < rule.retireAfter { return .use(last) }
        return .wait(until: until)
    }

    /// When a connection that started with this token must be replaced: open no stream on it from then on.
    package func retirement(of token: Token) -> Int64 {
        token.mintedAt + rule.retireAfter
    }

    /// When the successor of a connection that starts now with this token is opened, so that it is there in time. A token
    /// that is older already is one that could not be renewed: then not before the connection's end.
    package func succession(of token: Token, now: Int64) -> Int64 {
        let end = retirement(of: token)
        return now < end - rule.ahead ? end - rule.ahead : end
    }

    /// A request on a connection that started with this token was answered ExpiredProviderToken.
    package mutating func expired(_ token: Token, now: Int64) -> Expired {
        // Late words about a token that is already replaced, or the same word again.
        guard let last, token == last, !lastExpired else { return .renewed }
        lastExpired = true
        doubtfulInARow = now - token.mintedAt < rule.surelyValid ? doubtfulInARow + 1 : 0
        return doubtfulInARow >= 2 ? .clockWrong : .renewed
    }

    /// A request was answered TooManyProviderTokenUpdates: the token stays, and none is minted for a while. The many
    /// answers to requests that were on their way count as one.
    package mutating func tooManyUpdates(now: Int64) {
        if let until = pausedUntil, now < until { return }
        pausedUntil = now + rule.pause
    }

    private mutating func mint(_ now: Int64) -> Token {
        let token = Token(number: (last?.number ?? 0) + 1, mintedAt: now)
        last = token
        lastExpired = false
        pausedUntil = nil
        return token
    }
}
