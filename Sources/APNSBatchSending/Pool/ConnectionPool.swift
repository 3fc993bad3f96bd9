import APNSBatchModel

/// Decides when a lane's connections for one provider open and close, and which of them takes the next request.
///
/// A pure value: its input is events and the time, its output is actions. ``PoolMember`` describes the states of a
/// connection.
///
/// A member whose token grows old, or whose credentials were replaced, is *leaving*: it takes requests until a successor is
/// usable, and is then drained. So a pool of one connection does not stand still while its credentials change.
///
/// The pool starts with one connection and doubles their number as long as that helps: when every stream is in use and rows
/// wait, it opens as many again, with a minimum spacing. It continues to grow only if the rate of answers has risen enough;
/// if the rate has not risen at all, the pool returns to its former size.
///
/// While there is nothing to send the pool opens no connection, except one successor of leaving ones. A server may then
/// close idle connections and refuse new ones for any time, since no row waits.
///
/// Three timers detect silence. A PING detects a dead link. The deadline after GOAWAY ends a connection that is alive but
/// does not answer its requests. The watchdog detects any other cause: if rows wait and no answer comes, it replaces all
/// connections, and ends the run if that does not help.
struct ConnectionPool: Equatable {
    private let limits: Limits
    private(set) var members: PoolMembers
    private(set) var slots: PoolSlots
    private(set) var growth: Growth
    private(set) var consumption = Consumption()
    private(set) var health = PoolHealth()
    private var watchdog: Watchdog
    /// The limits of requests in flight: by the pace, by the streams of one connection, at the start of a run, and the least
    /// of these for the current turn.
    private var pace: StreamPace
    private var streamLimit: StreamLimit
    private var start = FirstRequests()
    private var ceiling = Int.max
    private var grantedAt = 0

    private(set) var lastFailure: ConnectionFailure?
    /// The cause of an earlier failure, where the last one gives none, and whether other pools continue while this one fails.
    private var earlierCause: String?
    private var goesOn = false
    /// How long no connection has been usable while there was work, without the time in which this process did not run; and
    /// the limit of that time. In nanoseconds.
    private var badFor: UInt64 = 0
    private var patience: UInt64
    /// The time of the last tick.
    private var lookedAt: UInt64
    /// Whether rows waited for a connection or an answer at the last tick.
    private(set) var hasWork = false
    private(set) var everUp = false
    /// The number of connections that were established.
    private(set) var opened = 0
    /// The newest generation of credentials with which a row was accepted.
    private(set) var provenGeneration: Int?
    /// The time from which on a member whose stream limit fell may be replaced, and the number of recent replacements of
    /// this kind.
    private var replacesFallenFrom: UInt64 = 0
    private var fallenReplaced: UInt64 = 0
    private var isOver = false

    /// - Parameter target: The number of connections at the start.
    init(limits: Limits, target: Int = 1, now: UInt64) {
        self.limits = limits
        patience = limits.patience
        members = PoolMembers(count: limits.members)
        slots = PoolSlots(count: limits.maximum)
        lookedAt = now
        watchdog = Watchdog(now: now)
        growth = Growth(target: target, start: now)
        pace = StreamPace(start: now)
        streamLimit = StreamLimit(most: limits.streams, start: now)
    }

    var up: Int { members.up }
    var inFlight: Int { members.inFlight }

    // MARK: The way of a row

    /// Returns the member for the next request, or nil while every stream is in use. The caller must call `willSend` for
    /// each request.
    mutating func pick() -> Int? {
        guard members.inFlightUp < ceiling else {
            pace.isLimiting = ceiling >= pace.allowed
            return nil
        }
        if let member = members.pick() { return member }
        growth.starved = true
        streamLimit.isLimiting = true
        return nil
    }

    /// Whether `pick` would return a member.
    var hasStream: Bool { members.inFlightUp < ceiling && members.hasStream }

