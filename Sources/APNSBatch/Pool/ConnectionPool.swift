import LaneTransport

/// Decides when a lane's connections for one provider open and close, and which of them takes the next request.
///
/// Pure: events and the time go in, actions come out, and nothing else happens. A member's life:
///
///     open ─▶ connecting ─up─▶ up ─goaway, retire─▶ draining ─down─▶ gone
///                  └────────────── down ────────────────┴──────────▶ gone, and perhaps another open
///
/// A member whose token grows old, or whose credentials were replaced, is *leaving*: it goes on until a successor is of
/// use, and drains then. So a pool of one connection does not stand still while its credentials change.
///
/// The pool starts with one connection and doubles while that helps: when every stream is taken and rows wait, it opens as
/// many again, spaced, and keeps growing only if the rate of answers rose with it. A connection that fails is tried again
/// at the host's next address, and after all of them with exponential back-off and jitter.
///
/// While there is nothing to send it opens nothing, except one successor for connections that leave: a server may close
/// idle connections and refuse others for as long as it likes, for nobody waits.
struct ConnectionPool: Equatable {
    /// All times are monotonic nanoseconds.
    struct Limits: Equatable {
        /// Members that may be open at once, draining ones not counted.
        var maximum = 8
        /// Least time between two opens; opening many at once looks like an attack to APNs.
        var openSpacing: UInt64 = 50_000_000
        /// How long a rate is measured before it is compared.
        var measureInterval: UInt64 = 250_000_000
        /// A doubling must raise the rate of answers by this factor to be worth another. Where the round trip is the limit
        /// it doubles the rate; a machine at its limit only wavers.
        var worthwhileGain = 1.3
        /// How long a pool that did not gain by growing stays as it is; twice as long each time it is so again.
        var holdAfterNoGain: UInt64 = 10_000_000_000
        var backoffFirst: UInt64 = 250_000_000
        var backoffLargest: UInt64 = 30_000_000_000
        /// How long no connection may be of use before the pool gives up.
        var patience: UInt64 = 60_000_000_000
    }

    enum Phase: Equatable { case free, connecting, up, draining }

    struct Member: Equatable {
        var phase = Phase.free
        var connection: ConnectionID = 0
        /// Of the credentials that it has.
        var generation = 0
        /// The peer's MAX_CONCURRENT_STREAMS.
        var streams = 0
        var inFlight = 0
        /// Answers that came over it, and when the last one did.
        var answers = 0
        var answeredAt: UInt64 = 0
        /// It takes no request before then.
        var heldUntil: UInt64 = 0
        /// When the connection's provider token becomes too old to be used; nil with a client certificate.
        var tokenExpiresAt: UInt64?
        /// When a successor is due, so that it is of use by then.
        var successorDueAt: UInt64?
        /// Another member is to take its place.
        var isLeaving = false

        /// When it came up.
        var upAt: UInt64 = 0

        /// It has answered of late, or has stood for a while and is asked nothing.
        func isOfUse(now: UInt64, within: UInt64) -> Bool {
            guard phase == .up, streams > 0 else { return false }
            return inFlight > 0 ? answers > 0 && now < answeredAt + within : now >= upAt + 1_000_000_000
        }

        /// It may take the place of another: it has answered, or has stood for a second and is asked nothing. The latter
        /// says nothing of other credentials.
        func canSucceed(_ other: Member, now: UInt64) -> Bool {
            guard phase == .up, !isLeaving, streams > 0 else { return false }
            return answers > 0
                || generation == other.generation && inFlight == 0 && now >= upAt + 1_000_000_000
        }

        /// Who is rather kept while credentials change: first those that have answered, then those that can be asked, then
        /// the newer ones.
        fileprivate var worth: (Int, Int, Int) { (answers > 0 ? 1 : 0, phase == .up ? 1 : 0, isLeaving ? 0 : 1) }

        var free: Int { phase == .up && heldUntil == 0 ? max(0, streams - inFlight) : 0 }
    }

    enum Action: Equatable {
        /// Open a connection for this member, to the address of this number (modulo the addresses known).
        case open(member: Int, address: Int)
        /// Take no new request to it; its answers are awaited.
        case drain(member: Int)
        /// No connection can be had; the campaign stops.
        case giveUp(String)
    }

