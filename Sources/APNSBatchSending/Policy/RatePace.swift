/// How many requests a second a server is sent while it refuses what exceeds a rate of its own (429, 503).
///
/// There is no limit until the server pushes back. A server that refuses a part of what it is sent shows its rate by what
/// it takes: so the rate falls to what was delivered, and rises in small steps until more than a twentieth is refused again
/// (``RateClimb``). While that rate is not known, it is searched for by doubling.
///
/// A server of which a part is ill refuses the same share at any rate, and sending less only loses time. So each cut is a
/// question (``RefusalQuestion``): when it does not lower the share of refusals, that share is borne and the limit is lifted.
///
/// Pure: sums of answers and the time go in once a turn; how many requests may be sent comes out. Several lanes look, and the
/// time of one may be a little before that of another.
struct RatePace: Equatable {
    /// Requests per second; nil while there is no limit.
    private(set) var rate: Double?
    private var bucket = TokenBucket()
    private var climb = RateClimb()
    private var question = RefusalQuestion()
    private var delivered: DeliveryRate
    /// What was delivered in the second before the server refused nearly all; nil while it takes something.
    private var lost: Double?
    private var pushedBackAt: UInt64 = 0

    /// Where the interval began that is judged next.
    private var interval: Mark
    /// Where the last few answers began, which are judged at once.
    private var recent = AnswerSums()
    /// Until then answers are to requests from before the last change.
    private var settling: Settling?

    private struct Mark: Equatable {
        var time: UInt64
        var totals = AnswerSums()
    }

    private struct Settling: Equatable {
        var answers: UInt64
        var until: UInt64
    }

    /// Nanoseconds.
    private static let settlingMost: UInt64 = 2_000_000_000
    /// No less is sent, whatever comes: then it is no matter of pace.
    private static let rateLeast = 20.0
    /// A search begins there at least.
    private static let rateFirst = 300.0
    /// From there on nothing is left of the limit.
    private static let rateMost = 1_000_000.0

    init(start: UInt64) {
        interval = Mark(time: start)
        delivered = DeliveryRate(start: start)
    }

    // MARK: Sending

    /// How many requests may be sent now.
    mutating func allowance(now: UInt64) -> Int {
        guard let rate else { return .max }
        return bucket.fill(rate: rate, now: now)
    }

    mutating func didSend(_ requests: Int) {
        guard rate != nil else { return }
        bucket.take(requests)
    }

    /// Starts from next to nothing, after an outage.
    mutating func restart(now: UInt64, totals: AnswerSums) {
        question = RefusalQuestion()
        climb.search()
        lost = nil
        change(to: Self.rateLeast, now: now, totals)
    }

    // MARK: Answers

    /// After a turn's answers.
    ///
    /// - Parameter isStarting: the first requests of a run are still becoming more; a few refusals then are a sign.
    mutating func look(now: UInt64, totals: AnswerSums, isStarting: Bool = false) {
        delivered.note(now: now, good: totals.good)
        if let settling {
            if totals.answered >= settling.answers || now >= settling.until { self.settling = nil }
            // The last of them come with this turn.
            return beginInterval(now: now, totals)
        }
        let seen = Sample(from: interval.totals, to: totals, nanoseconds: now - min(interval.time, now))
        if isFlood(seen, totals, isStarting: isStarting) {
            rate == nil ? search(now: now, totals) : judge(seen, now: now, totals)
        } else if isDue(seen) {
            judge(seen, now: now, totals)
        }
    }

    /// Most of the last few answers are refusals: no need to wait for the end of the interval.
    private mutating func isFlood(_ seen: Sample, _ totals: AnswerSums, isStarting: Bool) -> Bool {
        let few = Sample(from: recent, to: totals)
        guard few.answers >= (isStarting ? 16 : 64) else { return false }
        recent = totals
        if rate == nil { return question.bearsNothing && few.share >= (isStarting ? 0.25 : 0.5) }
        let many = lost == nil ? 0.2 * (climb.known ?? 0) : 0
        return few.share >= 0.5 && seen.seconds >= 0.1 && seen.refused >= many
    }

    /// A known rate is judged by a whole second, for servers may count by seconds; a search cannot wait for that.
    private func isDue(_ seen: Sample) -> Bool {
        let isSteady = climb.known != nil && lost == nil
        guard seen.seconds >= (isSteady ? 1 : 0.1), seen.answers > 0 else { return false }
        if rate == nil { return seen.answers >= 400 || seen.seconds >= 1 }
        return seen.answers >= question.answersNeeded || seen.seconds >= (isSteady ? 2.5 : question.isOpen ? 0.5 : 0.25)
    }

