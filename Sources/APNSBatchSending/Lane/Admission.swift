import APNSBatchModel

/// Decides whether a lane may send another request now, and if not, why and for how long.
///
/// Everything that can hold requests back is considered here: the end of the run, a pause, the campaign's deadline, the
/// canary, the pace and the outages of a provider, its streams, rows that wait for another attempt, and memory. What applies
/// to a whole turn is determined when it begins, the rest for each row. A new limit is applied here,
/// too. If lanes share it, it is counted in `SharedCounters`, behind `LaneHealth`; limits of connections are in `Pool`.
struct Admission: ~Copyable {
    /// Why a turn sends no more requests.
    enum Hold: Equatable {
        /// The turn has done as much as it may; there is more to do in the next one, without waiting.
        case batch
        /// All usable streams are taken, so answers must come first.
        case streams
        /// There is no row, or none may be taken before others have their outcomes.
        case rows
        /// The run takes no further row.
        case stopping
        case paused
        /// The campaign's deadline has passed.
        case late
        /// Another lane sends the canary.
        case canary
        /// The limit of requests per second is reached.
        case rate
    }

    private let plan: CampaignPlan
    private let control: RunControl
    private let rate: RunRate
    /// The canary that this lane sends while the others wait; nil otherwise.
    private var canary: Canary?
    /// Whether this lane takes no rows, because another lane sends the canary.
    private(set) var awaitsCanary: Bool
    private var isLate = false
    /// Whether requests to some provider are paced, so that the next one is due soon.
    private var isPaced = false
    /// What the limit of requests per second allows in this turn.
    private var grant = RunRate.Grant.unlimited
    /// The number of requests that the lane could have sent in this turn without that limit.
    private var wanted = 0
    /// When the next request may be sent by that limit, in nanoseconds; 0 if it is not reached.
    private var nextByRate: UInt64 = 0
    /// Whether only probes are sent, because the campaign's only provider has an outage. Rows that are due again are used as
    /// probes, and fresh rows if there are none.
    private(set) var isProbing = false

    /// The longest wait in microseconds when nothing arrives: usually, and while requests are paced.
    private static let idleWait: UInt32 = 10_000
    private static let pacedWait: UInt32 = 1000
    /// The least wait at the limit of requests per second, in microseconds, if it allows several requests in that time. It
    /// is well below the time for which no request is lost, and long enough for a turn to be worth its while.
    private static let rateWait: UInt32 = 1250
    /// With fewer requests in flight, waiting for more answers would cost more time than it saves work.
    static let lingerFrom = 128
    /// The longest waits of a lane of a sender, in microseconds: while it has this many requests in flight, and while it has
    /// nothing to do. Then it wakes only to look whether connections need a PING or a new provider token.
    static let busyWait: UInt32 = 1000
    static let serviceWait: UInt32 = 15_000_000

    /// - Parameter lane: The number of the lane. Lane 0 sends the canary.
    init(plan: CampaignPlan, control: RunControl, rate: RunRate, lane: Int) {
        (self.plan, self.control, self.rate) = (plan, control, rate)
        canary = lane == 0 ? plan.canary : nil
        awaitsCanary = lane > 0 && plan.canary != nil
        isLate = control.isAbandoned
    }

    // MARK: A turn

    /// Why nothing is sent in this turn, or nil if requests may be sent.
    var hold: Hold? {
        if control.stopping { return .stopping }
        if isLate { return .late }
        if control.paused { return .paused }
        return awaitsCanary ? .canary : nil
    }

    /// Whether nothing is sent now, so that no connection is needed.
    var sendsNothing: Bool { control.paused || isLate || awaitsCanary }

    /// Determines how many requests may be sent for each provider in this turn. Called before rows are taken.
    mutating func beginTurn(_ connections: inout LaneConnections, _ health: inout LaneHealth) {
        (isPaced, isProbing) = (false, false)
        for provider in connections.providers {
            let requests = health.allowance(provider, now: connections.now)
            let mode = health.mode(provider)
            if mode.contains(.probing) {
                isProbing = connections.providers.count == 1
            } else if mode.contains(.paced) {
                isPaced = true
            }
            connections.pools[provider].allow(requests, answered: health.answered(provider))
        }
    }

    /// Reports how many requests were sent for each provider in this turn. Called after rows were taken.
    func endTurn(_ connections: borrowing LaneConnections, _ health: inout LaneHealth) {
        for provider in connections.providers {
            health.didSend(connections.pools[provider].sentOfAllowance, to: provider, now: connections.now)
        }
    }

    /// Whether another row of the input may be taken.
    ///
    /// - Parameter rows: Not changed. It is `inout` because Swift 6.3 copies a whole structure to lend it to a function,
    ///   which would take 160 instructions for every row.
    func takesFresh(_ rows: inout LaneRows<some LaneOrigin & ~Copyable>) -> Bool {
        !rows.hasNoRoom && !rows.isHeldUp && (canary == nil || canary!.room(rows.canaryCount) > 0)
    }

    /// Returns a member of the provider's pool that can take another request now, or nil. During a canary the pool is not
    /// asked if it has no stream, because such requests make it grow.
    func stream(of provider: Int, _ connections: inout LaneConnections) -> Int? {
        if canary != nil && !connections.pools[provider].hasStream { return nil }
        return connections.pools[provider].pick()
    }

    // MARK: The limit of requests per second

