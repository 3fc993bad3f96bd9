import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import Synchronization

/// The limit of requests per second of a run, for all its lanes, providers and attempts together.
///
/// A lane reserves the requests of a turn with one atomic exchange of the due time (``RequestSpacing``). What it does not
/// use in that turn it gives back, if no other lane has reserved any since; otherwise it is lost, because made-up requests
/// would come in addition to those of the others.
package final class RunRate: Sendable {
    /// The requests that a lane has reserved for one turn.
    struct Grant {
        /// At most as many as were asked for.
        var requests: Int
        fileprivate var pace: Pace?
        fileprivate var before: UInt64 = 0
        fileprivate var after: UInt64 = 0
        fileprivate var now: UInt64 = 0

        static let unlimited = Grant(requests: .max, pace: nil)
    }

    /// The rate in force, and whether it is below the full rate because of a ramp.
    package struct InForce: Equatable {
        package var perSecond: Double
        package var isRamp: Bool
    }

    /// How requests are spaced at one moment.
    fileprivate enum Pace {
        case even(RequestSpacing)
        case rising(RateRamp)
    }

    private let state: State

    /// The due time, and when the last ramp began.
    private enum State {
        /// The two words, of this run alone.
        case own(AtomicWords)
        /// Other runs use the same file.
        case shared(RateFile)

        func read() -> RateWords {
            switch self {
            case .own(let words):
                var read = RateWords()
                read.due = unsafe words[0].pointee.load(ordering: .relaxed)
                read.rampBegan = unsafe words[1].pointee.load(ordering: .relaxed)
                return read
            case .shared(let file): return file.read()
            }
        }

        /// Changes the state as one step. `change` may be called several times, and only the last one counts.
        @inline(__always)
        func update<Result>(_ change: (inout RateWords) -> Result) -> Result {
            guard case .own(let words) = self else {
                guard case .shared(let file) = self else { preconditionFailure() }
                return file.update(change)
            }
            while true {
                let found = read()
                var changed = found
                let result = change(&changed)
                if changed.rampBegan != found.rampBegan {
                    unsafe words[1].pointee.store(changed.rampBegan, ordering: .relaxed)
                }
                let isDone =
                    unsafe changed.due == found.due
                    || words[0].pointee.weakCompareExchange(
                        expected: found.due, desired: changed.due, ordering: .relaxed
                    ).exchanged
                if isDone { return result }
            }
        }
    }

    /// The bits of the spacing at the full rate, and of that which spreads the remaining rows; 0 for no limit.
    private let full = Atomic<UInt64>(0)
    private let spread = Atomic<UInt64>(0)
    /// The length of a ramp, in nanoseconds.
    private let rampTime = Atomic<UInt64>(0)
    private let given: Guarded<Campaign.RateLimit>

    /// The time without requests after which a ramp begins again, in nanoseconds.
    private static let gap: UInt64 = 60_000_000_000

    package convenience init(_ limit: Campaign.RateLimit) {
        self.init(limit, state: .own(AtomicWords(count: 2)))
    }

    /// Creates a limit that all runs of this machine share which use the same file.
    ///
    /// - Throws: An error with the code `configuration`.
    package convenience init(_ limit: Campaign.RateLimit, sharedBy path: String) throws(CampaignError) {
        self.init(limit, state: .shared(try RateFile(path)))
    }

    private init(_ limit: Campaign.RateLimit, state: State) {
        self.state = state
        given = Guarded(limit)
        change(to: limit)
    }

    // MARK: The limits

    package var limit: Campaign.RateLimit { given.withLock { $0 } }

    /// Replaces the limits. They apply from the next turn of each lane on.
    package func change(to limit: Campaign.RateLimit) {
        given.withLock { given in
            given = limit
            let spacing = limit.rate.map { RequestSpacing($0.requests, in: $0.unit.rawValue) }
            rampTime.store(limit.ramp.nanoseconds, ordering: .relaxed)
            full.store(spacing?.bits ?? 0, ordering: .relaxed)
            if limit.spread == nil { spread.store(0, ordering: .relaxed) }
        }
    }

    /// Spreads the remaining rows evenly over the remaining time. Without any time left there is no such limit.
    ///
    /// - Parameters:
    ///   - rows: the number of rows without an outcome; nil while it is not known.
    ///   - seconds: the time left.
    package func spread(rows: UInt64?, over seconds: Double) {
        given.withLock { given in
            guard given.spread != nil else { return }
            let rate = rows.map { max(1, Double($0)) / seconds }
            let spacing = rate.flatMap { seconds > 0 ? RequestSpacing(perSecond: $0) : nil }
            spread.store(spacing?.bits ?? 0, ordering: .relaxed)
        }
    }

    /// Whether there is any limit.
    @inline(__always)
    var isOn: Bool { full.load(ordering: .relaxed) != 0 || spread.load(ordering: .relaxed) != 0 }

    /// Returns the rate in force; nil without a limit.
    package func inForce(now: UInt64) -> InForce? {
        switch pace(state.read(), now: now) {
        case nil: nil
        case .even(let spacing): InForce(perSecond: spacing.perSecond, isRamp: false)
        case .rising(let ramp): InForce(perSecond: ramp.perSecond(now: now), isRamp: true)
        }
    }

    // MARK: A turn

    /// Reserves requests that are sent in this turn.
    ///
    /// - Parameters:
    ///   - most: the number of requests that the lane could send.
    ///   - now: the monotonic time in nanoseconds, which is the same for all lanes.
    func take(upTo most: Int, now: UInt64) -> Grant {
        guard isOn else { return .unlimited }
        return state.update { words in
            if most > 0 { beginRampAfterGap(&words, now: now) }
            guard let pace = pace(words, now: now) else { return .unlimited }
            let from = pace.limited(words.due, now: now)
            let requests = pace.allowed(most, due: from, now: now)
            guard requests > 0 else { return Grant(requests: 0, pace: pace) }
            words.due = pace.due(after: requests, due: from, now: now)
            return Grant(requests: requests, pace: pace, before: from, after: words.due, now: now)
        }
    }

    /// Gives back what was reserved for a turn and not used in it.
    func giveBack(_ grant: Grant, used: Int) {
        guard let pace = grant.pace, used < grant.requests else { return }
        let before = pace.due(after: used, due: grant.before, now: grant.now)
        state.update { if $0.due == grant.after { $0.due = before } }
    }

    /// Moves the due time if the requests of a turn were handed over so long after they were reserved that they count from
    /// that moment. Otherwise the next ones could follow them too closely.
    ///
    /// - Parameters:
    ///   - used: the number of requests that were handed over.
    ///   - time: when they had been handed over.
    func handedOver(_ grant: Grant, used: Int, at time: UInt64) {
        guard let pace = grant.pace, used > 0 else { return }
        let reserved = pace.due(after: used, due: grant.before, now: grant.now)
        let actual = pace.due(after: used, due: grant.before, now: time)
        if actual > reserved { state.update { $0.due &+= actual - reserved } }
    }

    /// Returns the time in nanoseconds from which on the next request may be sent; 0 without a limit.
    func next(now: UInt64) -> UInt64 {
        guard isOn else { return 0 }
        let words = state.read()
        guard let pace = pace(words, now: now) else { return 0 }
        return pace.next(due: pace.limited(words.due, now: now), now: now)
    }

    /// Whether the limit is below the full rate because of a ramp.
    func isRamp(now: UInt64) -> Bool { inForce(now: now)?.isRamp ?? false }

    /// Whether several requests may be sent at once, so that a lane can be late for the first without losing one.
    func isFast(now: UInt64) -> Bool { (inForce(now: now)?.perSecond ?? 0) * Double(RequestSpacing.burst) > 2e9 }

    // MARK: Ramps

    /// Begins a ramp with the first request, and with the first one after a gap. A due time that lies far back means that
    /// nothing was sent meanwhile. A ramp that begins in the future is of another clock: a file can be shared by containers with
    /// clocks of their own, or be damaged.
    private func beginRampAfterGap(_ words: inout RateWords, now: UInt64) {
        guard rampTime.load(ordering: .relaxed) > 0 else { return }
        let last = RequestSpacing.time(ofDue: words.due)
        if last == 0 || now > last + Self.gap || words.rampBegan > now + Pace.slack { words.rampBegan = now }
    }

    private func pace(_ words: RateWords, now: UInt64) -> Pace? {
        let (full, spread) = (full.load(ordering: .relaxed), spread.load(ordering: .relaxed))
        guard full != 0 || spread != 0 else { return nil }
        let even = RequestSpacing(bits: max(full, spread))
        let length = rampTime.load(ordering: .relaxed)
        guard full != 0, length > 0 else { return .even(even) }
        let began = min(words.rampBegan, now)
        guard now - began < length else { return .even(even) }
        let ramp = RateRamp(to: RequestSpacing(bits: full), began: began, nanoseconds: length)
        return ramp.perSecond(now: now) < even.perSecond ? .rising(ramp) : .even(even)
    }
}

