import Glibc

/// How many requests a second a server is sent while it refuses what exceeds a rate of its own (429, 503).
///
/// Off until the server pushes back. Then requests are spaced to a little less than what it accepted in the last second.
/// From there the rate rises along a cubic curve: quickly back to what the server took when it pushed back, slowly past it,
/// and ever faster when nothing happens there.
///
/// A server of which a part is ill refuses the same share at any rate, and sending less only loses time. So a cut is a
/// question: when it does not lower the share of refusals, that share is borne and the limit is lifted.
///
/// Pure: sums of answers and the time go in once a turn; how many requests may be sent comes out.
struct RatePace: Equatable {
    /// Sums since the start.
    struct Totals: Equatable {
        /// All answers.
        var answered: UInt64 = 0
        /// Answers that do not ask for less.
        var good: UInt64 = 0
        /// Those that do, to first attempts: a row that was refused before may be refused for ever, which says nothing of
        /// the rate.
        var refused: UInt64 = 0
        /// Requests that wait for their answers.
        var underWay: UInt64 = 0
    }

    /// Requests per second; nil while there is no limit.
    private(set) var rate: Double?
    /// A request had to wait for its turn, in the interval that runs.
    private var isLimiting = false
    private var tokens = 0.0
    private var filledAt: UInt64 = 0

    /// Where the interval began that is judged next.
    private var interval: Mark
    /// Where the last few answers began, which are judged at once.
    private var burst = Totals()
    private var lastSecond: LastSecond
    /// Until so many answers have come, or until then, they answer requests from before the last cut.
    private var isSettling = false
    private var settledAnswers: UInt64 = 0
    private var settledAt: UInt64 = 0
    private var curve = Curve()
    private var question = Question()

    private struct Mark: Equatable {
        var time: UInt64
        var totals = Totals()
    }

    // Nanoseconds.
    private static let intervalLeast: UInt64 = 100_000_000
    private static let intervalMost: UInt64 = 500_000_000
    private static let settlingMost: UInt64 = 2_000_000_000
    /// So few answers say something at once.
    private static let burstAnswers: UInt64 = 16
    /// No less is sent, whatever comes: then it is no matter of pace.
    fileprivate static let rateLeast = 20.0
    /// With less it would take long to see what the server takes.
    fileprivate static let rateFirst = 100.0
    /// What is not sent within so many seconds is not made up for.
    private static let tokensSeconds = 0.05

    init(start: UInt64) {
        interval = Mark(time: start)
        lastSecond = LastSecond(start: start)
    }

    // MARK: Sending

    /// How many requests may be sent now.
    mutating func allowance(now: UInt64) -> Int {
        guard let rate else { return .max }
        tokens = min(tokens + rate * seconds(from: filledAt, to: now), max(1, rate * Self.tokensSeconds))
        filledAt = now
        if tokens < 1 { isLimiting = true }
        return Int(tokens)
    }

    mutating func didSend(_ requests: Int) {
        guard rate != nil else { return }
        tokens -= Double(requests)
        if tokens < 1 { isLimiting = true }
    }

    /// Starts from next to nothing, after an outage.
    mutating func restart(now: UInt64, totals: Totals) {
        (curve, question) = (Curve(), Question())
        curve.begin(at: Self.rateLeast, now: now)
        cut(to: Self.rateLeast, now: now, totals)
    }

    // MARK: Answers

    /// After a turn's answers.
    ///
    /// - Parameter isStarting: the first requests of a run are still becoming more; a few refusals then are a sign.
    mutating func look(now: UInt64, totals: Totals, isStarting: Bool = false) {
        lastSecond.note(now: now, good: totals.good)
        if isSettling {
            // The last of them come with this turn.
            isSettling = totals.answered < settledAnswers && now < settledAt
            restartInterval(now: now, totals)
            return
        }
        let few = Seen(from: burst, to: totals, seconds: 0)
        let seen = Seen(from: interval.totals, to: totals, seconds: seconds(from: interval.time, to: now))
        if few.answers >= Double(Self.burstAnswers) {
            burst = totals
            let share = isStarting ? 0.1 : 0.5
            if few.refused > 1, few.share >= max(share, question.limit(isOff: rate == nil)) {
                refusedAtOnce(few, seen, now: now, totals)
                return
            }
        }
        if isDue(seen) { judge(seen, now: now, totals) }
    }

    /// What an interval saw.
    private struct Seen {
        var good: Double
        var refused: Double
        var seconds: Double

        init(from: Totals, to: Totals, seconds: Double) {
            good = Double(to.good - from.good)
            refused = Double(to.refused - from.refused)
            self.seconds = seconds
        }

        var answers: Double { good + refused }
        var goodRate: Double { seconds > 0 ? good / seconds : 0 }
        var share: Double { answers > 0 ? refused / answers : 0 }
    }

