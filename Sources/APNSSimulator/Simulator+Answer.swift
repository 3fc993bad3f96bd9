import APNSBatchSimulator

extension Simulator {
    /// An answer to a push. Statuses and reasons: Apple, "Handling notification responses from APNs".
    public struct Answer: Sendable, Hashable {
        /// The HTTP status, 200 to 599.
        public var status: Int
        /// The `reason` in the body, 1 to 128 printable ASCII characters without quotation marks and backslashes; nil for an
        /// answer without a body. A 200 has none.
        public var reason: String?
        /// The `timestamp` in the body of a 410, in milliseconds since 1970-01-01 00:00 UTC; nil for the time at which the
        /// simulator started.
        public var inactiveSince: UInt64?
        /// The `retry-after` header field in seconds, 0 to 86,400; nil for none.
        public var retryAfter: Int?
        /// The time after which the answer is sent, at most an hour; it is sent up to a millisecond late.
        public var delay: Duration

        /// Creates an answer. It is checked when it is given to a simulator.
        public init(
            status: Int, reason: String? = nil, inactiveSince: UInt64? = nil, retryAfter: Int? = nil,
            delay: Duration = .zero
        ) {
            (self.status, self.reason, self.inactiveSince) = (status, reason, inactiveSince)
            (self.retryAfter, self.delay) = (retryAfter, delay)
        }

        /// 200: APNs accepts the push.
        public static let accepted = Answer(status: 200)
        /// 410 Unregistered: the device token is not active any more.
        public static let unregistered = Answer(status: 410, reason: "Unregistered")
        /// 429 TooManyRequests: too many pushes were sent to the device.
        public static let tooManyRequests = Answer(status: 429, reason: "TooManyRequests")
        /// 503 ServiceUnavailable: APNs is out of order.
        public static let serviceUnavailable = Answer(status: 503, reason: "ServiceUnavailable")
    }
}

extension Simulator.Answer {
    /// Returns the answer as the server gives it.
    ///
    /// - Throws: An error of the code `configuration`.
    func chosen() throws(SimulatorError) -> ChosenAnswer {
        let rule = SimulatorRule(
            share: 1, status: status, reason: reason, timestamp: inactiveSince.map { Int64(clamping: $0) },
            retryAfter: retryAfter)
        if let fault = rule.fault() { throw .configuration("answer: \(fault)") }
        return ChosenAnswer(rule, delay: try delay.nanoseconds("answer: delay", from: 0))
    }
}
