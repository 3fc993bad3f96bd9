/// The counts of an account by few causes, for metrics.
extension LaneAccount {
    /// One of a fixed number of causes, and how often it occurred.
    package typealias Count = (cause: String, count: UInt64)

    /// The retries by their cause: `no_answer`, `429`, `5xx` or `other`.
    package var retriesByCause: [Count] {
        Self.sum(retries, of: ["no_answer", "429", "5xx", "other"], Self.cause(ofRetry:))
    }

    /// The ends of connections by their reason: `goaway` or `other`.
    package var connectionEndsByReason: [Count] {
        Self.sum(connectionEnds, of: ["goaway", "other"]) { $0.contains("GOAWAY") ? "goaway" : "other" }
    }

    /// - Parameter text: The cause in the account of a lane: `no answer`, or status and reason of an answer.
    private static func cause(ofRetry text: String) -> String {
        switch text.prefix(while: { $0 != " " }) {
        case "no": "no_answer"
        case "429": "429"
        case let status where status.count == 3 && status.hasPrefix("5"): "5xx"
        default: "other"
        }
    }

    private static func sum(
        _ counts: [String: UInt64], of causes: [String], _ cause: (String) -> String
    ) -> [Count] {
        var sums = Dictionary(uniqueKeysWithValues: causes.map { ($0, UInt64(0)) })
        for (text, count) in counts { sums[cause(text), default: 0] &+= count }
        return causes.map { ($0, sums[$0] ?? 0) }
    }
}
