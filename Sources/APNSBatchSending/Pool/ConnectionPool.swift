import APNSBatchModel

/// Decides when a lane's connections for one provider open and close, and which of them takes the next request.
///
/// Pure: events and the time go in, actions come out, and nothing else happens. ``PoolMember`` draws a connection's life.
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
///
/// Three clocks watch for silence, each for what the one before cannot see. A PING finds a link that is dead without a word.
/// The deadline after GOAWAY ends a connection that lives and does not answer what it has. The watchdog looks at the answers
/// themselves: whatever the cause, rows that wait and get none have all their connections replaced, and end the run if that
/// helps nothing.
struct ConnectionPool: Equatable {
    private let limits: Limits
    private(set) var members: PoolMembers
    private(set) var places: Places
    private(set) var growth: Growth
    private(set) var consumption = Consumption()
    private var watchdog: Watchdog
    /// How many requests may be under way at once: by the pace, by the streams of one connection, while the run begins, and
    /// by all of these in the turn that runs.
    private var pace: StreamPace
    private var streamLimit: StreamLimit
    private var start = FirstRequests()
    private var ceiling = Int.max
    private var grantedAt = 0

    private(set) var lastFailure: ConnectionFailure?
    /// How long no connection has been of use while there was work, as far as this process was there to see it; and how long
    /// that may be.
    private var badFor: UInt64 = 0
    private var patience: UInt64
    /// When the pool last looked at the time.
    private var lookedAt: UInt64
    /// Whether rows waited for a connection or an answer when the pool last looked.
    private(set) var hasWork = false
    private(set) var everUp = false
    /// Connections that came up so far.
    private(set) var opened = 0
    /// The newest credentials with which a row was accepted.
    private(set) var provenGeneration: Int?
    /// When a member whose limit fell may be replaced next, and how many were of late.
    private var replacesFallenFrom: UInt64 = 0
    private var fallenReplaced: UInt64 = 0
    private var isOver = false

    /// - Parameter target: connections that are wanted at first.
    init(limits: Limits, target: Int = 1, now: UInt64) {
        self.limits = limits
        patience = limits.patience
        members = PoolMembers(count: limits.members)
        places = Places(count: limits.maximum)
        lookedAt = now
        watchdog = Watchdog(now: now)
        growth = Growth(target: target, start: now)
        pace = StreamPace(start: now)
        streamLimit = StreamLimit(most: limits.streams, start: now)
    }

    var up: Int { members.up }
    var inFlight: Int { members.inFlight }

    // MARK: The way of a row

    /// The member to send to next, or nil while every stream is taken. `willSend` must follow for each request.
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

    /// Whether `pick` would find one.
    var hasStream: Bool { members.inFlightUp < ceiling && members.hasStream }

    /// At the beginning of a turn: how many requests may be sent in it, at most `Int.max`.
    ///
    /// - Parameter answered: answers since the start.
    mutating func allow(_ requests: Int, answered: UInt64) {
        grantedAt = members.inFlightUp
        ceiling = min(pace.allowed, requests == .max ? .max : grantedAt + requests)
        guard start.isOn else { return }
        start.note(answered: answered)
        ceiling = min(ceiling, start.allowed)
    }

    /// Of what was allowed in this turn.
    var sentOfAllowance: Int { members.inFlightUp - grantedAt }

    /// The first requests are still becoming more.
    var isStarting: Bool { start.isOn }

    /// A request was submitted to this member.
    mutating func willSend(_ member: Int) { members.willSend(member) }

    /// A request of this member has its outcome.
    ///
    /// - Parameters:
    ///   - accepted: answered with 200.
    ///   - latency: microseconds until the answer.
    mutating func didEnd(
        _ member: Int, answered: Bool, accepted: Bool = false, latency: UInt32 = 0, now: UInt64
    ) {
        let isUp = members.didEnd(member, answered: answered, now: now)
        guard answered else { return }
        if isUp { pace.note(latency: latency, underWay: members.inFlightUp + 1) }
        if accepted { provenGeneration = max(provenGeneration ?? 0, members[member].generation) }
    }

