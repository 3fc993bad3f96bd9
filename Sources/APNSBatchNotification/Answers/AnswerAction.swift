/// What an answer means for its row.
package enum AnswerAction: Equatable, Sendable {
    case accepted
    /// APNs refused the push, finally.
    case rejected(TokenAdvice)
    /// The next rows would fare the same: the campaign ends here.
    case stop
    /// The row is sent again, on these terms.
    case retry(Retry)
}

/// What the owner of the token list should do about the row's token.
package enum TokenAdvice: Equatable, Sendable {
    /// Nothing: the token is not to blame.
    case none
    /// Keep it aside and look into it: it may be good in the other environment.
    case quarantine
    /// Delete it, if it was registered before the answer's timestamp.
    case delete
}

/// The terms of sending a row again.
package struct Retry: Equatable, Sendable {
    /// How long to wait; see ``RetryBackoff``.
    package enum Delay: Equatable, Sendable {
        /// The row is sent again at once.
        case none
        /// Something that passes within seconds or minutes.
        case short
        /// APNs itself is in trouble; Apple says after 15 minutes.
        case long
    }

    /// What becomes of the connection that brought the answer, and where the row goes.
    package enum Connection: Equatable, Sendable {
        /// Nothing; any connection will do.
        case any
        /// Stays as it is; the row goes to another one.
        case other
        /// Drained and replaced by a new one, to which the row goes.
        case replace
    }

    /// What becomes of the provider token.
    package enum Token: Equatable, Sendable {
        case keep
        /// A new one for new connections: ``ProviderTokenRotation/expired(_:now:)``.
        case renew
        /// None is minted for a while: ``ProviderTokenRotation/tooManyUpdates(now:)``.
        case pause
    }

    /// How often a row is sent again.
    package enum Limit: Equatable, Sendable {
        /// As often as the campaign allows for all rows; then the row keeps this answer.
        case campaign
        /// So many times for one row; when the same answer comes again after that, the campaign stops.
        case stop(after: UInt8)
    }

    package var delay: Delay
    package var connection: Connection
    package var token: Token
    package var limit: Limit

    package init(
        after delay: Delay, connection: Connection = .any, token: Token = .keep, limit: Limit = .campaign
    ) {
        self.delay = delay
        self.connection = connection
        self.token = token
        self.limit = limit
    }
}

/// What a high share of a final answer says about the whole campaign, while a single one says nothing.
package enum AnswerAlarm: Equatable, Sendable {
    /// The tokens are of the other environment.
    case wrongEnvironment
    /// The tokens are of another app.
    case wrongTopic
    /// Every row has the same fault, which the checks before sending did not see.
    case everyRow
}
