/// Decides about the number of connections by Little's law: requests in flight = rate × time of an answer.
///
/// While all streams are taken, twice the connections put twice as many requests in flight. If answers take as long as
/// before, that doubles the rate; if they take twice as long, the additional requests only queue. So the time of an answer
/// shows the value of a number of connections. A rate that is counted over an interval does not: requests that were sent
/// in a burst are answered in one, and the rate depends on how many bursts fall into the interval.
///
/// - While answers are as quick as ever, the number doubles without a trial, once in the time of an answer.
/// - Otherwise a doubling is a trial. It is undone if it did not raise the rate, and tried again after growing pauses.
/// - When answers take twice the time of the best ones for some seconds, fewer connections are tried. If answers come sooner
///   then, the others were surplus. If not, the connections come back, and that is how long answers take now.
///
/// A trial is judged by answers to requests that were sent after it began.
struct Growth: Equatable {
    enum Verdict: Equatable {
        case grow, stay
        /// The connections beyond the target are to be closed.
        case shrink
    }

    /// What was measured of a number of connections: their streams, and the mean time of an answer in microseconds.
    struct Measured: Equatable {
        var target: Int
        var streams: Int
        var time: Double

        /// The factor by which the rate of answers is higher than that of `other`, if all streams are taken.
        func gain(over other: Measured) -> Double {
            Double(streams) / time / (Double(other.streams) / other.time)
        }
    }

    /// The intended number of connections.
    private(set) var target: Int
    /// Whether rows waited because no stream was free, in the current interval.
    var starved: Bool {
        get { interval.isFull }
        set { interval.isFull = newValue }
    }
    private var interval: AnswerInterval

    /// What was measured before a trial, until that is judged, and the number of consecutive intervals in which a doubling
    /// showed no gain. A single one may be chance.
    private var before: Measured?
    private var doubts = 0
    /// The number of consecutive trials after which more connections had turned out to be of no use, the time of the last one,
    /// and the mean time of an answer then.
    private var failures: UInt64 = 0
    private var failedAt: UInt64 = 0
    private var timeAtFailure = 0.0
    /// The lowest mean time of an answer, in microseconds, which slowly rises to that of the last interval; nil before the
    /// first answer.
    private var best: Double?
    /// Whether it was measured over an interval; before, it is that of the first answer, which may have been quick by chance.
    private var isBestMeasured = false
    /// The time since which answers have taken much longer than the best ones.
    private var slowSince: UInt64?
    /// The time of the last decision.
    private var decidedAt: UInt64 = 0
    /// The time since which all streams may be in use, and their number.
    private var settledAt: UInt64
    private var streamsThen = 0

    init(target: Int, start: UInt64) {
        (self.target, settledAt) = (target, start)
        interval = AnswerInterval(start: start)
    }

    /// Notes that the connections suffice to keep the sender busy: the last doubling helped, whatever comes later.
    mutating func didFill() {
        guard let before, before.target < target else { return }
        (self.before, doubts, failures) = (nil, 0, 0)
    }

    /// Notes that answers take this time, in microseconds, however few requests are in flight.
    mutating func answersTake(_ time: Double) { (best, isBestMeasured, slowSince) = (time, true, nil) }

    /// Decides about the number of connections. Called every few milliseconds.
    ///
    /// - Parameters:
    ///   - sum: The answers so far.
    ///   - streams: The number of streams.
    ///   - isSettled: Whether all of them may be in use: no connection is being opened or replaced, and there is no other limit.
    ///   - mayGrow: Whether more connections could help.
    mutating func judge(
        now: UInt64, _ sum: AnswerSum, streams: Int, isSettled: Bool = true, mayGrow: Bool = true,
        _ limits: ConnectionPool.Limits
    ) -> Verdict {
        if !isSettled || abs(streams - streamsThen) * 16 > streamsThen { (settledAt, streamsThen) = (now, streams) }
        let begun = interval.since
        if let length = interval.end(now: now, sum, limits) {
            best = best.map { min(max($0, interval.mean), $0 * (1 + Double(length) / 1e9 * limits.bestRises)) }
            if isSettled, !(mayGrow && growsAtOnce(now: now, sum, limits)) {
                return judgeInterval(begun: begun, now: now, mayGrow: mayGrow, limits)
            }
        }
        guard isSettled, mayGrow, growsAtOnce(now: now, sum, limits) else { return .stay }
        return change(to: min(limits.maximum, target * 2), trying: nil, now: now, .grow)
    }

    /// Whether more connections must help: all streams are taken, and answers are as quick as ever. Within the time of an
    /// answer after each doubling it shows whether it slows them down.
    private mutating func growsAtOnce(now: UInt64, _ sum: AnswerSum, _ limits: ConnectionPool.Limits) -> Bool {
        guard target < limits.maximum, before == nil, failures == 0, starved || interval.wasFull else { return false }
        if best == nil, let mean = sum.mean {
            best = mean
            interval.assume(mean)
        }
        guard let best else { return false }
        let least = isBestMeasured ? interval.mean : interval.mean - interval.deviation
        return least <= best * limits.sameTime && now >= decidedAt + UInt64(interval.mean * 1000)
    }