extension RunRate.Pace {
    /// How much later than possible a due time is taken for true, in nanoseconds. Lanes do not read the clock at the same
    /// time.
    fileprivate static let slack: UInt64 = 1_000_000_000

    /// Returns the due time, or this moment if the due time is later than this pace can have made it: after a lower rate was
    /// raised.
    func limited(_ due: UInt64, now: UInt64) -> UInt64 {
        let soon = RequestSpacing.due(at: now + Self.slack)
        guard due > soon, due > self.due(after: 1, due: soon, now: now) else { return due }
        return RequestSpacing.due(at: now)
    }

    func allowed(_ most: Int, due: UInt64, now: UInt64) -> Int {
        switch self {
        case .even(let spacing): spacing.allowed(most, due: due, now: now)
        case .rising(let ramp): ramp.allowed(most, due: due, now: now)
        }
    }

    func due(after requests: Int, due: UInt64, now: UInt64) -> UInt64 {
        switch self {
        case .even(let spacing): spacing.due(after: requests, due: due, now: now)
        case .rising(let ramp): ramp.due(after: requests, due: due, now: now)
        }
    }

    func next(due: UInt64, now: UInt64) -> UInt64 {
        switch self {
        case .even(let spacing): spacing.next(due: due)
        case .rising(let ramp): ramp.next(due: due, now: now)
        }
    }
}