    private mutating func judge(_ seen: Sample, now: UInt64, _ totals: AnswerSums) {
        if seen.refused > 1, seen.share >= question.limit {
            pushedBack(seen, now: now, totals)
        } else {
            question.isClean(seen.share, of: seen.answers)
            rise(seen, now: now, totals)
        }
    }

    // MARK: Less

    private mutating func pushedBack(_ seen: Sample, now: UInt64, _ totals: AnswerSums) {
        guard let rate else { return search(now: now, totals) }
        if seen.share >= RefusalQuestion.almostAll { return lose(rate, now: now, totals) }
        if let lost { return goBack(to: lost, now: now, totals) }
        switch question.ask(seen.share, rate: rate) {
        case .cut: find(rate, seen, now: now, totals)
        case .borne(let before?):
            climb.riseAgain(from: before)
            change(to: before, now: now, totals)
        case .borne(nil): lift(now: now, totals)
        }
    }

    /// The server pushes back for the first time, and its rate is not known.
    private mutating func search(now: UInt64, _ totals: AnswerSums) {
        pushedBackAt = now
        climb.search()
        lost = nil
        change(to: max(Self.rateFirst, delivered.rate(now: now, good: totals.good)), now: now, totals)
    }

    /// What is delivered while a part is refused is the server's rate.
    private mutating func find(_ rate: Double, _ seen: Sample, now: UInt64, _ totals: AnswerSums) {
        // Of a server that counts by seconds, less than one says too much.
        let inInterval = climb.known == nil || seen.seconds >= 1 ? seen.goodRate : 0
        settle(at: min(rate, max(inInterval, delivered.rate(now: now, good: totals.good))), now: now, totals)
    }

    private mutating func settle(at rate: Double, now: UInt64, _ totals: AnswerSums) {
        change(to: climb.find(max(Self.rateLeast, rate), mayHold: question.bearsNothing), now: now, totals)
    }

    /// The server takes next to nothing: its rate is exceeded by far, a bucket of it is empty, or it is ill.
    private mutating func lose(_ rate: Double, now: UInt64, _ totals: AnswerSums) {
        if lost == nil { lost = min(rate, delivered.rate(now: now, good: totals.good)) }
        change(to: max(Self.rateLeast, rate / 2), now: now, totals)
    }

    /// It takes something again.
    private mutating func goBack(to before: Double, now: UInt64, _ totals: AnswerSums) {
        lost = nil
        // What the first instants delivered says little.
        if climb.known != nil || now >= pushedBackAt + 500_000_000 { return settle(at: before, now: now, totals) }
        climb.search(step: RateClimb.carefulStep)
        change(to: max(rate ?? 0, before), now: now, totals)
    }

    // MARK: More

    /// Little was refused: more, if all was used.
    private mutating func rise(_ seen: Sample, now: UInt64, _ totals: AnswerSums) {
        guard let rate else { return beginInterval(now: now, totals) }
        if let lost { return goBack(to: lost, now: now, totals) }
        guard bucket.wasEmpty else {
            // Far more than there is to send.
            if climb.known == nil, rate * seen.seconds > 2 * seen.answers + 1000 { return lift(now: now, totals) }
            return beginInterval(now: now, totals)
        }
        let next = climb.next(after: rate)
        if next > Self.rateMost { return lift(now: now, totals) }
        next == rate ? beginInterval(now: now, totals) : change(to: next, now: now, totals)
    }

    private mutating func lift(now: UInt64, _ totals: AnswerSums) {
        rate = nil
        climb = RateClimb()
        beginInterval(now: now, totals)
    }

    private mutating func change(to rate: Double, now: UInt64, _ totals: AnswerSums) {
        self.rate = rate
        bucket.empty(now: now)
        if totals.underWay > 0 {
            settling = Settling(answers: totals.answered + totals.underWay, until: now + Self.settlingMost)
        }
        beginInterval(now: now, totals)
    }

    private mutating func beginInterval(now: UInt64, _ totals: AnswerSums) {
        interval = Mark(time: now, totals: totals)
        recent = totals
        bucket.wasEmpty = false
    }
}

/// What an interval saw.
private struct Sample {
    var good: Double
    var refused: Double
    var seconds: Double

    init(from: AnswerSums, to: AnswerSums, nanoseconds: UInt64 = 0) {
        good = Double(to.good - from.good)
        refused = Double(to.troubledFirst - from.troubledFirst)
        seconds = Double(nanoseconds) / 1e9
    }

    var answers: Double { good + refused }
    var goodRate: Double { seconds > 0 ? good / seconds : 0 }
    var share: Double { answers > 0 ? refused / answers : 0 }
}
