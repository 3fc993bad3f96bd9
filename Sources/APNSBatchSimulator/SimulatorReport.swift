/// The counts of a simulator, from start to stop.
package struct SimulatorReport: Sendable, Equatable {
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

    package struct FaultCount: Sendable, Equatable {
        /// The fault's key in the script.
        package var name: String
        package var count: Int
    }

    /// The number of complete requests received.
    package var requests: UInt64 = 0
    /// The number of pushes to devices that were accepted.
    package var accepted: UInt64 = 0
    /// All answers, the most frequent first, including those whose connection ended before they were sent.
    package var answers: [AnswerCount] = []
    /// The number of different valid device tokens.
    package var tokens = 0
    /// The number of valid device tokens that were received more than once.
    package var tokensReceivedAgain = 0
    /// Payloads accepted that held white space outside strings: allowed, but not paid for.
    package var payloadsWithBlanks: UInt64 = 0
    /// The number of broadcasts that were accepted.
    package var broadcasts: UInt64 = 0
    /// The number of channels at the end.
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
    /// The counts of each team, in the order of the keys.
    package var teams: [TeamCount] = []
    /// The most requests that were open at once on one connection.
    package var mostStreams = 0
    /// The most requests that were open at once in all.
    package var mostStreamsTotal = 0
    /// Faults in the order of the script. Those at bytes are not among them: see `connectionsAborted`.
    package var faults: [FaultCount] = []
    /// The number of requests not processed because of a fault: refused, or above the last stream of a GOAWAY.
    package var notProcessed: UInt64 = 0
    /// Connections that were ended on purpose.
    package var connectionsAborted: UInt64 = 0
    /// Connections that ended because the client broke a rule of HTTP/2 or went past a limit.
    package var connectionsViolated: UInt64 = 0
    /// The loop that ran: `io_uring` or `epoll`.
    package var loop = ""
    /// Other failures, in English, such as counts that could not be written.
    package var failures: [String] = []

    package func count(status: Int, reason: String = "") -> UInt64 {
        answers.first { $0.status == status && $0.reason == reason }?.count ?? 0
    }
}