    // MARK: Events

    mutating func didOpen(
        _ member: Int, generation: Int = 0, tokenExpiresAt: UInt64? = nil, successorDueAt: UInt64? = nil,
        racesAt: UInt64? = nil
    ) {
        members.update(member) {
            $0.didOpen(
                generation: generation, tokenExpiresAt: tokenExpiresAt, successorDueAt: successorDueAt,
                racesAt: racesAt)
        }
    }

    /// The open could not be begun and is to be tried again, not before then.
    mutating func notOpened(_ member: Int, until: UInt64) {
        _ = members.remove(member)
        places.space(until: until)
    }

    /// As `notOpened`, and not the server's fault.
    mutating func notAllowed(_ member: Int, until: UInt64) {
        _ = members.remove(member)
        places.excuse(until: until)
    }

    mutating func isUp(_ member: Int, streams: Int, now: UInt64) {
        guard members[member].isConnecting else { return }
        // A rival's time says little.
        if let its = members[member].connecting, !its.isRival { consumption.noteSetup(now - its.openedAt) }
        members.comeUp(member, now: now)
        let life = consumption.life.requests ?? .max
        members.update(member) { $0.life = life }
        streamLimit.begin(announced: streams)
        settings(member, streams: streams, now: now)
        everUp = true
        opened += 1
    }

    /// The peer changed MAX_CONCURRENT_STREAMS.
    mutating func settings(_ member: Int, streams: Int, now: UInt64) {
        let allowed = streamLimit.allowed
        members.update(member) { $0.announce(streams, allowed: allowed, now: now) }
    }

    /// The connection could not take a request: others go first until there is news of it.
    mutating func hold(_ member: Int, until: UInt64) { members.update(member) { $0.hold(until: until) } }

    /// A PING was answered.
    mutating func ponged(_ member: Int, now: UInt64) { members.update(member) { $0.ponged(now: now) } }

    /// This process stood still for so long until now.
    mutating func stoodStill(for gap: UInt64, now: UInt64) {
        let limits = limits
        members.updateAll { $0.stoodStill(for: gap, now: now, limits) }
    }

    /// The connection's token is refused, or it is too slow: nothing new goes to it.
    mutating func retire(_ member: Int) -> [Action] { members.retire(member) }

    /// The peer said GOAWAY: nothing new goes to it, and its answers are awaited for so long.
    ///
    /// - Parameters:
    ///   - code: of RFC 9113, section 7.
    ///   - lastStream: the last one that the peer takes; the highest number while it does not say.
    mutating func goaway(_ member: Int, code: UInt32 = 2, lastStream: UInt32 = .max, now: UInt64) -> [Action] {
        if members[member].isUp {
            let open = members[member].inFlight
            let used = members[member].answers + open
            if code == 0 { servedOut(member, served: min(used, Int(lastStream / 2) + 1)) }
            if code == Self.enhanceYourCalm {
                let (underWay, answered) = (inFlight, watchdog.answered)
                changeStreams { $0.wasClosed(open: open, underWay: underWay, answered: answered, now: now) }
            }
        }
        return members.retire(member, closesAt: now + limits.goawayPatience)
    }

    /// A connection that ended with GOAWAY and without an error: it may get a successor at once.
    ///
    /// - Parameter served: requests that the server took.
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

    /// A stream of this member was reset, and its outcome is known.
    ///
    /// - Parameter answered: answers so far, over all members.
    mutating func wasReset(_ member: Int, code: Int64, answered: UInt64, now: UInt64) {
        guard code == Self.refusedStream || code == Self.enhanceYourCalm else { return }
        let open = members[member].inFlight + 1
        let underWay = inFlight
        changeStreams { $0.wasReset(open: open, underWay: underWay, answered: answered, now: now) }
    }

    /// Changes how many streams of one connection are used.
    private mutating func changeStreams(_ change: (inout StreamLimit) -> Void) {
        let before = streamLimit.allowed
        change(&streamLimit)
        let allowed = streamLimit.allowed
        if allowed != before { members.updateAll { $0.allow(allowed) } }
    }

