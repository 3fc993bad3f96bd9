/// What a simulator saw, from start to stop.
package struct SimulatorReport: Sendable, Equatable {
    /// How often an answer was given.
    package struct AnswerCount: Sendable, Equatable {
        package var status: Int
        /// Empty for an answer without one.
        package var reason: String
        package var count: UInt64

        package init(status: Int, reason: String, count: UInt64) {
            self.status = status
            self.reason = reason
            self.count = count
        }
    }

    /// How many requests came with a valid token of a team.
    package struct TeamCount: Sendable, Equatable {
        package var teamID: String
        package var requests: UInt64
    }

    /// How often something was done wrong on purpose.
    package struct FaultCount: Sendable, Equatable {
        /// The fault's key in the script.
        package var name: String
        package var count: Int
    }

    /// Requests received whole.
    package var requests: UInt64 = 0
    /// Pushes to devices decided with 200.
    package var accepted: UInt64 = 0
    /// What was decided, the most frequent first. An answer whose connection went away before it left counts too.
    package var answers: [AnswerCount] = []
    /// Different device tokens of the right form.
    package var tokens = 0
    /// How many of them were received more than once.
    package var tokensReceivedAgain = 0
    /// Payloads accepted that held white space outside strings: allowed, but not paid for.
    package var payloadsWithBlanks: UInt64 = 0
    /// Broadcasts decided with 200.
    package var broadcasts: UInt64 = 0
    /// Channels at the end.
    package var channels = 0
    /// Connections on which HTTP/2 began.
    package var connections: UInt64 = 0
    /// Connections with a client certificate.
    package var connectionsWithCertificate: UInt64 = 0
    /// Connections on which provider tokens of two teams came.
    package var connectionsWithTwoTeams: UInt64 = 0
    /// Requests with another provider token too soon after the last one on their connection.
    package var tokensTooEarly: UInt64 = 0
    /// Requests with a provider token that was too old.
    package var tokensExpired: UInt64 = 0
    /// What each team sent, in the order of the keys.
    package var teams: [TeamCount] = []
    /// The most requests that were open at once on one connection.
    package var mostStreams = 0
    /// The most requests that were open at once in all.
    package var mostStreamsTotal = 0
    /// Faults in the order of the script. Those at bytes are not among them: see `connectionsAborted`.
    package var faults: [FaultCount] = []
    /// Requests that a fault kept from being looked at: refused, or above the last stream of a GOAWAY. In no other count.
    package var notProcessed: UInt64 = 0
    /// Connections that were ended on purpose.
    package var connectionsAborted: UInt64 = 0
    /// Connections that ended because the client broke a rule of HTTP/2 or went past a limit.
    package var connectionsViolated: UInt64 = 0
    /// The loop that ran: `io_uring` or `epoll`.
    package var loop = ""
    /// What went wrong besides, in English: the counts could not be written, the loop failed.
    package var failures: [String] = []

    /// How often an answer was given.
    package func count(status: Int, reason: String = "") -> UInt64 {
        answers.first { $0.status == status && $0.reason == reason }?.count ?? 0
    }
}