    /// Decides by an interval that has ended.
    private mutating func judgeInterval(
        begun: UInt64, now: UInt64, mayGrow: Bool, _ limits: ConnectionPool.Limits
    ) -> Verdict {
        guard interval.wasFull else {
            // The streams suffice.
            (before, doubts, settledAt, slowSince) = (nil, 0, now, nil)
            return .stay
        }
        let time = interval.mean
        // With fewer connections, requests that wait in a queue have to leave it first.
        let isFewer = before.map { $0.target > target } ?? false
        let age = isFewer ? max(time, 2 * (before?.time ?? 0)) : time
        guard begun >= settledAt + UInt64(age * 1000) else { return .stay }
        (best, isBestMeasured) = (min(best ?? time, time), true)
        let measured = Measured(target: target, streams: streamsThen, time: time)
        guard let before else { return next(measured, now: now, mayGrow: mayGrow, limits) }
        if isFewer { return judgeFewer(before, measured, now: now) }
        return judgeMore(before, measured, now: now, mayGrow: mayGrow, limits)
    }

    /// Decides about the next trial.
    private mutating func next(
        _ measured: Measured, now: UInt64, mayGrow: Bool, _ limits: ConnectionPool.Limits
    ) -> Verdict {
        if let fewer = fewer(measured, limits) {
            let since = slowSince ?? now
            slowSince = since
            guard now - since >= limits.shrinkAfter else { return .stay }
            return change(to: fewer, trying: measured, now: now, .shrink)
        }
        slowSince = nil
        guard mayGrow, target < limits.maximum, !isHolding(measured.time, now: now, limits) else { return .stay }
        return change(to: min(limits.maximum, target * 2), trying: measured, now: now, .grow)
    }

    private mutating func change(
        to target: Int, trying before: Measured?, now: UInt64, _ verdict: Verdict
    ) -> Verdict {
        (self.target, self.before, doubts, slowSince) = (target, before, 0, nil)
        (settledAt, decidedAt) = (now, now)
        return verdict
    }

    // MARK: Trials

    private mutating func judgeMore(
        _ before: Measured, _ after: Measured, now: UInt64, mayGrow: Bool, _ limits: ConnectionPool.Limits
    ) -> Verdict {
        let gain = after.gain(over: before)
        if gain >= limits.worthwhileGain {
            // The time of an answer does not depend on the number of requests.
            if after.time <= before.time * limits.sameTime { best = after.time }
            (self.before, doubts, failures) = (nil, 0, 0)
            return next(after, now: now, mayGrow: mayGrow, limits)
        }
        doubts += 1
        guard doubts > 1 else { return .stay }
        // To return is a trial as well: answers may have become slower for another reason.
        if gain < limits.leastGain { return change(to: before.target, trying: after, now: now, .shrink) }
        fail(after, now: now)
        return .stay
    }

    /// Judges a trial with fewer connections: either answers come sooner, so that the rate stays, or the rate falls.
    private mutating func judgeFewer(_ before: Measured, _ after: Measured, now: UInt64) -> Verdict {
        let share = Double(after.streams) / Double(before.streams)
        if after.gain(over: before) >= (1 + share) / 2 {
            fail(after, now: now)
            return .stay
        }
        best = after.time
        return change(to: before.target, trying: nil, now: now, .grow)
    }

    /// Notes that more connections are of no use.
    private mutating func fail(_ measured: Measured, now: UInt64) {
        (before, doubts) = (nil, 0)
        (failures, failedAt, timeAtFailure) = (failures + 1, now, measured.time)
    }

    /// Whether it is too soon for another doubling after some that did not help. Answers that take another time than then make
    /// those meaningless, except for the last one.
    private mutating func isHolding(_ time: Double, now: UInt64, _ limits: ConnectionPool.Limits) -> Bool {
        guard failures > 0 else { return false }
        if time > 2 * timeAtFailure || 2 * time < timeAtFailure { failures = 1 }
        return now < failedAt + limits.holdAfterNoGain << min(failures - 1, 10)
    }

    /// The number of connections for a trial with fewer, while answers take much longer than the best ones; otherwise nil.
    private func fewer(_ measured: Measured, _ limits: ConnectionPool.Limits) -> Int? {
        guard let best, measured.time >= best * limits.slowTime else { return nil }
        let needed = Int((limits.reserve * Double(target) * best / measured.time).rounded(.up))
        let fewer = max(needed, (target + 1) / 2)
        return fewer < target ? fewer : nil
    }
}