    /// The connection is gone; all its requests have had their outcomes.
    mutating func isDown(_ member: Int, failure: ConnectionFailure, now: UInt64, jitter: Double) -> [Action] {
        let gone = members.remove(member)
        guard gone.wasOfNoUse(now: now) else { return [] }
        lastFailure = failure
        consumption.forgetSuccessors()
        // Rows go through, if only a few at a time.
        let longest = gone.answers > 0 ? limits.backoffFleeting : limits.backoffLargest
        let failures = places.failed(
            gone.slot, addresses: failure.addresses, longest: longest, now: now, jitter: jitter, limits)
        let isHopeless = failure.isHopeless && !everUp && gone.rival == nil && failures >= failure.addresses
        return isHopeless ? giveUp(failure.text) : []
    }

    // MARK: Credentials

    /// The credentials were replaced: every connection gets a successor.
    mutating func renewAll() -> [Action] {
        // What the old credentials met with says nothing of the new ones.
        places.forget()
        return members.renewAll(wanted: growth.target)
    }

    /// APNs said to this member that its credentials are no good.
    ///
    /// - Parameter previous: the credentials before the current ones, if they are still at hand.
    mutating func refused(_ member: Int, previous: Int?) -> Refusal {
        let generation = members[member].generation
        if members[member].isLeaving {
            return .ofLeaving(members.retire { $0.isLeaving && $0.generation == generation })
        }
        guard let previous, previous == provenGeneration, previous < generation,
            members.contains(where: { $0.isUp && $0.generation == previous })
        else { return .final }
        places.forget()
        return .ofNew(members.takeBack(to: previous))
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
        guard !isOver else { return [] }
        self.hasWork = hasWork
        members.updateAll { $0.releaseHold(now: now) }
        noteUse(now: now)
        patience = hadAnswers ? max(limits.patience, limits.outagePatience) : limits.patience
        if badFor > patience, !othersAnswer { return giveUp(impatience) }
        var actions = watchAnswers(now: now, answered: answered, goesOn: othersAnswer, hadAnswers: hadAnswers)
        guard !isOver else { return actions }
        let wanted = hasWork ? growth.target : 1
        actions += members.watch(now: now, limits) + members.race(now: now)
        if hasWork { actions += replaceFallen(now: now) }
        actions += members.replaceOldTokens(now: now) + members.drainLeaving(now: now, wanted: wanted)
        pace.adjust(now: now, streams: members.streams)
        let underWay = inFlight
        changeStreams { $0.adjust(now: now, underWay: underWay, answered: answered) }
        if hasWork { succeedInTime(now: now, answered: answered) }
        ceiling = pace.allowed
        actions += resize(now: now, answered: answered, isBusy: isBusy)
        return actions + open(now: now, wanted: hasWork ? growth.target : 1)
    }

    private mutating func noteUse(now: UInt64) {
        // Rows that wait for answers on connections that stand are the watchdog's.
        let isAsking = members.contains { $0.inFlight > 0 && $0.hasStood(now: now) }
        let seen = isAsking ? 0 : Self.seen(from: lookedAt, to: now)
        badFor = hasWork && now >= places.excusedUntil ? badFor + seen : 0
        lookedAt = now
        for index in members.indices where members[index].isOfUse(now: now, within: limits.patience) {
            badFor = 0
            let member = members[index]
            if !member.isLeaving, member.hasStood(now: now) { places.succeeded(member.slot) }
        }
    }

    /// How long a look is about: one after a long pause says that this process stood still, and not the server.
    static func seen(from: UInt64, to now: UInt64) -> UInt64 { min(now - from, standstill) }

    /// A longer time between two looks, in nanoseconds, is such a pause.
    static let standstill: UInt64 = 1_000_000_000

    /// Rows wait and no answer comes: after a while every connection is replaced, again and again, and in the end the pool
    /// gives up.
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

