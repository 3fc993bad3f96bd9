import ArgumentParser

/// When a campaign sends, when it sends again, and when it stops by itself.
struct PolicyArguments: ParsableArguments {
    @Option(help: "When to stop sending: a time (2026-01-01T08:00:00Z) or a duration (6h). The rest is expired.")
    var notAfter: String?

    @Option(help: "Milliseconds before a row is sent again at first; doubles. (default: 1000)")
    var retryDelay: UInt64?

    @Option(help: "The same after 500 and 503. (default: 5000, or --retry-delay)")
    var unavailableDelay: UInt64?

    @Option(help: "Seconds that a retry-after may ask for at most. (default: 900)")
    var retryAfterMax: UInt64?

    @Option(help: "Rows of a lane that may wait to be sent again before no fresh ones are taken. (default: 16384)")
    var retryRows: Int?

    @Option(
        help: "REASON=PERCENT%: stop when so many answers are REASON (or any but 200); or REASON=never. Repeatable.")
    var stopAt: [String] = []

    @Option(help: "Answers that --stop-at looks back at. (default: 20000)")
    var stopWindow: Int?

    @Option(help: "Answers before which nothing is judged. (default: 500)")
    var stopMinimum: Int?

    @Option(help: "Send so many rows first, over one connection; the rest when they have passed.")
    var canary: Int?

    @Option(help: "How many of these may be rejected, such as 5%. (default: 5%)")
    var canaryMaxRejected: String?

    /// The flags as settings, to lay over those of a file.
    var settings: CampaignSettings {
        get throws {
            CampaignSettings(
                notAfter: notAfter, retryDelay: retryDelay, unavailableDelay: unavailableDelay,
                retryAfterMax: retryAfterMax, retryRows: retryRows, stopAt: try shares(), stopWindow: stopWindow,
                stopMinimum: stopMinimum, canary: canary, canaryMaxRejected: canaryMaxRejected)
        }
    }

    private func shares() throws -> [String: String]? {
        guard !stopAt.isEmpty else { return nil }
        var shares: [String: String] = [:]
        for text in stopAt {
            guard let sign = text.lastIndex(of: "=") else {
                throw UsageError("--stop-at: expected REASON=PERCENT% or REASON=never, found \"\(text)\"")
            }
            shares[String(text[..<sign])] = String(text[text.index(after: sign)...])
        }
        return shares
    }
}
