import LaneTransport

/// Decides when a lane's connections for one provider open and close, and which of them takes the next request.
///
/// Pure: events and the time go in, actions come out, and nothing else happens. A member's life:
///
///     open ─▶ connecting ─up─▶ up ─goaway, retire─▶ draining ─down─▶ gone
///                  └────────────── down ────────────────┴──────────▶ gone, and perhaps another open
///
/// One that gives no sign of life, or has had its time after GOAWAY, is closing until it is gone.
///
/// A member whose token grows old, or whose credentials were replaced, is *leaving*: it goes on until a successor is of
/// use, and drains then. So a pool of one connection does not stand still while its credentials change.
///
/// The pool starts with one connection and doubles while that helps: when every stream is taken and rows wait, it opens as
/// many again, spaced, and keeps growing only if the rate of answers rose with it; where it did not rise at all, the pool
/// goes back to what it was.
///
/// While there is nothing to send it opens nothing, except one successor for connections that leave: a server may close
/// idle connections and refuse others for as long as it likes, for nobody waits.
struct ConnectionPool: Equatable {
    var members: [Member]
    let limits: Limits
    /// The member that takes requests until it is full, so that bursts stay together in few records.
    var current = 0
    /// How many members are wanted; grows by doubling.
    var target = 1
    /// What `target` was before it last grew.
    var targetBefore = 1
    /// The places: as many as there may be open members.
    var slots: [Slot]
    var nextOpenAt: UInt64 = 0
    var lastFailure = ""
    var lastFailureIsOwn = false
    /// How long no connection has been of use while there was work, as far as this process was there to see it.
    private(set) var badFor: UInt64 = 0
    /// Whether rows waited for a connection or an answer when the pool last looked.
    private(set) var hasWork = false
    /// When the pool last looked at the time.
    private var lookedAt: UInt64
    /// No connection can be opened before then, and nobody is to blame: a provider token may not be minted yet.
    var excusedUntil: UInt64 = 0
    private(set) var everUp = false
    /// Connections that came up so far.
    private(set) var opened = 0
    /// The newest credentials with which a row was accepted.
    private(set) var provenGeneration: Int?
    var growth: Growth
    /// How many requests may be under way at once.
    var pace: StreamPace
    /// How many streams of one connection are used at once.
    var streamLimit: StreamLimit
    var consumption = Consumption()
    /// The same for the turn that runs: less while the server is sent only so many a second, and in the beginning.
    private var ceiling = Int.max
    private var grantedAt = 0
    private var start = FirstRequests()
    private(set) var inFlight = 0
    /// Those on members that are up; what one that drains has left holds up no other.
    private(set) var inFlightUp = 0
    var watchdog: Watchdog
    /// When a member whose limit fell may be replaced next, and how many were of late.
    var replacesFallenFrom: UInt64 = 0
    var fallenReplaced: UInt64 = 0
    private var over = false
    /// How long no connection may be of use.
    private(set) var patience: UInt64

    init(limits: Limits, now: UInt64) {
        self.limits = limits
        patience = limits.patience
        members = Array(repeating: Member(), count: limits.members)
        slots = Array(repeating: Slot(), count: limits.maximum)
        lookedAt = now
        watchdog = Watchdog(lookedAt: now)
        growth = Growth(start: now)
        pace = StreamPace(start: now)
        streamLimit = StreamLimit(most: limits.streams, start: now)
    }

    // MARK: The way of a row

    /// The member to send to next, or nil while every stream is taken. `willSend` must follow for each request.
    mutating func pick() -> Int? {
        guard inFlightUp < ceiling else {
            pace.isLimiting = ceiling >= pace.allowed
            return nil
        }
        if members[current].isFree { return current }
        return pickAnother()
    }

    /// Whether `pick` would find one.
    var hasStream: Bool {
        inFlightUp < ceiling && (members[current].isFree || members.contains(where: \.isFree))
    }

