import APNSBatchBasics

/// An expectation, and whether a run meets it.
public struct JudgedExpectation: Sendable, Codable, Equatable {
    /// The expectation as it was given, such as `accepted >= 95%`.
    public var text: String
    /// The name of the metric, such as `accepted`.
    public var metric: String
    /// What `found` was compared with, in rows, seconds or rows per second: a percentage of rows as a number of rows, and for
    /// a comparison with earlier nights their median. Nil if there are too few of them.
    public var limit: Double?
    /// The figure of the run, in the unit of `limit`.
    public var found: Double
    /// Whether the run meets the expectation; nil if it could not be judged.
    public var holds: Bool?
    /// The number of earlier nights for the median in `limit`, also if they are too few; nil without a median.
    public var nights: Int?

    /// What was expected and what was found, such as `expected accepted >= 95%, found 900 (limit 950)`.
    public var sentence: String {
        let compared =
            switch (nights, limit) {
            case (let nights?, let limit?): " (median \(shown(limit)) of \(nights) nights)"
            case (let nights?, nil):
                " (not judged: \(nights) earlier night\(nights == 1 ? "" : "s") in the history, "
                    + "\(ExpectationJudge.nightsAtLeast) are needed)"
            case (nil, let limit?) where text.hasSuffix("%"): " (limit \(shown(limit)))"
            default: ""
            }
        return "expected \(text), found \(shown(found))\(compared)"
    }

    private func shown(_ value: Double) -> String {
        switch metric {
        case "duration": Self.tenths(value) + " s"
        case "rate": Self.tenths(value) + "/s"
        default: Self.tenths(value)
        }
    }

    /// Rounds to a tenth, and leaves out `.0`.
    private static func tenths(_ value: Double) -> String {
        let tenths = UInt64(saturating: value * 10)
        return (tenths / 10).grouped + (tenths % 10 == 0 ? "" : ".\(tenths % 10)")
    }

    enum CodingKeys: String, CodingKey { case text, metric, limit, found, holds, nights }
}
