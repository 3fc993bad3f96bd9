extension Campaign {
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
