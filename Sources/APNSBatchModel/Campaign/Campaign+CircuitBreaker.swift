extension Campaign {
    /// The shares of refusals and of invalid rows at which a run ends, because the campaign is wrong or APNs is in trouble.
    ///
    /// By default a run ends when 80 % of its first answers are BadDeviceToken or DeviceTokenNotForTopic, when all of them
    /// have the same reason of status 400, or when all of them are refusals that no single device can cause, such as 404.
    /// ``Share/never`` for ``anyReason`` disables the last of these rules. Answers are counted over all lanes, separately
    /// for each provider. Rows that were not sent by then stay unsent, and ``CampaignRun/failure`` has the reason, the share
    /// and a remedy.
    ///
    /// An input is broken as a whole when more than half of its first 1,000 rows are invalid, or of the latest rows while it is sent. A
    /// share for ``invalidRows`` replaces this limit.
    public struct CircuitBreaker: Sendable, Equatable {
        /// A share of the answers in the window, as a limit.
        @nonexhaustive
        public enum Share: Sendable, Equatable {
            /// A percentage, more than 0 and at most 100.
            case percent(Double)
            /// No limit, not even the default one.
            case never

            /// Parses `never`, or a share such as `5%`, `0.5 %` or `5`. Returns nil for any other text, and for more than 100 %.
            public init?(_ text: String) {
                guard text != "never" else {
                    self = .never
                    return
                }
                guard let percent = Self.percent(text) else { return nil }
                self = .percent(percent)
            }
        }

        /// The key for all answers but 200, including those after which a row is sent again.
        public static let anyReason = "any"

        /// The key for rows that are not sent because they break a rule, as a share of all rows that were read. If an input can be read
        /// twice, all of it is judged before the first push, and nothing is sent if the share is reached.
        public static let invalidRows = "invalid"

        /// The limits by APNs's reason, such as `Unregistered`, by ``anyReason``, or by ``invalidRows``. A limit replaces the default of its
        /// reason, and applies during the whole run; the defaults for answers apply to the first 20,000 answers.
        public var shares: [String: Share] = [:]
        /// The number of latest answers, or rows, that are considered, 10 to 1,000,000,000. It may be exceeded by a sixteenth.
        public var window = 20_000
        /// The number of answers, or rows, before a limit applies, at least 1 and at most ``window``. An input that has fewer rows is judged by all
        /// of them.
        public var minimum = 500

        /// Creates limits with the defaults.
        public init() {}
    }

    /// The number of first rows that are sent alone, over one connection of one lane. The rest is sent when they have
    /// passed; if too many of them are rejected or unknown, the run ends, and the rest stays unsent.
    public struct Canary: Sendable, Equatable {
        /// The number of rows, at least 1. Rows that are not sent, such as invalid ones, do not count.
        public var rows: Int
        /// The share of these rows that may be rejected or unknown, in percent, 0 to 100.
        public var maxRejectedPercent: Double

        /// Creates a canary; by default 5 % of it may fail.
        public init(rows: Int, maxRejectedPercent: Double = 5) {
            self.rows = rows
            self.maxRejectedPercent = maxRejectedPercent
        }
    }
}

extension Campaign.CircuitBreaker.Share {
    /// `5%`, `0.5 %` or `5`.
    @Sendable package static func percent(_ text: String) -> Double? {
        var number = text[...]
        if number.hasSuffix("%") { number.removeLast() }
        while number.first == " " { number.removeFirst() }
        while number.last == " " { number.removeLast() }
        return Double(number).flatMap { (0...100).contains($0) ? $0 : nil }
    }

    @Sendable package static func text(_ percent: Double) -> String? {
        (percent == percent.rounded() ? "\(Int(percent))" : "\(percent)") + "%"
    }
}
