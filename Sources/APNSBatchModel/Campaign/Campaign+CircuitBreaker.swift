extension Campaign {
    /// When the answers end the run: too many of them say that the campaign is wrong, or that APNs is in trouble.
    ///
    /// Without shares of one's own a run stops when 80 % of its first answers are BadDeviceToken or DeviceTokenNotForTopic,
    /// or all of them one and the same 400, or all of them refusals that no single device can be the cause of, such as 404
    /// (``Share/never`` for ``anyReason`` switches the latter off). Answers are counted over all lanes, for each provider by itself. Rows not sent by
    /// then stay unsent, and ``CampaignRun/failure`` says reason, share and remedy.
    public struct CircuitBreaker: Sendable, Equatable {
        /// A share of the answers in the window.
        public enum Share: Sendable, Equatable {
            /// More than 0, at most 100.
            case percent(Double)
            /// Not even the default.
            case never
        }

        /// The name of all answers but 200, those included after which a row is sent again.
        public static let anyReason = "any"

        /// By APNs's reason, such as `Unregistered`, or ``anyReason``. Takes the place of that reason's default, and holds as
        /// long as the run goes on; the defaults are for the first 20,000 answers.
        public var shares: [String: Share] = [:]
        /// How many answers are looked back at, 10 to 1,000,000,000. A sixteenth more may be.
        public var window = 20_000
        /// Fewer answers say nothing; at least 1, at most ``window``.
        public var minimum = 500

        public init() {}
    }

    /// The first rows, sent alone over one connection of one lane. The rest starts when they have passed; when too many of
    /// them are rejected or unknown, the run stops, and the rest stays unsent.
    public struct Canary: Sendable, Equatable {
        /// How many rows, at least 1; rows that are not sent, such as invalid ones, do not count.
        public var rows: Int
        /// How many of them may be rejected, in percent, 0 to 100.
        public var maxRejectedPercent: Double

        public init(rows: Int, maxRejectedPercent: Double = 5) {
            self.rows = rows
            self.maxRejectedPercent = maxRejectedPercent
        }
    }
}
