/// What to do with a row after an answer.
package enum AnswerAction: Equatable, Sendable {
    case accepted
    /// The push was finally refused.
    case rejected(TokenAdvice)
    /// The campaign ends, because all further rows would get the same answer.
    case stop
    /// The row is sent again on these terms.
    case retry(Retry)
}

/// What the owner of the token list should do about a row's token.
package enum TokenAdvice: Equatable, Sendable {
    /// Nothing: the token is not the cause.
    case none
    /// Set it aside and check it: it may be valid in the other environment.
    case quarantine
    /// Delete it, if it was registered before the answer's timestamp.
    case delete
}

/// The terms on which a row is sent again.
package struct Retry: Equatable, Sendable {
    /// How long the row waits; see ``RetryBackoff``.
    package enum Delay: Equatable, Sendable {
        /// No delay.
        case none
        /// For conditions that pass within seconds or minutes.
        case short
        /// For trouble at APNs itself; Apple recommends 15 minutes.
        case long
    }

    /// What happens to the connection of the answer, and which connection sends the row again.
    package enum Connection: Equatable, Sendable {
        /// The connection stays, and any connection sends the row.
        case any
        /// The connection is closed after its last answer, and a new one sends the row.
        case replace
    }

    /// What happens to the provider token.
    package enum Token: Equatable, Sendable {
        case keep
        /// New connections get a new token: ``ProviderTokenRotation/expired(_:now:)``.
        case renew
        /// No token is minted for a while: ``ProviderTokenRotation/tooManyUpdates(now:)``.
        case pause
    }

    /// How often a row is sent again.
    package enum Limit: Equatable, Sendable {
        /// As often as the campaign allows. After that this answer is final.
        case campaign
        /// This many times per row, counted over all answers with such a limit. The next one stops the campaign.
        case stop(after: UInt8)
    }

    package var delay: Delay
    package var connection: Connection
    package var token: Token
    package var limit: Limit

    init(after delay: Delay, connection: Connection = .any, token: Token = .keep, limit: Limit = .campaign) {
        (self.delay, self.connection, self.token, self.limit) = (delay, connection, token, limit)
    }
}

/// What a high share of a final answer means for the whole campaign, while a single one means nothing.
package enum AnswerAlarm: Equatable, Sendable {
    /// The tokens belong to the other environment.
    case wrongEnvironment
    /// The tokens belong to another app.
    case wrongTopic
    /// All rows have the same fault, which was not found by the checks before sending.
    case everyRow
}