    /// Why `pick` returns nil.
    enum Shortage: Equatable {
        /// Every stream is in use.
        case streams
        /// Streams are free, and not to be used while answers are late, or at the start of a run.
        case answers
        /// Streams are free, and their connections take no request; or none is established.
        case connections
    }

    /// Nil if `pick` would return a member.
    var shortage: Shortage? {
        if hasStream { return nil }
        if up == 0 { return .connections }
        if members.inFlightUp >= members.streams { return .streams }
        return members.inFlightUp >= ceiling ? .answers : .connections
    }

    /// Sets the limit of requests for a turn, at its beginning.
    ///
    /// - Parameters:
    ///   - requests: The number of requests that may be sent in the turn; `Int.max` for no limit.
    ///   - answered: The number of answers since the start.
    mutating func allow(_ requests: Int, answered: UInt64) {
        grantedAt = members.inFlightUp
        ceiling = min(pace.allowed, requests == .max ? .max : grantedAt + requests)
        guard start.isOn else { return }
        start.note(answered: answered)
        ceiling = min(ceiling, start.allowed)
    }

    /// The number of requests sent in this turn.
    var sentOfAllowance: Int { members.inFlightUp - grantedAt }

    /// Whether the number of requests in flight still rises at the start of a run.
    var isStarting: Bool { start.isOn }

    /// Notes that a request was submitted to this member.
    mutating func willSend(_ member: Int) { members.willSend(member) }

    /// Notes that a request of this member has its outcome.
    ///
    /// - Parameters:
    ///   - accepted: Whether it was answered with 200.
    ///   - latency: The time until the answer, in microseconds.
    mutating func didEnd(
        _ member: Int, answered: Bool, accepted: Bool = false, latency: UInt32 = 0, now: UInt64
    ) {
        let isUp = members.didEnd(member, answered: answered, latency: latency, now: now)
        guard answered else { return }
        if isUp { pace.note(latency: latency, inFlight: members.inFlightUp + 1) }
        if accepted { provenGeneration = max(provenGeneration ?? 0, members[member].generation) }
    }

    /// Notes that the last answer of this member, whose end is noted, was 429 or 5xx. Returns what is to blame for it, and what
    /// follows.
    mutating func noteTrouble(
        _ member: Int, isFirst: Bool, _ evidence: ConnectionHealth.Evidence = .usual, _ view: PoolHealth.View = .init(),
        now: UInt64
    ) -> (PoolHealth.Blame, [Action]) {
        health.noteTrouble(member, isFirst: isFirst, evidence, view, in: &members, now: now, limits)
    }

    /// The time of the last answer of a connection that serves; 0 if none does.
    func servedAt(now: UInt64) -> UInt64 { PoolHealth.servedAt(members, now: now) }

    // MARK: Events

    mutating func didOpen(
        _ member: Int, generation: Int = 0, tokenExpiresAt: UInt64? = nil, successorDueAt: UInt64? = nil,
        racesAt: UInt64? = nil
    ) {
        // Once connections come up, one rival is enough.
        let mayRace = !everUp || members[member].connecting?.isRival == false
        members.update(member) {
            $0.didOpen(
                generation: generation, tokenExpiresAt: tokenExpiresAt, successorDueAt: successorDueAt,
                racesAt: mayRace ? racesAt : nil)
        }
    }

    /// Notes that a connection could not be opened, and is to be opened again at `until` or later.
    mutating func notOpened(_ member: Int, until: UInt64) {
        _ = members.remove(member)
        slots.space(until: until)
    }

    /// Like `notOpened`, for a reason that is not the server's.
    mutating func notAllowed(_ member: Int, until: UInt64) {
        _ = members.remove(member)
        slots.excuse(until: until)
    }

    mutating func isUp(_ member: Int, streams: Int, now: UInt64) {
        guard members[member].isConnecting else { return }
        // The setup time of a rival is not representative.
        if let its = members[member].connecting, !its.isRival { consumption.noteSetup(now - its.openedAt) }
        members.comeUp(member, now: now)
        let life = consumption.life.requests ?? .max
        members.update(member) { $0.life = life }
        streamLimit.begin(announced: streams)
        settings(member, streams: streams, now: now)
        everUp = true
        opened += 1
        earlierCause = nil
    }

