/// The limit of requests per second for a server that refuses what exceeds a rate of its own (429, 503).
///
/// There is no limit until the server refuses requests. A server that refuses a part of the requests shows its rate by what
/// it accepts: the limit falls to what was delivered, and then rises in small steps until more than a twentieth is refused
/// again (``RateClimb``). While the server's rate is not known, it is searched for by doubling.
///
/// A server with a faulty part refuses the same share at any rate, and sending less only loses time. So the effect of
/// each cut is measured (``RefusalQuestion``): if it does not lower the share of refusals, that share is accepted and the
/// limit is lifted.
///
/// A pure value: its input is sums of answers and the time, once per turn; its output is the number of requests that may be
/// sent. Several lanes call it, and the time of one can be a little before that of another.
struct RatePace: Equatable {
    /// The number of requests per second; nil while there is no limit.
    private(set) var rate: Double?
    private var bucket = TokenBucket()
    private var climb = RateClimb()
    private var question = RefusalQuestion()
    private var delivered: DeliveryRate
    /// The rate of delivery in the second before the server refused nearly all requests; nil while it accepts some.
    private var lost: Double?
    private var pushedBackAt: UInt64 = 0

    /// The beginning of the interval that is judged next.
    private var interval: Mark
    /// The sums at the beginning of the last few answers, which are judged without waiting for the end of the interval.
    private var recent = AnswerSums()
    /// The end of the time in which answers belong to requests from before the last change of the rate.
    private var settling: Settling?

    private struct Mark: Equatable {
        var time: UInt64
        var totals = AnswerSums()
    }

    private struct Settling: Equatable {
        var answers: UInt64
        var until: UInt64
    }

    /// The longest settling time, in nanoseconds.
    private static let settlingMost: UInt64 = 2_000_000_000
    /// The lowest rate. A server that refuses requests even at that rate does so for another reason.
    private static let rateLeast = 20.0
    /// The lowest rate at which a search begins.
    private static let rateFirst = 300.0
    /// The rate above which the limit is lifted.
    private static let rateMost = 1_000_000.0

    init(start: UInt64) {
        interval = Mark(time: start)
        delivered = DeliveryRate(start: start)
    }

    // MARK: Sending

    /// Returns the number of requests that may be sent now.
    mutating func allowance(now: UInt64) -> Int {
        guard let rate else { return .max }
        return bucket.fill(rate: rate, now: now)
    }

    mutating func didSend(_ requests: Int) {
        guard rate != nil else { return }
        bucket.take(requests)
    }

    /// Starts again from the lowest rate, after an outage.
    mutating func restart(now: UInt64, totals: AnswerSums) {
        question = RefusalQuestion()
        climb.search()
        lost = nil
        change(to: Self.rateLeast, now: now, totals)
    }

    // MARK: Answers

    /// Adjusts the rate after a turn's answers.
    ///
    /// - Parameter isStarting: Whether the number of requests in flight still rises at the start of a run; then a few
    ///   refusals suffice.
    mutating func look(now: UInt64, totals: AnswerSums, isStarting: Bool = false) {
        delivered.note(now: now, good: totals.good)
        if let settling {
            if totals.answered >= settling.answers || now >= settling.until { self.settling = nil }
            // The last answers of that time come with this turn.
            return beginInterval(now: now, totals)
        }
        let seen = Sample(from: interval.totals, to: totals, nanoseconds: now - min(interval.time, now))
        if isFlood(seen, totals, isStarting: isStarting) {
            rate == nil ? search(now: now, totals) : judge(seen, now: now, totals)
        } else if isDue(seen) {
            judge(seen, now: now, totals)
        }
    }

    /// Whether so many of the last few answers are refusals that the end of the interval need not be awaited.
    private mutating func isFlood(_ seen: Sample, _ totals: AnswerSums, isStarting: Bool) -> Bool {
        let few = Sample(from: recent, to: totals)
        guard few.answers >= (isStarting ? 16 : 64) else { return false }
        recent = totals
        if rate == nil { return question.bearsNothing && few.share >= (isStarting ? 0.25 : 0.5) }
        let many = lost == nil ? 0.2 * (climb.known ?? 0) : 0
        return few.share >= 0.5 && seen.seconds >= 0.1 && seen.refused >= many
    }

    /// Whether the interval is long enough. A known rate is judged by a whole second, since servers may count per second; a
    /// search cannot wait that long.
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

    /// Starts the search for the server's rate, when it refuses requests and its rate is not known.
    private mutating func search(now: UInt64, _ totals: AnswerSums) {
        pushedBackAt = now
        climb.search()
        lost = nil
        change(to: max(Self.rateFirst, delivered.rate(now: now, good: totals.good)), now: now, totals)
    }

    /// Takes the rate of delivery while a part is refused as the server's rate.
    private mutating func find(_ rate: Double, _ seen: Sample, now: UInt64, _ totals: AnswerSums) {
        // For a server that counts per second, an interval of less than a second gives too high a rate.
        let inInterval = climb.known == nil || seen.seconds >= 1 ? seen.goodRate : 0
        settle(at: min(rate, max(inInterval, delivered.rate(now: now, good: totals.good))), now: now, totals)
    }

    private mutating func settle(at rate: Double, now: UInt64, _ totals: AnswerSums) {
        change(to: climb.find(max(Self.rateLeast, rate), mayHold: question.bearsNothing), now: now, totals)
    }

    /// Halves the rate when the server accepts almost nothing: its rate is exceeded by far, its quota is used up, or it is
    /// faulty.
    private mutating func lose(_ rate: Double, now: UInt64, _ totals: AnswerSums) {
        if lost == nil { lost = min(rate, delivered.rate(now: now, good: totals.good)) }
        change(to: max(Self.rateLeast, rate / 2), now: now, totals)
    }

    /// Returns to the rate before the server refused nearly all, when it accepts requests again.
    private mutating func goBack(to before: Double, now: UInt64, _ totals: AnswerSums) {
        lost = nil
        // The rate of the first half second is unreliable.
        if climb.known != nil || now >= pushedBackAt + 500_000_000 { return settle(at: before, now: now, totals) }
        climb.search(step: RateClimb.carefulStep)
        change(to: max(rate ?? 0, before), now: now, totals)
    }

    // MARK: More

    /// Raises the rate after an interval with few refusals, if all of it was used.
    private mutating func rise(_ seen: Sample, now: UInt64, _ totals: AnswerSums) {
        guard let rate else { return beginInterval(now: now, totals) }
        if let lost { return goBack(to: lost, now: now, totals) }
        guard bucket.wasEmpty else {
            // The limit is far more than there is to send.
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
        if totals.inFlight > 0 {
            settling = Settling(answers: totals.answered + totals.inFlight, until: now + Self.settlingMost)
        }
        beginInterval(now: now, totals)
    }

    private mutating func beginInterval(now: UInt64, _ totals: AnswerSums) {
        interval = Mark(time: now, totals: totals)
        recent = totals
        bucket.wasEmpty = false
    }
}

/// The answers in an interval.
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