    /// What follows when APNs refuses a connection's credentials.
    enum Refusal: Equatable {
        /// No further row can be sent.
        case final
        /// Connections that leave anyway end sooner; their successors get their try.
        case ofLeaving([Action])
        /// The connections with new credentials end, and those before them stay.
        case ofNew([Action])
    }

    private(set) var members: [Member]
    private let limits: Limits
    /// The member that takes requests until it is full, so that bursts stay together in few records.
    private var current = 0
    /// How many members are wanted; grows by doubling.
    private var target = 1
    private var nextOpenAt: UInt64 = 0
    private var failures = 0
    private var lastFailure = ""
    private var nextAddress = 0
    /// When a connection was last known to be of use: it answers, or nothing is asked of it. Moves on without work.
    private var lastGoodAt: UInt64
    private(set) var everUp = false
    /// Connections that came up so far.
    private(set) var opened = 0
    /// The newest credentials with which a row was accepted.
    private(set) var provenGeneration: Int?
    private var growth: Growth
    private var over = false

    init(limits: Limits, now: UInt64) {
        self.limits = limits
        // Room for as many draining members as open ones.
        members = Array(repeating: Member(), count: limits.maximum * 2)
        lastGoodAt = now
        growth = Growth(start: now)
    }

    // MARK: The way of a row

    /// The member to send to next, or nil while every stream is taken. `willSend` must follow for each request.
    mutating func pick() -> Int? {
        if members[current].free > 0 { return current }
        return pickAnother()
    }

    /// Whether `pick` would find one.
    var hasStream: Bool { members[current].free > 0 || members.contains { $0.free > 0 } }

    private mutating func pickAnother() -> Int? {
        for step in 1...members.count {
            let index = (current + step) % members.count
            if members[index].free > 0 {
                current = index
                return index
            }
        }
        growth.starved = true
        return nil
    }

    /// A request was submitted to this member.
    mutating func willSend(_ member: Int) { members[member].inFlight += 1 }

    /// A request of this member has its outcome.
    ///
    /// - Parameter accepted: answered with 200.
    mutating func didEnd(_ member: Int, answered: Bool, accepted: Bool = false, now: UInt64) {
        precondition(members[member].inFlight > 0, "an outcome for each request, and a connection's end after them")
        members[member].inFlight -= 1
        guard answered else { return }
        members[member].answers += 1
        members[member].answeredAt = now
        if accepted { provenGeneration = max(provenGeneration ?? 0, members[member].generation) }
    }

    var inFlight: Int { members.reduce(0) { $0 + $1.inFlight } }
    var up: Int { members.count { $0.phase == .up } }

    /// Streams that could be in use at once, over all members.
    var streams: Int { members.reduce(0) { $0 + ($1.phase == .up ? $1.streams : 0) } }

    // MARK: Events

    mutating func didOpen(
        _ member: Int, connection: ConnectionID, generation: Int = 0, tokenExpiresAt: UInt64?,
        successorDueAt: UInt64? = nil
    ) {
        members[member].connection = connection
        members[member].generation = generation
        members[member].tokenExpiresAt = tokenExpiresAt
        members[member].successorDueAt = successorDueAt
    }

    /// The open could not be begun and is to be tried again, not before then.
    mutating func notOpened(_ member: Int, until: UInt64) {
        members[member] = Member()
        nextOpenAt = until
    }

    mutating func isUp(_ member: Int, streams: Int, now: UInt64) {
        guard members[member].phase == .connecting else { return }
        members[member].phase = .up
        members[member].streams = streams
        members[member].upAt = now
        everUp = true
        opened += 1
        // The successor goes first, for its predecessor stays until it has shown that it is of use.
        if members[current].isLeaving { current = member }
    }

    /// The connection could not take a request: others go first until there is news of it.
    mutating func hold(_ member: Int, until: UInt64) { members[member].heldUntil = until }

    mutating func settings(_ member: Int, streams: Int) { members[member].streams = streams }

    /// The peer said GOAWAY, or the connection's token is refused: nothing new goes to it.
    mutating func retire(_ member: Int) -> [Action] {
        guard members[member].phase == .up || members[member].phase == .connecting else { return [] }
        members[member].phase = .draining
        return [.drain(member: member)]
    }

