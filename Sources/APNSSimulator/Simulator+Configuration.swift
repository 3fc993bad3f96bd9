import APNSBatchSimulator

extension Simulator {
    /// What a simulator does. Without changes it accepts every valid push at once.
    ///
    /// Its memory has limits: at most 256 connections, with at most 65,536 requests in flight and 5,120 bytes of each payload,
    /// and the requests that it keeps (``requestsKept``). Only its counts grow, by 64 to 80 bytes for each different device token.
    public struct Configuration: Sendable {
        /// The bundle ids of the apps to which pushes may be sent, without the suffixes of push types. Other topics get 400
        /// TopicDisallowed. Nil for any topic.
        public var topics: [String]?
        /// The answer to valid pushes for which the test sets none with ``Simulator/answer(_:with:times:)``.
        public var answer: Answer
        /// The faults, which happen in this order where several apply.
        public var faults: [Fault]
        /// The SETTINGS_MAX_CONCURRENT_STREAMS that it announces, 1 to 10,000. As with APNs it is 1 on a new connection until a
        /// provider token was accepted.
        public var streams = 1000
        /// The number of requests that are kept with header fields and payload, at least 0. The oldest are forgotten first. A
        /// request takes about a kilobyte beside its payload, and at most 40.
        public var requestsKept = 10_000

        /// Creates a configuration; without arguments, every valid push is accepted at once.
        public init(topics: [String]? = nil, answer: Answer = .accepted, faults: [Fault] = []) {
            (self.topics, self.answer, self.faults) = (topics, answer, faults)
        }
    }
}

extension Simulator.Configuration {
    /// Returns the script of the server, after checking everything that can be wrong.
    func script() throws(SimulatorError) -> SimulatorScript {
        guard (1...10_000).contains(streams) else {
            throw .configuration("streams: expected 1 to 10000, found \(streams)")
        }
        guard requestsKept >= 0 else {
            throw .configuration("requestsKept: expected 0 or more, found \(requestsKept)")
        }
        let answer = try answer.chosen()
        var script = SimulatorScript()
        script.rules = [answer.rule]
        if answer.delay > 0 { script.latency = .fixed(Double(answer.delay) / 1_000_000) }
        for (index, fault) in faults.enumerated() { script.faults.append(try fault.scripted("faults[\(index)]")) }
        return script
    }

    /// Returns the configuration of the server.
    func serverConfiguration(
        _ script: SimulatorScript, _ occasion: Occasion, _ desk: RequestDesk, host: String
    ) -> SimulatorConfiguration {
        var server = SimulatorConfiguration(occasion)
        server.host = host
        server.topics = topics
        server.streams = UInt32(streams)
        server.script = script
        server.probe = desk
        return server
    }
}
