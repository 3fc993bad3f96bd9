/// Finds a connection whose answers take many times as long as those of another one of its pool.
///
/// A connection with many requests waits longer for each answer than one with few, so the time alone proves nothing: the slow
/// connection must also have had far fewer answers in the same time. Two intervals in a row must show it. A pool replaces one
/// such connection at a time, and the next one half a minute later, then a minute and so on: the cause may be the way to an address,
/// which another connection shares.
struct Slowness: Equatable {
    private var since: UInt64 = 0
    private var replacesFrom: UInt64 = 0
    private var pause = Self.pauseFirst

    /// In nanoseconds.
    private static let interval: UInt64 = 500_000_000
    private static let pauseFirst: UInt64 = 30_000_000_000
    private static let pauseLongest: UInt64 = 600_000_000_000
    /// The numbers of answers that the slow and the quick connection need in an interval.
    private static let least = 4
    private static let leastOfQuick = 40
    private static let factor = 8.0
    /// The least difference, in microseconds.
    private static let difference = 100_000.0
    private static let fewer = 4
    /// The number of intervals in a row.
    private static let intervals = 2

    /// The answers of a connection in an interval.
    struct Sample: Equatable {
        /// The sums at its beginning.
        private var answersThen = 0
        private var latenciesThen: UInt64 = 0
        fileprivate var answers = 0
        /// The mean time of an answer, in microseconds.
        fileprivate var mean = 0.0
        /// The number of intervals in a row in which it was slow.
        fileprivate var slow = 0

        /// Ends an interval with these sums, and begins the next one.
        mutating func end(answers: Int, latencies: UInt64) {
            self.answers = answers - answersThen
            mean = self.answers > 0 ? Double(latencies - latenciesThen) / Double(self.answers) : 0
            (answersThen, latenciesThen) = (answers, latencies)
        }

        mutating func compare(with quick: Sample) {
            let isSlow =
                answers >= Slowness.least && answers * Slowness.fewer <= quick.answers
                && mean >= Slowness.factor * quick.mean && mean >= quick.mean + Slowness.difference
            slow = isSlow ? slow + 1 : 0
        }
    }

    /// Ends an interval when it is time. Returns a connection to replace, and how many times as long its answers take; nil
    /// for none.
    mutating func look(_ members: inout PoolMembers, now: UInt64) -> (Int, Double)? {
        guard now >= since + Self.interval else { return nil }
        since = now
        members.updateAll { $0.endInterval() }
        guard let quick = Self.quickest(of: members) else { return nil }
        members.updateAll { $0.compare(with: quick) }
        let slow = members.indices.first { members[$0].isUp && members[$0].pace.slow >= Self.intervals }
        guard now >= replacesFrom, let slow else { return nil }
        replacesFrom = now + pause
        pause = min(Self.pauseLongest, 2 * pause)
        return (slow, members[slow].pace.mean / max(1, quick.mean))
    }

    /// The answers of the quickest connection; nil if none had enough, or if it is the only one.
    private static func quickest(of members: PoolMembers) -> Sample? {
        var (quickest, up) = (Sample?.none, 0)
        for member in members.indices where members[member].isUp {
            up += 1
            let pace = members[member].pace
            guard pace.answers >= leastOfQuick else { continue }
            if let known = quickest, known.mean <= pace.mean { continue }
            quickest = pace
        }
        return up > 1 ? quickest : nil
    }
}