    /// The credentials were replaced: every connection gets a successor. No more leave than are wanted, so that there is
    /// room for these: of more, those stay that have been of use, and of these the newer ones.
    mutating func renewAll() -> [Action] {
        let open = members.indices.filter { members[$0].phase == .up || members[$0].phase == .connecting }
        let stay = open.sorted { members[$0].worth > members[$1].worth }.prefix(target)
        for index in open { members[index].isLeaving = true }
        // What the old credentials met with says nothing of the new ones.
        failures = 0
        nextOpenAt = 0
        return open.filter { !stay.contains($0) }.flatMap { retire($0) }
    }

    /// APNs said to this member that its credentials are no good.
    ///
    /// - Parameter previous: the credentials before the current ones, if they are still at hand.
    mutating func refused(_ member: Int, previous: Int?) -> Refusal {
        let generation = members[member].generation
        if members[member].isLeaving {
            let alike = members.indices.filter { members[$0].isLeaving && members[$0].generation == generation }
            return .ofLeaving(alike.flatMap { retire($0) })
        }
        guard let previous, previous == provenGeneration, previous < generation,
            members.contains(where: { $0.phase == .up && $0.generation == previous })
        else { return .final }
        return .ofNew(takeBack(to: previous))
    }

    /// What is under way with newer credentials will be refused, too: it counts as leaving.
    private mutating func takeBack(to generation: Int) -> [Action] {
        for index in members.indices where members[index].phase != .free {
            members[index].isLeaving = members[index].generation != generation
        }
        failures = 0
        nextOpenAt = 0
        let newer = members.indices.filter { members[$0].generation > generation }
        return newer.flatMap { retire($0) }
    }

    /// Some connection leaves and can still be used.
    var isChanging: Bool { members.contains { $0.isLeaving && ($0.phase == .up || $0.phase == .connecting) } }

    /// The connection is gone; all its requests have had their outcomes.
    mutating func isDown(_ member: Int, failure: ConnectionFailure, now: UInt64, jitter: Double) -> [Action] {
        // One that was up and closed before it answered anything is no better than one that never came up.
        let wasOfUse = members[member].answers > 0
        members[member] = Member()
        guard !wasOfUse else { return [] }
        if failure.isHopeless && !everUp { return giveUp(failure.text) }
        lastFailure = failure.text
        failures += 1
        nextAddress += 1
        nextOpenAt = now + pause(failures: failures, addresses: failure.addresses, jitter: jitter)
        return []
    }

    /// No pause while there are addresses left to try; then exponential, with jitter from 0.5 to 1 of the full pause.
    private func pause(failures: Int, addresses: Int, jitter: Double) -> UInt64 {
        let rounds = failures / max(1, addresses)
        guard rounds > 0 else { return 0 }
        let full = min(limits.backoffLargest, limits.backoffFirst << UInt64(min(rounds - 1, 20)))
        return UInt64(Double(full) * (0.5 + jitter / 2))
    }

    // MARK: Time

    /// Opens, replaces and grows; call it every few milliseconds and after events.
    ///
    /// - Parameter hasWork: whether rows wait for a connection or for an answer.
    mutating func tick(now: UInt64, answered: UInt64, hasWork: Bool = true) -> [Action] {
        guard !over else { return [] }
        releaseHeld(now: now)
        noteUse(now: now, hasWork: hasWork)
        if now - lastGoodAt > limits.patience {
            let cause = lastFailure.isEmpty ? "" : ": \(lastFailure)"
            return giveUp("no connection for \(limits.patience / 1_000_000_000) seconds\(cause)")
        }
        var actions = replaceOldTokens(now: now) + drainLeaving(now: now, wanted: hasWork ? target : 1)
        grow(now: now, answered: answered, hasWork: hasWork)
        let mayOpen = hasWork || members.contains { $0.phase == .up && $0.isLeaving }
        if mayOpen, let open = openIfDue(now: now, wanted: hasWork ? target : 1) { actions.append(open) }
        return actions
    }

    private mutating func noteUse(now: UInt64, hasWork: Bool) {
        if !hasWork { lastGoodAt = now }
        for member in members where member.isOfUse(now: now, within: limits.patience) {
            lastGoodAt = now
            if !member.isLeaving { failures = 0 }
        }
    }

