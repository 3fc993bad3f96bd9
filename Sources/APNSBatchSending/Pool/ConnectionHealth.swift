/// What the answers of one connection mean for it.
///
/// A connection *fails* when most of its answers are 429 or 5xx. That is decided by a cumulative sum (CUSUM), which a bad answer
/// raises by one and any other answer lowers by two, to 0 at least: it rises only while more than two thirds are bad, and a
/// share of a quarter, as a server with a faulty part may have, practically never raises it to the limit. Only answers to first
/// attempts raise it, because a row that was refused before may be refused on every connection. Where there are few answers,
/// some bad ones in a row suffice if they span a second.
///
/// Good answers cost nothing here: they are counted by the member, and looked at when a bad one comes.
struct ConnectionHealth: Equatable {
    /// How much an answer proves.
    enum Evidence: Equatable {
        /// It is one of many.
        case usual
        /// It means that the connection is at an end, or it answers a probe: one is enough.
        case decisive
    }

    /// The number of answers 429 and 5xx.
    private(set) var troubled = 0
    /// The cumulative sum.
    private(set) var score = 0
    private(set) var isFailing = false
    /// Whether it was drained because of its answers.
    var isReplaced = false
    /// Whether it was opened in place of one that was replaced, and has not proved itself yet.
    var isFresh = false
    /// The number of bad answers in a row, and the time of the first of them.
    private var streak = 0
    private var streakSince: UInt64 = 0
    /// The number of good answers that were looked at.
    private var goodSeen = 0

    /// The cumulative sum from which on the connection fails, its highest value, and the one below which it serves.
    private static let limit = 24
    private static let most = 32
    private static let doubt = 4
    private static let streakLeast = 3
    private static let streakSpan: UInt64 = 1_000_000_000
    /// The numbers of good answers with which a fresh connection has proved itself, at once and after `proofTime`.
    private static let proof = 1000
    private static let proofTime: UInt64 = 10_000_000_000

    /// Notes an answer 429 or 5xx. Returns whether the connection fails from now on.
    ///
    /// - Parameters:
    ///   - answers: The number of all answers, with this one.
    ///   - isFirst: Whether it answers the first attempt of a row that counts.
    mutating func noteTrouble(answers: Int, isFirst: Bool, _ evidence: Evidence = .usual, now: UInt64) -> Bool {
        troubled += 1
        look(answers: answers)
        if isFirst { score = min(score + 1, Self.most) }
        if streak == 0 { streakSince = now }
        streak += 1
        let isLasting = streak >= Self.streakLeast && now >= streakSince + Self.streakSpan
        guard !isFailing, evidence == .decisive || score >= Self.limit || isLasting else { return false }
        (isFailing, score) = (true, Self.most)
        return true
    }

    /// Considers the good answers since the last bad one. A failing connection that answers well again does not fail any more.
    mutating func look(answers: Int) {
        let good = answers - troubled
        guard good > goodSeen else { return }
        score = max(0, score - 2 * (good - goodSeen))
        (goodSeen, streak) = (good, 0)
        if score == 0 { isFailing = false }
    }

    /// Whether the last answers were good.
    func serves(answers: Int) -> Bool {
        let good = answers - troubled
        return good > 0 && score - 2 * (good - goodSeen) < Self.doubt
    }

    /// Whether it has proved itself, `age` nanoseconds after it came up.
    func hasProved(answers: Int, age: UInt64) -> Bool {
        let good = answers - troubled
        return !isFailing && (good >= Self.proof || good > 0 && age >= Self.proofTime)
    }
}