    private func isDue(_ seen: Seen) -> Bool {
        let length = UInt64(seen.seconds * 1e9)
        guard length >= Self.intervalLeast, seen.answers > 0 else { return false }
        return seen.answers >= question.answersNeeded || length >= Self.intervalMost
    }

    /// Most of the last few answers are refusals: no need to wait for the end of the interval.
    private mutating func refusedAtOnce(_ few: Seen, _ seen: Seen, now: UInt64, _ totals: Totals) {
        if rate == nil {
            pushedBack(few, now: now, totals)
        } else if seen.seconds >= 0.05 {
            judge(seen, now: now, totals)
        }
    }

    private mutating func judge(_ seen: Seen, now: UInt64, _ totals: Totals) {
        if seen.refused > 1, seen.share >= question.limit(isOff: rate == nil) {
            pushedBack(seen, now: now, totals)
        } else {
            question.isClean(seen.share, of: seen.answers)
            rise(seen, now: now)
            restartInterval(now: now, totals)
        }
    }

    /// Less: what the server took of late, or much less where it takes nothing at all.
    private mutating func pushedBack(_ seen: Seen, now: UInt64, _ totals: Totals) {
        if let rate, seen.share >= Question.almostAll {
            curve.lose(lastSecond.isWhole(now: now) ? lastSecond.rate(now: now, good: totals.good) : nil, now: now)
            cut(to: max(Self.rateLeast, rate / 4), now: now, totals)
            return
        }
        switch question.ask(seen.share, rate: rate) {
        case .borne(let before?):
            curve = Curve()
            curve.begin(at: before, now: now)
            cut(to: before, now: now, totals)
            return
        case .borne(nil):
            lift(now: now, totals)
            return
        case .cut: break
        }
        let wasLost = curve.isLost
        let taken = lastSecond.rate(now: now, good: totals.good)
        curve.begin(
            at: max(
                rate == nil ? Self.rateFirst : Self.rateLeast, taken,
                rate == nil || curve.isConfirmed ? 0 : seen.goodRate), now: now)
        if rate == nil { lastSecond.restart(now: now, good: totals.good) }
        let rate = wasLost ? nil : rate
        cut(to: min(rate ?? .infinity, curve.rate(now: now)), now: now, totals)
    }

    /// Nothing was refused: more, if all was used.
    private mutating func rise(_ seen: Seen, now: UInt64) {
        guard let rate else { return }
        guard isLimiting || curve.isLost else {
            curve.wait(seen.seconds)
            // Far more than there is to send.
            if !curve.isConfirmed, rate * seen.seconds > 10 * seen.answers + 1000 { self.rate = nil }
            return
        }
        if curve.isLost { curve.goBack(now: now) }
        self.rate = curve.isOver(now: now) ? nil : curve.rate(now: now)
    }

    private mutating func cut(to rate: Double, now: UInt64, _ totals: Totals) {
        self.rate = rate
        tokens = 0
        filledAt = now
        settledAnswers = totals.answered + totals.underWay
        isSettling = totals.underWay > 0
        settledAt = now + Self.settlingMost
        restartInterval(now: now, totals)
    }

    private mutating func lift(now: UInt64, _ totals: Totals) {
        rate = nil
        curve = Curve()
        restartInterval(now: now, totals)
    }

    private mutating func restartInterval(now: UInt64, _ totals: Totals) {
        interval = Mark(time: now, totals: totals)
        burst = totals
        isLimiting = false
    }

    private func seconds(from: UInt64, to: UInt64) -> Double { Double(to - min(from, to)) / 1e9 }
}

extension RatePace {
    /// How many requests the server took in the last second, to an eighth of it.
    fileprivate struct LastSecond: Equatable {
        private var marks: [(time: UInt64, good: UInt64)]
        private var next = 0

        private static let parts = 9
        private static let part: UInt64 = 125_000_000

        /// Seconds that are taken for gone by, at least: those of a run's beginning.
        private var least = 1.0

        init(start: UInt64) { marks = Array(repeating: (start, 0), count: Self.parts) }

        static func == (one: LastSecond, other: LastSecond) -> Bool {
            one.next == other.next && one.least == other.least && zip(one.marks, other.marks).allSatisfy { $0 == $1 }
        }

        mutating func note(now: UInt64, good: UInt64) {
            guard now >= marks[(next + Self.parts - 1) % Self.parts].time + Self.part else { return }
            marks[next] = (now, good)
            next = (next + 1) % Self.parts
        }

        /// What came before was without a limit, and says nothing of the rate.
        mutating func restart(now: UInt64, good: UInt64) {
            for index in marks.indices { marks[index] = (now, good) }
            least = 0.1
        }

        func isWhole(now: UInt64) -> Bool { now >= marks[next].time + 8 * Self.part }

        func rate(now: UInt64, good: UInt64) -> Double {
            let oldest = marks[next]
            return Double(good - oldest.good) / max(least, Double(now - oldest.time) / 1e9)
        }
    }

