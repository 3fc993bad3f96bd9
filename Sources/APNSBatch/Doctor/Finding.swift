extension Doctor {
    /// What one check found.
    public struct Finding: Sendable, Equatable {
        public enum Level: String, Sendable, CaseIterable {
            case ok
            /// Works today, and somebody should look.
            case warning
            /// A campaign would fail, or some of its rows.
            case error
        }

        public let level: Level
        /// What was looked at, such as `tls api.push.apple.com:443`.
        public let what: String
        /// A sentence without a full stop. Never holds a key or a provider token; device tokens are shortened.
        public let text: String
        /// What to do about it; nil where there is nothing to do.
        public let remedy: String?

        init(_ level: Level, _ what: String, _ text: String, remedy: String? = nil) {
            self.level = level
            self.what = what
            self.text = text
            self.remedy = remedy
        }
    }
}
