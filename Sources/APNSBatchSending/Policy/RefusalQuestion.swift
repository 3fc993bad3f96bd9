/// Determines whether a lower rate lowers the share of refusals.
struct RefusalQuestion: Equatable {
    enum Answer {
        case cut
        /// The share is accepted. The rate to return to, or nil for no limit.
        case borne(Double?)
    }

    private struct Asked: Equatable {
        var share: Double
        var rate: Double
    }

    /// The share of refusals before the first of several cuts in a row, and the rate at that time.
    private var asked: Asked?
    private var cuts = 0
    /// Whether a lower rate has lowered the share before, so that the server limits the rate.
    private var isConfirmed = false
    /// The share of refusals that a lower rate did not lower.
    private var borne = 0.0

    /// The share from which on it only shows that the rate is far too high.
    static let almostAll = 0.75
    private static let cutsMost = 3
    private static let least = 0.05
    private static let fewer = 0.5

    /// The number of answers needed for a comparison: if the share were the same, some of that many would be refused.
    var answersNeeded: Double { asked.map { max(100, 6 / $0.share) } ?? 50 }

    /// Whether the effect of a cut is still to be measured.
    var isOpen: Bool { asked != nil }

    var bearsNothing: Bool { borne == 0 }

    /// The share of refusals from which on the rate is cut.
    var limit: Double { borne == 0 ? Self.least : min(1.5 * borne + Self.least, (1 + borne) / 2) }

    /// Notes an interval whose share of refusals was below the limit.
    ///
    /// The share proves the effect of a cut only if it is so much smaller that chance does not explain it. A server that
    /// refuses one request of twenty at any rate is sometimes a little below the limit and sometimes above it, and proves
    /// nothing.
    mutating func isClean(_ share: Double, of answers: Double) {
        if let first = asked, answers * first.share >= Self.refusalsToCompare, share < first.share * Self.farFewer {
            (asked, isConfirmed) = (nil, true)
        }
        if answers * borne >= 2 * Self.refusalsToCompare, share < borne * Self.farFewer / 2 { borne = 0 }
    }

    /// The expected number of refusals from which on a quarter of them is not explained by chance.
    private static let refusalsToCompare = 12.0
    private static let farFewer = 0.25

    /// Notes an interval whose share of refusals was too large at this rate, and decides what follows.
    mutating func ask(_ share: Double, rate: Double) -> Answer {
        guard let first = asked else {
            (asked, cuts) = (Asked(share: share, rate: rate), 1)
            return .cut
        }
        if share < first.share * Self.fewer { (asked, cuts) = (Asked(share: share, rate: rate), 0) }
        cuts += 1
        guard cuts > Self.cutsMost else { return .cut }
        // Of rows that are sent again only accepted ones were counted, which hides a share of up to this one.
        (asked, borne) = (nil, 2 * share / (1 + share))
        return .borne(isConfirmed ? first.rate : nil)
    }
}