    /// At the beginning of a turn: how many requests may be sent in it, at most `Int.max`.
    ///
    /// - Parameter answered: answers since the start.
    mutating func allow(_ requests: Int, answered: UInt64) {
        grantedAt = inFlightUp
        ceiling = min(pace.allowed, requests == .max ? .max : inFlightUp + requests)
        guard start.isOn else { return }
        start.note(answered: answered)
        ceiling = min(ceiling, start.allowed)
    }

    /// Of what was allowed in this turn.
    var sentOfAllowance: Int { inFlightUp - grantedAt }

    /// The first requests are still becoming more.
    var isStarting: Bool { start.isOn }

    private mutating func pickAnother() -> Int? {
        for step in 1...members.count {
            let index = (current + step) % members.count
            if members[index].isFree {
                current = index
                return index
            }
        }
        growth.starved = true
        streamLimit.isLimiting = true
        return nil
    }

    /// A request was submitted to this member.
    mutating func willSend(_ member: Int) {
        members[member].inFlight += 1
        inFlight += 1
        inFlightUp += 1
    }

    /// A request of this member has its outcome.
    ///
    /// - Parameters:
    ///   - accepted: answered with 200.
    ///   - latency: microseconds until the answer.
    mutating func didEnd(
        _ member: Int, answered: Bool, accepted: Bool = false, latency: UInt32 = 0, now: UInt64
    ) {
        inFlight -= 1
        let isUp = members[member].didEnd(answered: answered, now: now)
        if isUp { inFlightUp -= 1 }
        guard answered else { return }
        if isUp { pace.note(latency: latency, underWay: inFlightUp + 1) }
        if accepted { provenGeneration = max(provenGeneration ?? 0, members[member].generation) }
    }

    var up: Int { members.count { $0.phase == .up } }

    /// Streams that could be in use at once, over all members.
    var streams: Int { members.reduce(0) { $0 + ($1.phase == .up ? $1.streams : 0) } }

    /// The same and those still in use: on members that drain, and on those whose limit fell meanwhile.
    var streamsShown: Int { members.reduce(0) { $0 + ($1.phase == .up ? max($1.streams, $1.inFlight) : $1.inFlight) } }

    // MARK: Events

    mutating func didOpen(
        _ member: Int, connection: ConnectionID, generation: Int = 0, tokenExpiresAt: UInt64?,
        successorDueAt: UInt64? = nil, racesAt: UInt64? = nil
    ) {
        members[member].connection = connection
        members[member].generation = generation
        members[member].tokenExpiresAt = tokenExpiresAt
        members[member].successorDueAt = successorDueAt
        // A race is one of two: a rival gets none of its own.
        members[member].racesAt = members[member].races ? nil : racesAt
    }

    /// The open could not be begun and is to be tried again, not before then.
    mutating func notOpened(_ member: Int, until: UInt64) {
        if let rival = members[member].rival { members[rival].rival = nil }
        members[member] = Member()
        nextOpenAt = until
    }

    /// As `notOpened`, and not the server's fault.
    mutating func notAllowed(_ member: Int, until: UInt64) {
        notOpened(member, until: until)
        excusedUntil = until
    }

    mutating func isUp(_ member: Int, streams: Int, now: UInt64) {
        guard members[member].phase == .connecting else { return }
        members[member].phase = .up
        members[member].upAt = now
        members[member].life = consumption.life.requests ?? .max
        if !members[member].races { consumption.noteSetup(now - members[member].openedAt) }
        streamLimit.begin(announced: streams)
        settings(member, streams: streams, now: now)
        everUp = true
        opened += 1
        // The successor goes first, for its predecessor stays until it has shown that it is of use.
        if members[current].isLeaving { current = member }
    }

    /// The connection could not take a request: others go first until there is news of it.
    mutating func hold(_ member: Int, until: UInt64) { members[member].heldUntil = until }

    /// The peer said GOAWAY, or the connection's token is refused: nothing new goes to it.
    mutating func retire(_ member: Int) -> [Action] {
        guard members[member].phase == .up || members[member].phase == .connecting else { return [] }
        leave(member, to: .draining)
        return [.drain(member: member)]
    }

