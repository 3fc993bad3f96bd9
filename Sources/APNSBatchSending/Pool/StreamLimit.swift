/// The limit of streams in use at once on one connection: that of the campaign, and a lower one where the server resets
/// streams because there are too many (ENHANCE_YOUR_CALM, REFUSED_STREAM). The limit that the server announces applies in
/// addition.
///
/// With a server that announces no limit it starts at 100 streams, the least that RFC 9113 (section 6.5.2) recommends to
/// servers, and doubles after each round of answers. Where a good part of the open streams is reset, the limit is halved
/// until the resets end, at once and not at the end of an interval: a stream that is reset with ENHANCE_YOUR_CALM may have
/// been processed, so each can leave a row unknown. From then on the limit rises slowly, stays below the number at which the
/// resets began, exceeds it only rarely, and falls back at the first resets.
///
/// A server with a faulty part resets the same share of any number of streams. A share of resets that a lower limit
/// does not reduce is accepted.
struct StreamLimit: Equatable {
    /// A series of cuts whose effect is not known yet: the limit before the first, and the share of streams that was reset
    /// then.
    private struct Trial: Equatable {
        var allowed: Int
        var share: Double?
        /// The number of streams that must have ended before an interval shows the effect.
        var shows: UInt64
    }

    /// The number of streams of one connection.
    private(set) var allowed: Int
    /// Whether all allowed streams were in use in the current interval.
    var isLimiting = false

    private let most: Int
    /// The number of streams at which resets began. The limit rises to three quarters of it.
    private var ceiling: Int
    /// The limit of the last interval without resets.
    private var good = Int.max
    private var isNew = true
    /// Whether the limit doubles after each round of answers.
    private var isRamping = false
    private var answeredAtRamp: UInt64 = 0
    // The current interval.
    private var since: UInt64
    private var answeredThen: UInt64 = 0
    private var resets = 0
    private var resetsBefore: UInt64 = 0
    private var trial: Trial?
    /// The share of resets that a lower limit did not reduce.
    private var borne = 0.0
    private var risesBeyondAt: UInt64 = 0
    private var pause = Self.pauseFirst

    /// The length of an interval, in nanoseconds.
    private static let interval: UInt64 = 100_000_000
    private static let pauseFirst: UInt64 = 30_000_000_000
    private static let pauseLongest: UInt64 = 600_000_000_000
    /// The time between two steps beyond the number at which resets began, in nanoseconds. The first waits longer.
    private static let nextRise: UInt64 = 5_000_000_000
    /// The numbers of resets for an immediate cut, and of streams for a judgement at the end of an interval.
    private static let resetsLeast = 8
    private static let streamsLeast = 20
    /// The number of resets that suffices above the last good limit.
    private static let resetsBeyond = 3
    /// The share of resets in an interval up to which nothing is done.
    private static let shareLeast = 0.02
    private static let firstOfUnannounced = 100

    init(most: Int, start: UInt64) {
        (allowed, self.most, ceiling) = (most, most, 2 * most)
        since = start
    }

    /// Notes that a connection came up.
    ///
    /// - Parameter announced: The number of streams that the server allows, at least `Int32.max` if it announced none.
    mutating func begin(announced: Int) {
        guard isNew else { return }
        isNew = false
        guard announced >= Int32.max else { return }
        (allowed, isRamping) = (min(allowed, Self.firstOfUnannounced), true)
    }

    /// Notes that a stream was reset because there are too many.
    ///
    /// - Parameters:
    ///   - open: The number of streams of its connection, including this one.
    ///   - inFlight: The number of requests in flight on all connections.
    ///   - answered: The number of answers so far.
    mutating func wasReset(open: Int, inFlight: Int, answered: UInt64, now: UInt64) {
        resets += 1
        // More streams than the limit are from before it fell.
        guard open <= allowed, borne == 0 else { return }
        if allowed > good, resets >= Self.resetsBeyond { return stepBack(now: now) }
        guard resets >= Self.resetsLeast, resets * 8 >= open else { return }
        if resets * 3 >= answers(answered) { cut(from: open, inFlight: inFlight, answered: answered, now: now) }
    }

    /// Notes that the server closed a connection because of its number of open streams.
    mutating func wasClosed(open: Int, inFlight: Int, answered: UInt64, now: UInt64) {
        if open <= allowed { cut(from: open, inFlight: inFlight, answered: answered, now: now) }
    }

    private mutating func cut(from open: Int, inFlight: Int, answered: UInt64, now: UInt64) {
        if trial == nil {
            trial = Trial(allowed: allowed, shows: 0)
            risesLater(now: now)
        }
        trial?.shows = answered + resetsBefore + UInt64(resets + inFlight)
        isRamping = false
        ceiling = max(1, min(open, allowed))
        allowed = max(1, ceiling / 2)
        good = min(good, allowed)
    }

    private mutating func stepBack(now: UInt64) {
        allowed = good
        ceiling = good + good / 3
        risesLater(now: now)
    }

    private mutating func risesLater(now: UInt64) {
        risesBeyondAt = now + pause
        pause = min(Self.pauseLongest, pause * 2)
    }

    private func answers(_ answered: UInt64) -> Int { answered > answeredThen ? Int(answered - answeredThen) : 0 }

    /// Adjusts the limit at the end of an interval, or when there were many resets.
    ///
    /// - Parameters:
    ///   - inFlight: The number of requests in flight on all connections.
    ///   - answered: The number of answers so far.
    mutating func adjust(now: UInt64, inFlight: Int, answered: UInt64) {
        if isRamping, isLimiting { ramp(answered: answered) }
        let (length, streams) = (now - since, answers(answered) + resets)
        guard length >= Self.interval || resets > max(4 * Self.resetsLeast, allowed / 8) else { return }
        guard streams >= Self.streamsLeast || length >= 10 * Self.interval else { return }
        if resets > 1 {
            judge(share: Double(resets) / Double(streams), inFlight: inFlight, answered: answered, now: now)
        } else {
            (trial, borne) = (nil, 0)
            if isLimiting { rise(now: now) }
        }
        resetsBefore += UInt64(resets)
        (since, answeredThen, resets, isLimiting) = (now, answered, 0, false)
    }

    private mutating func ramp(answered: UInt64) {
        guard answered >= answeredAtRamp + UInt64(allowed) else { return }
        allowed = min(most, 2 * allowed)
        answeredAtRamp = answered
        isRamping = allowed < most
    }

    private mutating func judge(share: Double, inFlight: Int, answered: UInt64, now: UInt64) {
        guard let before = trial else {
            if share < borne / 2 { borne = 0 }
            guard share > max(Self.shareLeast, 1.5 * borne), allowed > 1 else { return }
            cut(from: allowed, inFlight: inFlight, answered: answered, now: now)
            trial?.share = share
            return
        }
        guard let shareBefore = before.share else {
            trial?.share = share
            return
        }
        guard answeredThen + resetsBefore >= before.shows else { return }
        trial = nil
        guard share > 0.7 * shareBefore, share < 0.5 else { return }
        (borne, allowed, ceiling, good) = (share, before.allowed, 2 * most, .max)
    }

    private mutating func rise(now: UInt64) {
        good = max(allowed, good == .max ? 0 : good)
        guard !isRamping, allowed < most else { return }
        if allowed < ceiling / 4 * 3 {
            allowed = min(most, ceiling / 4 * 3, allowed + max(1, ceiling / 32))
        } else if now >= risesBeyondAt {
            ceiling += max(4, ceiling / 4)
            risesBeyondAt = now + Self.nextRise
        }
    }
}