    private mutating func releaseHeld(now: UInt64) {
        for index in members.indices where members[index].heldUntil != 0 && now >= members[index].heldUntil {
            members[index].heldUntil = 0
        }
    }

    private mutating func replaceOldTokens(now: UInt64) -> [Action] {
        var actions: [Action] = []
        for index in members.indices where members[index].phase == .up {
            if let expiry = members[index].tokenExpiresAt, now >= expiry {
                actions += retire(index)
            }
            if let due = members[index].successorDueAt, now >= due { members[index].isLeaving = true }
        }
        return actions
    }

    /// As many leave as successors have come, once one of these is of use and shows that the new credentials are.
    private mutating func drainLeaving(now: UInt64, wanted: Int) -> [Action] {
        let leaving = members.indices.filter { index in
            members[index].phase == .up && members[index].isLeaving
                && members.contains { $0.canSucceed(members[index], now: now) }
        }
        let successors = members.count { $0.phase == .up && !$0.isLeaving }
        return leaving.prefix(max(0, leaving.count + successors - wanted)).flatMap { retire($0) }
    }

    private mutating func grow(now: UInt64, answered: UInt64, hasWork: Bool) {
        guard hasWork, up == target, target < limits.maximum, !members.contains(where: \.isLeaving) else {
            // Nothing to send, members that come up or change places, nothing to grow to: what is measured now would say
            // nothing.
            growth.restart(now: now, answered: answered)
            return
        }
        switch growth.judge(now: now, answered: answered, limits: limits) {
        case .grow: target = min(limits.maximum, target * 2)
        case .stay: break
        }
    }

    private mutating func openIfDue(now: UInt64, wanted: Int) -> Action? {
        let open = members.count { ($0.phase == .connecting || $0.phase == .up) && !$0.isLeaving }
        // Until the first connection has come up there is nothing to learn from a second attempt beside it.
        let connecting = members.contains { $0.phase == .connecting && !$0.isLeaving }
        guard open < wanted, now >= nextOpenAt, everUp || !connecting else { return nil }
        guard let index = members.firstIndex(where: { $0.phase == .free }) else { return nil }
        members[index] = Member()
        members[index].phase = .connecting
        nextOpenAt = now + limits.openSpacing
        let address = nextAddress
        if everUp { nextAddress += 1 }
        return .open(member: index, address: address)
    }

    private mutating func giveUp(_ text: String) -> [Action] {
        over = true
        return [.giveUp(text)]
    }
}

/// Why a connection ended, as far as the pool cares.
struct ConnectionFailure: Equatable {
    /// Trying again cannot help: a certificate that does not verify, a server that does not speak h2.
    var isHopeless: Bool
    /// Addresses the host has.
    var addresses: Int
    var text: String
}

/// Whether growing helped: the rate of answers before a doubling against the rate after it.
struct Growth: Equatable {
    enum Verdict: Equatable { case grow, stay }

    /// Rows waited and no stream was free, in the interval that runs.
    var starved = false
    private var since: UInt64
    private var answeredThen: UInt64 = 0
    private var rateBefore: Double?
    private var holdUntil: UInt64 = 0
    /// Growths in a row that were of no use.
    private var failures: UInt64 = 0

    init(start: UInt64) { since = start }

    /// Begins a new interval without a judgement.
    mutating func restart(now: UInt64, answered: UInt64) {
        since = now
        answeredThen = answered
        starved = false
    }

    /// At the end of an interval: grow while starved and the last growth was worth it.
    mutating func judge(now: UInt64, answered: UInt64, limits: ConnectionPool.Limits) -> Verdict {
        guard now - since >= limits.measureInterval else { return .stay }
        let rate = Double(answered - answeredThen) / (Double(now - since) / 1e9)
        let starvedThen = starved
        restart(now: now, answered: answered)
        guard starvedThen, answered > 0, now >= holdUntil else { return .stay }
        if let before = rateBefore, rate < before * limits.worthwhileGain {
            holdUntil = now + limits.holdAfterNoGain << min(failures, 10)
            failures += 1
            rateBefore = nil
            return .stay
        }
        if rateBefore != nil { failures = 0 }
        rateBefore = rate
        return .grow
    }
}
