import APNSBatchSimulator

extension Simulator.Fault {
    /// The occasion on which a fault happens.
    public struct Occasion: Sendable, Hashable {
        /// Whose requests are counted.
        @nonexhaustive
        public enum Scope: Sendable, Hashable {
            /// The requests of all connections together.
            case all
            /// The requests of each connection by themselves: the fault happens on each that gets so far.
            case eachConnection
        }

        enum Trigger: Hashable {
            case connected
            case request(Int, every: Int?, Scope)
            case elapsed(Duration)
        }

        let trigger: Trigger
        var most: Int?

        /// When a connection is established, each time.
        public static let connected = Occasion(trigger: .connected)

        /// When a request arrives.
        ///
        /// - Parameters:
        ///   - number: The number of the request, from 1.
        ///   - every: The number of further requests after which it happens again, each time; nil for once.
        ///   - scope: Whose requests are counted. Those that faults refuse count, too.
        public static func request(_ number: Int, every: Int? = nil, of scope: Scope = .all) -> Occasion {
            Occasion(trigger: .request(number, every: every, scope))
        }

        /// When this time has passed since the first connection was established, at most an hour; on all connections.
        public static func elapsed(_ time: Duration) -> Occasion { Occasion(trigger: .elapsed(time)) }

        /// The same occasion, at most this many times.
        public func atMost(_ times: Int) -> Occasion {
            var occasion = self
            occasion.most = times
            return occasion
        }
    }
}

extension Simulator.Fault.Occasion {
    var countsRequests: Bool {
        if case .request = trigger { true } else { false }
    }

    /// Returns the occasion as the script of the server has it.
    ///
    /// - Parameter name: The name of the fault in errors.
    /// - Throws: An error of the code `configuration`.
    func scripted(_ name: String) throws(SimulatorError) -> FaultOccasion {
        if let most, most < 1 { throw .configuration("\(name): atMost: expected at least 1, found \(most)") }
        var occasion = FaultOccasion(times: most)
        switch trigger {
        case .connected: break
        case .request(let number, let every, let scope):
            guard number >= 1 else { throw .configuration("\(name): request: expected at least 1, found \(number)") }
            if let every, every < 1 { throw .configuration("\(name): every: expected at least 1, found \(every)") }
            (occasion.after, occasion.every) = (number, every)
            occasion.of = scope == .all ? .all : .connection
        case .elapsed(let time):
            occasion.afterMilliseconds = try time.milliseconds("\(name): elapsed", from: 0)
            occasion.of = .all
        }
        return occasion
    }
}