    /// Notes that the peer changed SETTINGS_MAX_CONCURRENT_STREAMS.
    mutating func settings(_ member: Int, streams: Int, now: UInt64) {
        let allowed = streamLimit.allowed
        members.update(member) { $0.announce(streams, allowed: allowed, now: now) }
    }

    /// Notes that the connection could not take a request. It gets no further one before `until`.
    mutating func hold(_ member: Int, until: UInt64) { members.update(member) { $0.hold(until: until) } }

    /// Notes that a PING was answered.
    mutating func ponged(_ member: Int, now: UInt64) { members.update(member) { $0.ponged(now: now) } }

    /// Notes that this process did not run for `gap` nanoseconds until now.
    mutating func stoodStill(for gap: UInt64, now: UInt64) {
        let limits = limits
        members.updateAll { $0.stoodStill(for: gap, now: now, limits) }
    }

    /// Sends no new request to a member, since its token was refused or it is too slow.
    mutating func retire(_ member: Int) -> [Action] { members.retire(member) }

    /// Notes a GOAWAY: the member gets no new request, and its answers are awaited for the GOAWAY patience.
    ///
    /// - Parameters:
    ///   - code: The error code (RFC 9113, section 7).
    ///   - lastStream: The last stream that the peer processes; the largest number if it is not known yet.
    mutating func goaway(_ member: Int, code: UInt32 = 2, lastStream: UInt32 = .max, now: UInt64) -> [Action] {
        if members[member].isUp {
            let open = members[member].inFlight
            let used = members[member].answers + open
            if code == 0 { servedOut(member, served: min(used, Int(lastStream / 2) + 1)) }
            if code == Self.enhanceYourCalm {
                let (inFlight, answered) = (members.inFlight, watchdog.answered)
                changeStreams { $0.wasClosed(open: open, inFlight: inFlight, answered: answered, now: now) }
            }
        }
        return members.retire(member, closesAt: now + limits.goawayPatience)
    }

    /// Notes that a connection ended with GOAWAY and without an error. It may get a successor without spacing.
    ///
    /// - Parameter served: The number of requests that the server processed.
    private mutating func servedOut(_ member: Int, served: Int) {
        consumption.ended(served: served)
        refreshLives()
        guard served >= Consumption.servedWell, members[member].isOpen else { return }
        consumption.earnSuccessor(most: growth.target)
    }

    private mutating func refreshLives() {
        let life = consumption.life.requests ?? .max
        members.updateAll { $0.life = life }
    }

    private static let refusedStream: Int64 = 7
    private static let enhanceYourCalm: UInt32 = 11

    /// Notes that a stream of this member was reset, after its outcome.
    ///
    /// - Parameter answered: The number of answers so far, over all members.
    mutating func wasReset(_ member: Int, code: Int64, answered: UInt64, now: UInt64) {
        guard code == Self.refusedStream || code == Self.enhanceYourCalm else { return }
        let open = members[member].inFlight + 1
        let inFlight = members.inFlight
        changeStreams { $0.wasReset(open: open, inFlight: inFlight, answered: answered, now: now) }
    }

    /// Changes the number of streams that are used on one connection.
    private mutating func changeStreams(_ change: (inout StreamLimit) -> Void) {
        let before = streamLimit.allowed
        change(&streamLimit)
        let allowed = streamLimit.allowed
        assert(allowed >= 1 && allowed <= limits.streams, "a connection uses no more streams than are allowed")
        if allowed != before { members.updateAll { $0.allow(allowed) } }
    }

