extension CampaignProgress {
    /// Why nothing is sent at the moment; ``description`` says it to a person.
    ///
    /// New kinds may come: switch with a default.
    public enum Waiting: Sendable, Equatable, CustomStringConvertible {
        /// ``CampaignRun/pause()`` is in force.
        case paused
        /// The resolver has not told an address of this name yet.
        case resolving(name: String)
        /// A first connection is coming up: what it waits for, and for how many seconds it has.
        case connecting(stage: String, seconds: Int)
        /// No connection can be had, and for how many more seconds that is tried.
        case unreachable(cause: String, secondsLeft: Int)
        /// The server allows no streams on its connections.
        case noStreams(secondsLeft: Int)
        /// Requests are under way, and no answer has come for so many seconds.
        case noAnswer(seconds: Int)
        /// All rows that could be sent wait for their next attempt.
        case backingOff(cause: String)

        public var description: String {
            switch self {
            case .paused: "paused"
            case .resolving(let name): "resolving \(name)"
            case .connecting(let stage, let seconds): "waiting for \(stage), \(seconds) s so far"
            case .unreachable(let cause, let left): "\(cause); trying for \(left) s more"
            case .noStreams(let left): "the server allows no streams; waiting for \(left) s more"
            case .noAnswer(let seconds): "no answer for \(seconds) s"
            case .backingOff(let cause): "backing off after \(cause)"
            }
        }
    }
}
