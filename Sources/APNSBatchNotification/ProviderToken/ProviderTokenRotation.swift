/// Decides when provider tokens are minted and which connection uses which: one value per team, shared by all its
/// connections.
///
/// Source: Apple, "Establishing a token-based connection to APNs": a token is valid for one hour, and must not be renewed
/// more often than every 20 minutes on the same connection. The following rule satisfies both: a new token is minted when
/// the last one is 30 minutes old. A connection keeps its first token until that is 52 minutes old, and is then replaced;
/// its successor is opened a little earlier.
///
///     (no token) ──new connection──▶ mint 1 ──30 min──▶ mint 2 for new connections ──30 min──▶ …
///                                      └── connections of 1: keep ─────────────52 min──▶ replace
///
/// Times are parameters, in seconds since 1970-01-01 00:00 UTC, because APNs compares `iat` with the real time. When the clock
/// is set, the ages of tokens are no longer known by it: call `clockWasSet(by:)`.
package struct ProviderTokenRotation: Equatable, Sendable {
    /// Time limits, in seconds.
    package struct Rule: Equatable, Sendable {
        /// Apple's 20 minutes between the tokens of a connection.
        package static let shortestInterval: Int64 = 1200

        /// The age of the last token from which on a new connection gets a new one.
        package var mintAfter: Int64
        /// The age of its token at which a connection is replaced.
        package var retireAfter: Int64
        /// The time during which no token is minted after TooManyProviderTokenUpdates, as long as the last one can be used; and the age
        /// of one that cannot be used any more from which on there is a new one in spite of such an answer.
        package var pause: Int64
        /// The age below which a token cannot have expired. If APNs reports that it has, a clock is wrong.
        package var surelyValid: Int64

        /// - Parameters:
        ///   - mintAfter: at least 1.
        ///   - retireAfter: greater than `mintAfter`.
        ///   - surelyValid: 20 minutes by default.
        package init(mintAfter: Int64, retireAfter: Int64, surelyValid: Int64 = shortestInterval) {
            precondition(0 < mintAfter && mintAfter < retireAfter && 0 <= surelyValid)
            self.mintAfter = mintAfter
            self.retireAfter = retireAfter
            pause = min(mintAfter, Self.shortestInterval)
            self.surelyValid = surelyValid
        }

        /// How long before the end of a connection its successor is opened: half a minute, but never so early that it would
        /// get the same token.
        var ahead: Int64 { min(30, (retireAfter - mintAfter) / 2) }

        /// 30, 52, 20 and 20 minutes.
        package static let standard = Rule(mintAfter: 1800, retireAfter: 3120)
    }

    /// A token, identified by its number, counted from 1. The caller keeps its text.
    package struct Token: Hashable, Sendable {
        package let number: Int
        package let mintedAt: Int64

        package init(number: Int, mintedAt: Int64) { (self.number, self.mintedAt) = (number, mintedAt) }
    }

    /// What a new connection does about its token.
    package enum Start: Equatable, Sendable {
        /// Create a token with this `iat`, store it under its number, and use it.
        case mint(Token)
        /// Use a token that was created before.
        case use(Token)
        /// Open no connection before this time.
        case wait(until: Int64)
    }

    /// What to do after APNs called a token expired. The connection that used it is replaced in every case.
    package enum Expired: Equatable, Sendable {
        /// The next connection gets a new token.
        case renewed
        /// Two tokens in a row were called expired although they cannot have been: this machine's clock is wrong.
        case clockWrong
    }

    private let rule: Rule
    private var last: Token?
    /// Whether the last token must not be used for new connections.
    private var lastExpired = false
    /// Whether the clock was set since the last token was minted.
    private var isLastOfOtherClock = false
    /// The number of consecutive tokens that were called expired although they cannot have been.
    private var doubtfulInARow = 0
    /// No token is minted before this time.
    private var pausedUntil: Int64?

    package init(rule: Rule = .standard) {
        self.rule = rule
    }
}

extension ProviderTokenRotation {
    /// Returns the token for a connection that is about to be opened.
    package mutating func connectionStarts(now: Int64) -> Start {
        if let last, !lastExpired, !isLastOfOtherClock, now - last.mintedAt < rule.mintAfter { return .use(last) }
        guard let last, let until = pausedUntil, now < until else { return .mint(mint(now)) }
        if !lastExpired, now - last.mintedAt < rule.retireAfter { return .use(last) }
        // One connection may be to blame for the answer. It must not stop all others when they need another token, which is not
        // the second one within the time that Apple asks for.
        let renewable = last.mintedAt + rule.pause
        return now < renewable ? .wait(until: min(until, renewable)) : .mint(mint(now))
    }

    /// Returns the time at which a connection with this token must be replaced. No stream may be opened on it from then on.
    package func retirement(of token: Token) -> Int64 {
        token.mintedAt + rule.retireAfter
    }

    /// Returns the time at which the successor of a connection that starts now with this token is opened, so that it is
    /// ready in time. If that time has passed, the token could not be renewed, and the successor is opened only at the
    /// connection's end.
    package func succession(of token: Token, now: Int64) -> Int64 {
        let end = retirement(of: token)
        return now < end - rule.ahead ? end - rule.ahead : end
    }

    /// Handles an answer ExpiredProviderToken on a connection that started with this token.
    package mutating func expired(_ token: Token, now: Int64) -> Expired {
        // A late answer about a token that is already replaced, or a repeated one.
        guard let last, token == last, !lastExpired else { return .renewed }
        lastExpired = true
        doubtfulInARow = now - token.mintedAt < rule.surelyValid ? doubtfulInARow + 1 : 0
        return doubtfulInARow >= 2 ? .clockWrong : .renewed
    }

    /// Handles an answer TooManyProviderTokenUpdates: the token stays, and none is minted for a while unless it cannot be used any
    /// more. The answers to all requests that were in flight count as one.
    package mutating func tooManyUpdates(now: Int64) {
        if let until = pausedUntil, now < until { return }
        pausedUntil = now + rule.pause
    }

    /// Notes that the clock was set. The next connection gets a token by the new time, and a pause ends when it would have ended.
    package mutating func clockWasSet(by seconds: Int64) {
        isLastOfOtherClock = true
        pausedUntil = pausedUntil.map { $0 + seconds }
    }

    private mutating func mint(_ now: Int64) -> Token {
        let token = Token(number: (last?.number ?? 0) + 1, mintedAt: now)
        last = token
        (lastExpired, isLastOfOtherClock) = (false, false)
        pausedUntil = nil
        return token
    }
}