    /// Notes that the connection was closed, after the outcomes of all its requests.
    mutating func isDown(_ member: Int, failure: ConnectionFailure, now: UInt64, jitter: Double) -> [Action] {
        let gone = members.remove(member)
        guard gone.wasOfNoUse(now: now) else { return [] }
        if let last = lastFailure, !gone.cameUp, failure.saysNothing, !last.saysNothing { earlierCause = last.text }
        if !failure.saysNothing { earlierCause = nil }
        lastFailure = failure
        consumption.forgetSuccessors()
        // Rows get through, even if only a few at a time.
        let longest = gone.answers > 0 ? limits.backoffFleeting : limits.backoffLargest
        let failures = slots.failed(
            gone.slot, addresses: failure.addresses, longest: longest, now: now, jitter: jitter, limits)
        let isHopeless =
            failure.isHopeless && !everUp && !members.isTaken(slot: gone.slot) && failures >= failure.addresses
        return isHopeless ? giveUp(failure.text) : []
    }

    // MARK: Credentials

    /// Gives every connection a successor, after the credentials were replaced.
    mutating func renewAll() -> [Action] {
        // Failures with the old credentials do not apply to the new ones.
        slots.forget()
        return members.renewAll(wanted: growth.target)
    }

    /// Notes that APNs refused the credentials of this member.
    ///
    /// - Parameter previous: The generation of the credentials before the current ones, if they are still available.
    mutating func refused(_ member: Int, previous: Int?) -> Refusal {
        let generation = members[member].generation
        if members[member].isLeaving {
            return .ofLeaving(members.retire { $0.isLeaving && $0.generation == generation })
        }
        guard let previous, previous == provenGeneration, previous < generation,
            members.contains(where: { $0.isUp && $0.generation == previous })
        else { return .final }
        slots.forget()
        return .ofNew(members.takeBack(to: previous))
    }

    // MARK: Time

    /// Opens and replaces connections, and adapts their number. Call it every few milliseconds and after events.
    ///
    /// - Parameters:
    ///   - hasWork: Whether rows wait for a connection or for an answer.
    ///   - isBusy: Whether the sender itself is at its limit, so that more connections would not help.
    ///   - othersAnswer: Whether other pools of the run had answers recently; then this one does not give up.
    ///   - hadAnswers: Whether the provider has answered in this run; then a lack of answers is an outage, with a longer
    ///     patience.
    ///   - view: What is known of the provider beyond this pool.
    mutating func tick(
        now: UInt64, answered: UInt64, hasWork: Bool = true, isBusy: Bool = false, othersAnswer: Bool = false,
        hadAnswers: Bool = false, view: PoolHealth.View = .init()
    ) -> [Action] {
        guard !isOver else { return [] }
        self.hasWork = hasWork
        goesOn = othersAnswer
        members.updateAll {
            $0.releaseHold(now: now)
            $0.lookForGoodAnswer()
        }
        noteUse(now: now)
        patience = hadAnswers ? max(limits.patience, limits.outagePatience) : limits.patience
        if badFor > patience, !othersAnswer { return giveUp(impatience) }
        var actions = watchAnswers(now: now, answered: answered, goesOn: othersAnswer, hadAnswers: hadAnswers)
        guard !isOver else { return actions }
        let wanted = hasWork ? growth.target : 1
        actions += health.look(view, in: &members, now: now, limits)
        actions += members.watch(now: now, limits) + members.race(now: now)
        if hasWork { actions += replaceFallen(now: now) }
        actions += members.replaceOldTokens(now: now) + members.drainLeaving(now: now, wanted: wanted)
        if let time = pace.adjust(now: now, streams: members.streams) { growth.answersTake(time) }
        let inFlight = members.inFlight
        changeStreams { $0.adjust(now: now, inFlight: inFlight, answered: answered) }
        if hasWork { succeedInTime(now: now, answered: answered) }
        ceiling = pace.allowed
        actions += resize(now: now, isBusy: isBusy)
        assert(growth.target >= 1 && growth.target <= limits.maximum, "each connection of the target has a slot")
        #if DEBUG
            members.checkSums()
        #endif
        return actions + open(now: now, wanted: hasWork ? growth.target : 1)
    }

