import APNSBatchSimulator

extension Simulator {
    /// What a simulator has counted since it started.
    public struct Report: Sendable, Hashable {
        /// How often an answer was given.
        public struct AnswerCount: Sendable, Hashable {
            /// The HTTP status.
            public var status: Int
            /// The reason; nil for answers without one.
            public var reason: String?
            /// How often it was given.
            public var count: Int
        }

        /// The number of requests that were processed.
        public var requests: Int
        /// The number of pushes to devices that were accepted.
        public var accepted: Int
        /// The answers, the most frequent first.
        public var answers: [AnswerCount]
        /// The number of different device tokens.
        public var deviceTokens: Int
        /// The number of device tokens to which more than one request was sent.
        public var deviceTokensAgain: Int
        /// The number of connections.
        public var connections: Int
        /// The largest number of requests that were open at once on one connection.
        public var mostStreams: Int
        /// How often each fault of the configuration has happened, in their order.
        public var faults: [Int]
        /// The number of requests that were not processed because of a fault.
        public var notProcessed: Int
        /// The number of connections that ended because the client broke a rule of HTTP/2 or exceeded a limit.
        public var connectionsViolated: Int
        /// What the simulator itself failed at, in English; empty unless something is wrong with the machine.
        public var failures: [String]

        /// Returns how often an answer was given.
        ///
        /// - Parameters:
        ///   - status: The HTTP status.
        ///   - reason: The reason; nil for answers without one.
        public func count(status: Int, reason: String? = nil) -> Int {
            answers.first { $0.status == status && $0.reason == reason }?.count ?? 0
        }
    }
}

extension Simulator.Report {
    init(_ report: SimulatorReport) {
        requests = Int(clamping: report.requests)
        accepted = Int(clamping: report.accepted)
        answers = report.answers.map {
            AnswerCount(status: $0.status, reason: $0.reason.isEmpty ? nil : $0.reason, count: Int(clamping: $0.count))
        }
        (deviceTokens, deviceTokensAgain) = (report.tokens, report.tokensReceivedAgain)
        connections = Int(clamping: report.connections)
        mostStreams = report.mostStreams
        faults = report.faults.map(\.count)
        notProcessed = Int(clamping: report.notProcessed)
        connectionsViolated = Int(clamping: report.connectionsViolated)
        failures = report.failures
    }
}