    /// One bad request may bring a connection's limit to 1 for good: it gets a successor. A server that does so again and
    /// again gets them ever more slowly.
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
        // One without any stream serves nobody meanwhile, and its slot may be all that there is.
        return members[index].streams == 0 && members[index].inFlight == 0 ? retire(index) : []
    }

    /// Marks members that will be used up soon, so that their slots are free for successors.
    private mutating func succeedInTime(now: UInt64, answered: UInt64) {
        consumption.look(now: now, answered: answered)
        // Where a connection has served its life and goes on, lives are not known any more.
        if members.contains(where: { $0.hasOutlived(now: now) }) {
            consumption.outlived()
            refreshLives()
        }
        guard let life = consumption.life.requests, life >= Consumption.servedWell else { return }
        var left = members.indices.reduce(0) { $0 + members[$1].requestsLeft(life) }
        while left < consumption.need {
            let open = members.indices.filter { members[$0].isUp && members[$0].isOpen }
            guard let next = open.min(by: { members[$0].requestsLeft(life) < members[$1].requestsLeft(life) })
            else { return }
            members.update(next) { $0.willEnd() }
            consumption.earnSuccessor(most: growth.target)
            left += life
        }
    }

    /// Grows, or goes back to the size before the last growth.
    private mutating func resize(now: UInt64, answered: UInt64, isBusy: Bool) -> [Action] {
        if isBusy {
            growth.didFill(now: now, answered: answered)
            return []
        }
        let isSettled = members.settled >= growth.target && !members.contains(where: \.isLeaving)
        guard hasWork, isSettled, growth.target < limits.maximum || growth.isOnTrial else {
            // Nothing to send, members that come up or change places, nothing to grow to: what is measured now would say
            // nothing.
            growth.restart(now: now, answered: answered)
            return []
        }
        guard growth.judge(now: now, answered: answered, limits) == .shrink else { return [] }
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
        guard isSuccessor || !places.isSpaced(now: now) else { return nil }
        let open = members.open
        guard open < wanted else {
            consumption.forgetSuccessors()
            return nil
        }
        // Until the first connection has come up there is nothing to learn from a second attempt beside it.
        guard everUp || open == 0,
            let slot = places.vacant(of: growth.target, now: now, isTaken: members.isTaken),
            let index = members.open(slot: slot, isSuccessor: isSuccessor, now: now)
        else { return nil }
        if isSuccessor { consumption.useSuccessor() } else { places.space(until: now + limits.openSpacing) }
        return .open(member: index)
    }

    private mutating func giveUp(_ text: String) -> [Action] {
        isOver = true
        return [.giveUp(text)]
    }

    // MARK: Why rows wait

    /// Connections that stand and may not be used are no connections that cannot be had.
    private var impatience: String {
        if up > 0, members.streams == 0 {
            return
                "\(up) connection\(up == 1 ? " has" : "s have") allowed no streams for \(patience / 1_000_000_000) seconds"
        }
        return "no connection for \(patience / 1_000_000_000) seconds\(lastFailure.map { ": \($0.text)" } ?? "")"
    }

    /// Why rows wait, as far as connections are to blame; nil while one of them serves, or a first one is just coming up.
    func waiting(now: UInt64) -> CampaignProgress.Waiting? {
        guard hasWork else { return nil }
        let left = badFor < patience ? Int((patience - badFor + 999_999_999) / 1_000_000_000) : 0
        if up == 0, places.haveFailures { return .unreachable(cause: lastFailure?.text ?? "", secondsLeft: left) }
        if up == 0 {
            guard let since = members.opening.flatMap({ members[$0].connecting?.openedAt }),
                now - since >= Self.sayAfter
            else { return nil }
            return .connecting(stage: "a connection", seconds: Int((now - since) / 1_000_000_000))
        }
        if members.streams == 0 { return badFor < Self.sayAfter ? nil : .noStreams(secondsLeft: left) }
        return watchdog.waited < Self.sayAfter ? nil : .noAnswer(seconds: Int(watchdog.waited / 1_000_000_000))
    }

    /// What takes less is nothing to speak of. In nanoseconds.
    private static let sayAfter: UInt64 = 3_000_000_000
}