    private mutating func noteUse(now: UInt64) {
        // While rows wait for answers on established connections, the watchdog counts the time.
        let isAsking = members.contains { $0.inFlight > 0 && $0.hasStood(now: now) }
        let seen = isAsking ? 0 : Self.seen(from: lookedAt, to: now)
        badFor = hasWork && now >= slots.excusedUntil ? badFor + seen : 0
        lookedAt = now
        for index in members.indices where members[index].isOfUse(now: now, within: limits.patience) {
            badFor = 0
            let member = members[index]
            if !member.isLeaving, member.hasStood(now: now) { slots.succeeded(member.slot) }
        }
    }

    /// Returns the time since the last call, limited to `standstill`: a longer time means that this process did not run.
    static func seen(from: UInt64, to now: UInt64) -> UInt64 { min(now - from, standstill) }

    /// The longest time between two calls that is counted, in nanoseconds.
    static let standstill: UInt64 = 1_000_000_000

    /// Replaces every connection, repeatedly, while rows wait and no answer comes, and gives up in the end.
    private mutating func watchAnswers(
        now: UInt64, answered: UInt64, goesOn: Bool, hadAnswers: Bool
    ) -> [Action] {
        let most = 2 * limits.answerPatience
        let verdict = watchdog.look(
            now: now, answered: answered, isWaiting: inFlight > 0 || hasWork && growth.starved && up > 0,
            patience: limits.answerPatience, most: hadAnswers ? max(most, limits.outagePatience) : most, goesOn: goesOn)
        switch verdict {
        case .fine: return []
        case .replace:
            return members.indices.filter { members[$0].isUp }.flatMap { goaway($0, now: now) }
        case .giveUp:
            return giveUp(
                "no answer for \(watchdog.waited / 1_000_000_000) seconds, \(inFlight) requests in flight"
                    + " on \(up) connection\(up == 1 ? "" : "s")\(lastFailure.map { "; the last failure: \($0.text)" } ?? "")"
            )
        }
    }

    /// Replaces a connection whose stream limit fell to nearly nothing, as one bad request can cause permanently. If the
    /// server does so repeatedly, the replacements become ever less frequent.
    private mutating func replaceFallen(now: UInt64) -> [Action] {
        guard now >= replacesFallenFrom,
            let index = members.indices.first(where: { index in
                let time = members[index].up?.fallenAt ?? .max
                return !members[index].isLeaving && now >= time && now - time >= limits.fallenPatience
            })
        else { return [] }
        members.update(index) { $0.isLeaving = true }
        let isRare = now >= replacesFallenFrom + 10 * limits.backoffLargest
        fallenReplaced = isRare ? 0 : min(fallenReplaced + 1, 20)
        replacesFallenFrom = now + min(limits.backoffLargest, limits.backoffFirst << fallenReplaced)
        // A connection without any stream is drained at once, since its slot may be the only one.
        return members[index].streams == 0 && members[index].inFlight == 0 ? retire(index) : []
    }

    /// Marks members that will soon have served as many requests as the server allows, so that their slots are free for
    /// successors.
    private mutating func succeedInTime(now: UInt64, answered: UInt64) {
        consumption.look(now: now, answered: answered)
        // A connection that has served its life and continues shows that the life is not known.
        if members.contains(where: { $0.hasOutlived(now: now) }) {
            consumption.outlived()
            refreshLives()
        }
        guard let life = consumption.life.requests, life >= Consumption.servedWell else { return }
        var remaining = members.indices.reduce(0) { $0 + members[$1].requestsRemaining(life) }
        while remaining < consumption.need {
            let open = members.indices.filter { members[$0].isUp && members[$0].isOpen }
            guard let next = open.min(by: { members[$0].requestsRemaining(life) < members[$1].requestsRemaining(life) })
            else { return }
            members.update(next) { $0.willEnd() }
            consumption.earnSuccessor(most: growth.target)
            remaining += life
        }
    }

