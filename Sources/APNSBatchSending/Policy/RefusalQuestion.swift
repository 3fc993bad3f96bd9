/// Whether refusals become fewer when less is sent.
struct RefusalQuestion: Equatable {
    enum Answer {
        case cut
        /// The share is borne; the rate that there was before, or nil for no limit.
        case borne(Double?)
    }

    private struct Asked: Equatable {
        var share: Double
        var rate: Double
    }

    /// The share of refusals before the first of several cuts in a row, and the rate then.
    private var asked: Asked?
    private var cuts = 0
    /// It was found that they do: the server has a rate.
    private var isConfirmed = false
    /// What sending less did not lower.
    private var borne = 0.0

    /// A larger share says nothing of the rate but that it is far too high.
    static let almostAll = 0.75
    private static let cutsMost = 3
    private static let least = 0.05
    private static let fewer = 0.5

    /// Fewer say nothing: of that many, some would be refused if the share was the same.
    var answersNeeded: Double { asked.map { max(100, 6 / $0.share) } ?? 50 }

    /// A cut is to show whether it helps, and none did so far.
    var isOpen: Bool { asked != nil }

    var bearsNothing: Bool { borne == 0 }

    /// The share of refusals from which on something is done.
    var limit: Double { borne == 0 ? Self.least : min(1.5 * borne + Self.least, (1 + borne) / 2) }

    /// The share was small enough.
    ///
    /// It says that a cut helped only if it is so much smaller that chance does not explain it: a server that refuses one
    /// request of twenty at any rate is now a little below the limit, now a little above it, and the question stays open.
    mutating func isClean(_ share: Double, of answers: Double) {
        if let first = asked, answers * first.share >= Self.refusalsToCompare, share < first.share * Self.farFewer {
            (asked, isConfirmed) = (nil, true)
        }
        if answers * borne >= 2 * Self.refusalsToCompare, share < borne * Self.farFewer / 2 { borne = 0 }
    }

    /// If that many were to be expected, a quarter of them is no chance.
    private static let refusalsToCompare = 12.0
    private static let farFewer = 0.25

    /// The share is too large, at this rate.
    mutating func ask(_ share: Double, rate: Double) -> Answer {
        guard let first = asked else {
            (asked, cuts) = (Asked(share: share, rate: rate), 1)
            return .cut
        }
        if share < first.share * Self.fewer { (asked, cuts) = (Asked(share: share, rate: rate), 0) }
        cuts += 1
        guard cuts > Self.cutsMost else { return .cut }
        // Of rows that are sent again only those that were accepted were counted. That hides up to so much.
        (asked, borne) = (nil, 2 * share / (1 + share))
        return .borne(isConfirmed ? first.rate : nil)
    }
}
