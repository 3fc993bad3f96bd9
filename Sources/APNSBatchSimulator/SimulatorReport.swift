/// The counts of a simulator, from start to stop.
package struct SimulatorReport: Sendable, Equatable {
    package struct AnswerCount: Sendable, Equatable {
        package var status: Int
        /// The reason; empty for an answer without one.
        package var reason: String
        package var count: UInt64

        package init(status: Int, reason: String, count: UInt64) {
            self.status = status
            self.reason = reason
            self.count = count
        }
    }

    /// The number of requests with a valid token of a team.
    package struct TeamCount: Sendable, Equatable {
        package var teamID: String
        package var requests: UInt64
    }

    package struct FaultCount: Sendable, Equatable {
        /// The key of the fault in the script.
        package var name: String
        package var count: Int
    }

    /// The number of complete requests received.
    package var requests: UInt64 = 0
    /// The number of pushes to devices that were accepted.
    package var accepted: UInt64 = 0
    /// All answers with the most frequent first, including those whose connection ended before they were sent.
    package var answers: [AnswerCount] = []
    /// The number of different valid device tokens.
    package var tokens = 0
    /// The number of valid device tokens that were received more than once.
    package var tokensReceivedAgain = 0
    /// The number of accepted payloads with white space outside strings, which is allowed but unnecessary.
    package var payloadsWithBlanks: UInt64 = 0
    /// The number of broadcasts that were accepted.
    package var broadcasts: UInt64 = 0
    /// The number of channels at the end.
    package var channels = 0
    /// The number of connections on which HTTP/2 began.
    package var connections: UInt64 = 0
    /// The number of connections with a client certificate.
    package var connectionsWithCertificate: UInt64 = 0
    /// The number of connections on which provider tokens of two teams were received.
    package var connectionsWithTwoTeams: UInt64 = 0
    /// The number of requests with another provider token too soon after the previous one on their connection.
    package var tokensTooEarly: UInt64 = 0
    /// The number of requests with a provider token that was too old.
    package var tokensExpired: UInt64 = 0
    /// The counts of each team, in the order of the keys.
    package var teams: [TeamCount] = []
    /// The maximum number of requests that were open at once on one connection.
    package var mostStreams = 0
    /// The maximum number of requests that were open at once on all connections.
    package var mostStreamsTotal = 0
    /// The faults in the order of the script. Faults at bytes are not included; they are counted in
    /// `connectionsAborted`.
    package var faults: [FaultCount] = []
    /// The number of requests not processed because of a fault: refused, or above the last stream of a GOAWAY.
    package var notProcessed: UInt64 = 0
    /// The number of connections that were ended on purpose.
    package var connectionsAborted: UInt64 = 0
    /// The number of connections that ended because the client broke a rule of HTTP/2 or exceeded a limit.
    package var connectionsViolated: UInt64 = 0
    /// The loop that was used: `io_uring` or `epoll`.
    package var loop = ""
    /// Other failures in English, for instance counts that could not be written.
    package var failures: [String] = []

    package func count(status: Int, reason: String = "") -> UInt64 {
        answers.first { $0.status == status && $0.reason == reason }?.count ?? 0
    }
}