    /// Changes the number of connections, if it should be another.
    private mutating func resize(now: UInt64, isBusy: Bool) -> [Action] {
        if isBusy { growth.didFill() }
        let isLimitedByStreams = pace.allowed >= members.streams && (!start.isOn || start.allowed >= members.streams)
        let verdict = growth.judge(
            now: now, pace.sum, streams: members.streams,
            isSettled: hasWork && isLimitedByStreams
                && members.areSettled(growth.target, now: now, patience: limits.hangsAfter), mayGrow: !isBusy, limits)
        guard verdict == .shrink else { return [] }
        pace.expectFewer()
        let surplus = members.indices.filter { members[$0].isOpen && members[$0].slot >= growth.target }
        return surplus.flatMap { members.retire($0, isSurplus: true) }
    }

    private mutating func open(now: UInt64, wanted: Int) -> [Action] {
        guard hasWork || members.contains(where: { $0.isUp && $0.isLeaving }) else { return [] }
        var actions: [Action] = []
        while let open = openIfDue(now: now, wanted: wanted) { actions.append(open) }
        return actions
    }

    private mutating func openIfDue(now: UInt64, wanted: Int) -> Action? {
        let isSuccessor = consumption.successors > 0
        guard isSuccessor || !slots.isSpaced(now: now) else { return nil }
        let open = members.open
        guard open < wanted else {
            consumption.forgetSuccessors()
            health.didFill()
            return nil
        }
        // Before the first connection is established, a second slot would show nothing new: other addresses race in the first.
        guard everUp || open == 0,
            let slot = slots.vacant(of: growth.target, now: now, isTaken: members.isTaken),
            let index = members.open(slot: slot, isSuccessor: isSuccessor, isFresh: health.inVain > 0, now: now)
        else { return nil }
        health.didOpen()
        if isSuccessor { consumption.useSuccessor() } else { slots.space(until: now + limits.openSpacing) }
        return .open(member: index)
    }

    private mutating func giveUp(_ text: String) -> [Action] {
        isOver = true
        return [.giveUp(text)]
    }

    // MARK: Why rows wait

    /// The message when the pool gives up. Connections that allow no streams are not reported as failed connections.
    private var impatience: String {
        if up > 0, members.streams == 0 {
            return
                "\(up) connection\(up == 1 ? " has" : "s have") allowed no streams for \(patience / 1_000_000_000) seconds"
        }
        return
            "no connection for \(patience / 1_000_000_000) seconds\(lastFailure.map { ": \($0.text)" } ?? "")\(earlier)"
    }

    private var earlier: String { earlierCause.map { "; earlier: \($0)" } ?? "" }

    /// Why rows wait, as far as connections are the cause; nil while one of them is usable, or the first one has just been
    /// started.
    func waiting(now: UInt64) -> CampaignProgress.Waiting? {
        guard hasWork, !isOver else { return nil }
        let remaining = goesOn ? .max : badFor < patience ? Int((patience - badFor + 999_999_999) / 1_000_000_000) : 0
        if up == 0, slots.haveFailures, let failure = lastFailure {
            // Of such a failure nothing is awaited: only the other addresses are still tried.
            let isFinal = failure.isHopeless && !everUp
            return .unreachable(cause: failure.text + earlier, secondsLeft: isFinal ? 0 : remaining)
        }
        if up == 0 {
            guard let since = members.opening.flatMap({ members[$0].connecting?.openedAt }),
                now - since >= Self.sayAfter
            else { return nil }
            return .connecting(stage: "a connection", seconds: Int((now - since) / 1_000_000_000))
        }
        if members.streams == 0 { return badFor < Self.sayAfter ? nil : .noStreams(secondsLeft: remaining) }
        return watchdog.waited < Self.sayAfter ? nil : .noAnswer(seconds: Int(watchdog.waited / 1_000_000_000))
    }

    /// The duration from which on waiting is reported, in nanoseconds.
    private static let sayAfter: UInt64 = 3_000_000_000
}