    /// The way back to the rate at which the server pushed back, and past it: `known * (1 + cut * (t / plateau - 1)^3)`.
    fileprivate struct Curve: Equatable {
        /// Requests a second that the server took when it last pushed back.
        private var known = 0.0
        /// When the curve began.
        private var since: UInt64 = 0
        /// Seconds until it is at `known` again, longer each time that this turns out to be right; nil while it was not
        /// confirmed.
        private var plateau: Double?
        /// The server took nothing at all: what is known holds when it takes something again.
        private(set) var isLost = false

        private static let plateauFirst = 3.0
        private static let plateauMost = 20.0
        /// Seconds in which the rate doubles while what is known was seen only once.
        private static let doubling = 0.25
        /// How far below `known` it begins.
        private static let cut = 0.03
        /// From there on nothing is left of the limit.
        private static let over = 4.0

        mutating func begin(at rate: Double, now: UInt64) {
            if known == 0 || abs(rate - known) > known / 5 {
                plateau = nil
            } else if self.rate(now: now) >= known {
                // Refused above what was known: below it, what was known was too much.
                plateau = plateau.map { min(Self.plateauMost, $0 * 2) } ?? Self.plateauFirst
            }
            (known, since, isLost) = (rate, now, false)
        }

        var isConfirmed: Bool { plateau != nil }

        /// - Parameter rate: what the server took in the second before; nil when that is not known.
        mutating func lose(_ rate: Double?, now: UInt64) {
            if !isLost, let rate { begin(at: max(RatePace.rateLeast, min(known, rate)), now: now) }
            isLost = true
        }

        mutating func goBack(now: UInt64) { (since, isLost) = (now, false) }

        /// The rate was not used, and nothing was learned.
        mutating func wait(_ seconds: Double) { since += UInt64(seconds * 1e9) }

        func rate(now: UInt64) -> Double {
            let time = Double(now - min(since, now)) / 1e9
            guard let plateau else { return known * (1 - Self.cut) * exp2(time / Self.doubling) }
            let past = time / plateau - 1
            return known * (1 + Self.cut * past * past * past)
        }

        func isOver(now: UInt64) -> Bool { rate(now: now) > (plateau == nil ? Self.most : Self.over * known) }
        private static let most = 1_000_000.0
    }

    /// Whether refusals become fewer when less is sent.
    fileprivate struct Question: Equatable {
        enum Answer {
            case cut
            /// The share is borne; the rate that there was before, or nil for no limit.
            case borne(Double?)
        }

        /// The share of refusals before the first of several cuts in a row, and the rate then.
        private var asked: (share: Double, rate: Double?)?
        private var cuts = 0
        /// It was found that they do: the server has a rate.
        private var isConfirmed = false
        /// What sending less did not lower.
        private var borne = 0.0

        /// A larger share says nothing of the rate but that it is far too high.
        static let almostAll = 0.9
        private static let cutsMost = 3
        private static let leastOff = 0.05
        private static let leastOn = 0.02

        /// Fewer say nothing: of that many some would be refused if the share was the same.
        var answersNeeded: Double { max(50, asked.map { Self.refusalsNeeded / $0.share } ?? 0) }
        private static let refusalsNeeded = 6.0

        static func == (one: Question, other: Question) -> Bool {
            one.asked?.share == other.asked?.share && one.asked?.rate == other.asked?.rate && one.cuts == other.cuts
                && one.isConfirmed == other.isConfirmed && one.borne == other.borne
        }

        /// The share of refusals from which on something is done.
        func limit(isOff: Bool) -> Double {
            let least = isOff ? Self.leastOff : Self.leastOn
            return borne == 0 ? least : min(1.5 * borne + least, (1 + borne) / 2)
        }

        /// The share was small enough.
        mutating func isClean(_ share: Double, of answers: Double) {
            if let asked {
                guard answers * asked.share >= Self.refusalsNeeded else { return }
                isConfirmed = true
            }
            asked = nil
            if share < borne / 2 { borne = 0 }
        }

        /// The share is too large, at this rate.
        mutating func ask(_ share: Double, rate: Double?) -> Answer {
            guard let first = asked else {
                (asked, cuts) = ((share, rate), 1)
                return .cut
            }
            if share < first.share * 0.7 {
                asked = (share, rate)
                cuts = 0
            }
            cuts += 1
            guard cuts > Self.cutsMost else { return .cut }
            (asked, borne) = (nil, share)
            return .borne(isConfirmed ? first.rate : nil)
        }
    }
}
