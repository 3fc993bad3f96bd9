extension Doctor {
    /// The result of one check.
    public struct Finding: Sendable, Equatable {
        /// How much a finding matters.
        @nonexhaustive
        public enum Level: String, Sendable, CaseIterable {
            /// The check found nothing wrong.
            case ok
            /// It works now, but should be looked at.
            case warning
            /// A campaign, or some of its rows, would fail.
            case error
        }

        /// How much it matters.
        public let level: Level
        /// The subject of the check, such as `tls api.push.apple.com:443`.
        public let what: String
        /// A sentence without a full stop. It never contains a key or a provider token; device tokens are shortened.
        public let text: String
        /// The remedy; nil if none is needed or known.
        public let remedy: String?

        init(_ level: Level, _ what: String, _ text: String, remedy: String? = nil) {
            self.level = level
            self.what = what
            self.text = text
            self.remedy = remedy
        }
    }
}