    /// Reserves requests for this turn, and returns their number, at most `most`. A lane without a row reserves none.
    mutating func takeFromRate(_ most: Int, _ rows: inout LaneRows<some LaneOrigin & ~Copyable>, now: UInt64) -> Int {
        (grant, wanted, nextByRate) = (.unlimited, most, 0)
        guard rate.isOn else { return most }
        if !rows.hasRow(takesFresh: takesFresh(&rows), now: now) { wanted = 0 }
        grant = rate.take(upTo: wanted, now: now)
        return min(wanted, grant.requests)
    }

    /// Ends the turn for which requests were reserved. Returns whether the limit is reached: it allowed fewer requests than
    /// were wanted, and all of them were used.
    mutating func settleRate(used: Int, now: UInt64) -> Bool {
        guard isRateLimited else { return false }
        rate.giveBack(grant, used: used)
        guard grant.requests < wanted, used == grant.requests else { return false }
        nextByRate = rate.next(now: now)
        return true
    }

    /// Whether the time at which the requests of this turn are handed over matters.
    var isRateLimited: Bool { grant.requests < .max }

    /// Learns when the requests of this turn had been handed over.
    func handedOver(_ used: Int, at time: UInt64) { rate.handedOver(grant, used: used, at: time) }

    // MARK: Waiting

    /// Returns the longest time to wait for something to arrive, in microseconds.
    ///
    /// - Parameter now: The time at the beginning of the turn.
    func wait(_ hold: Hold, now: UInt64) -> UInt32 {
        if hold == .batch { return 0 }
        let most = isPaced ? Self.pacedWait : Self.idleWait
        guard hold == .rate else { return most }
        let untilNext = UInt32(clamping: (nextByRate - min(now, nextByRate) + 999) / 1000)
        return min(most, max(untilNext, rate.isFast(now: now) ? Self.rateWait : 0))
    }

    /// Returns how long answers may gather in a campaign, in microseconds; 0 if there is more to send at once, or few requests are
    /// in flight. At the limit of requests per second their number does not matter, because the next ones have to wait.
    func linger(_ hold: Hold, inFlight: Int, _ gathering: Gathering) -> UInt32 {
        if hold == .rate { return gathering.timeOfRate }
        guard hold != .batch, inFlight >= Self.lingerFrom else { return 0 }
        return hold == .streams && !isPaced ? gathering.time : gathering.least
    }

    /// Returns the same for a sender, whose callers wait for each answer.
    func lingerOfSender(_ hold: Hold, inFlight: Int, _ gathering: Gathering) -> UInt32 {
        guard hold != .batch, inFlight >= Self.lingerFrom else { return 0 }
        return min(gathering.time, Gathering.mostOfSender)
    }

    /// Returns what the lane does at the moment, for reports of progress. Allocates strings only while the lane waits.
    ///
    /// - Parameter hasWork: Whether any provider has work.
    func activity(
        hasWork: Bool, _ rows: borrowing LaneRows<some LaneOrigin & ~Copyable>,
        _ connections: borrowing LaneConnections,
        _ health: borrowing LaneHealth
    ) -> LaneActivity {
        guard hasWork else { return rows.backingOff.map(LaneActivity.waiting) ?? .idle }
        var found: CampaignProgress.Waiting?
        for provider in connections.providers where connections.pools[provider].hasWork {
            guard let reason = connections.waiting(provider) ?? health.probing(provider) else { return .sending }
            found = found ?? reason
        }
        return found.map(LaneActivity.waiting) ?? .sending
    }

    /// Returns what keeps the lane from sending faster, for reports of progress; nil if nothing does.
    func reported(
        _ hold: Hold, _ rows: inout LaneRows<some LaneOrigin & ~Copyable>, _ connections: inout LaneConnections
    ) -> CampaignProgress.Hold? {
        switch hold {
        case .batch, .stopping, .late: nil
        case .rate: rate.isRamp(now: connections.now) ? .ramp : .rate
        case .paused: .pause
        case .canary: .canary
        case .streams: connections.isUp && (isPaced || isProbing) ? .pushback : connections.shortage
        case .rows: rows.isHeldUp ? .writer : rows.hasNoRoom ? .retries : rows.isExhausted ? nil : .input
        }
    }

    // MARK: Canary and deadline

    /// Learns whether the canary of another lane has ended and whether the deadline has passed. Called every few
    /// milliseconds.
    mutating func tick(wallClock: UInt64) {
        if awaitsCanary { awaitsCanary = control.isCanary }
        isLate = CampaignDeadline(seconds: control.deadline).hasPassed(now: wallClock)
    }

    /// Judges the canary by the answers so far. Called after the answers of a turn.
    mutating func judgeCanary(_ rows: inout LaneRows<some LaneOrigin & ~Copyable>) {
        guard let canary else { return }
        switch canary.verdict(rows.canaryCount) {
        case .waiting: if isLate { endCanary() }
        case .passed:
            plan.log.canaryPassed(rows: canary.rows)
            endCanary()
        case .failed(let text):
            control.stop(.failure(CampaignError(.fatalAnswer, "\(plan.endpoint): \(text)")))
            endCanary()
        }
    }

    /// Lets all lanes send. Also called when this lane ends without a verdict on the canary.
    mutating func endCanary() {
        guard canary != nil else { return }
        canary = nil
        control.endCanary()
    }
}