    /// It takes no new request.
    mutating func leave(_ member: Int, to phase: Phase) {
        if members[member].phase == .up { inFlightUp -= members[member].inFlight }
        members[member].phase = phase
    }

    // MARK: Time

    /// Opens, replaces and grows; call it every few milliseconds and after events.
    ///
    /// - Parameters:
    ///   - hasWork: whether rows wait for a connection or for an answer.
    ///   - isBusy: the sender itself is at its limit, and would not gain by more connections.
    ///   - othersAnswer: whether other pools of the run have had answers of late: then this one does not give up.
    ///   - hadAnswers: the provider has been of use in this run: what ends that is an outage, and is waited for longer.
    mutating func tick(
        now: UInt64, answered: UInt64, hasWork: Bool = true, isBusy: Bool = false, othersAnswer: Bool = false,
        hadAnswers: Bool = false
    ) -> [Action] {
        guard !over else { return [] }
        self.hasWork = hasWork
        releaseHeld(now: now)
        noteUse(now: now, hasWork: hasWork)
        patience = hadAnswers ? max(limits.patience, limits.outagePatience) : limits.patience
        if badFor > patience, !othersAnswer { return giveUp(impatience()) }
        var actions = watchAnswers(
            now: now, answered: answered, hasWork: hasWork, othersAnswer: othersAnswer, hadAnswers)
        guard !over else { return actions }
        actions += watchMembers(now: now) + race(now: now)
        if hasWork { actions += replaceFallen(now: now) }
        actions += replaceOldTokens(now: now) + drainLeaving(now: now, wanted: hasWork ? target : 1)
        pace.adjust(now: now, streams: streams)
        adjustStreams(now: now, answered: answered)
        if hasWork { succeedInTime(now: now, answered: answered) }
        ceiling = pace.allowed
        actions += resize(now: now, answered: answered, hasWork: hasWork, isBusy: isBusy)
        let mayOpen = hasWork || members.contains { $0.phase == .up && $0.isLeaving }
        while mayOpen, let open = openIfDue(now: now, wanted: hasWork ? target : 1) { actions.append(open) }
        return actions
    }

    private mutating func noteUse(now: UInt64, hasWork: Bool) {
        // Rows that wait for answers on connections that stand are the watchdog's.
        let isAsking = members.contains { $0.phase == .up && $0.inFlight > 0 && now >= $0.upAt + 1_000_000_000 }
        let seen = isAsking ? 0 : Self.seen(from: lookedAt, to: now)
        badFor = hasWork && now >= excusedUntil ? badFor + seen : 0
        lookedAt = now
        for member in members where member.isOfUse(now: now, within: limits.patience) {
            badFor = 0
            if !member.isLeaving, now >= member.upAt + 1_000_000_000 { slots[member.slot].failures = 0 }
        }
    }

    /// How long a look is about: one after a long pause says that this process stood still, and not the server.
    static func seen(from: UInt64, to now: UInt64) -> UInt64 { min(now - from, standstill) }

    /// A longer time between two looks, in nanoseconds, is such a pause.
    static let standstill: UInt64 = 1_000_000_000

    /// Connections that stand and may not be used are no connections that cannot be had.
    private func impatience() -> String {
        if up > 0, streams == 0 {
            return "\(up) connections allow no streams for \(patience / 1_000_000_000) seconds"
        }
        let cause = lastFailure.isEmpty ? "" : ": \(lastFailure)"
        return "no connection for \(patience / 1_000_000_000) seconds\(cause)"
    }

    private mutating func releaseHeld(now: UInt64) {
        for index in members.indices where members[index].heldUntil != 0 && now >= members[index].heldUntil {
            members[index].heldUntil = 0
        }
    }

    mutating func giveUp(_ text: String) -> [Action] {
        over = true
        return [.giveUp(text)]
    }
}
