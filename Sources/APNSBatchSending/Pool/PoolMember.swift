/// One connection of a pool, from the decision to open it to its end:
///
///     vacant ─▶ connecting ─up─▶ up ─goaway, retire─▶ draining ─down─▶ vacant
///                   └───────────────────────────────────┘
///
/// A member that lost a race, does not answer a PING, or has reached its deadline after GOAWAY is closing until it is down.
struct PoolMember: Equatable {
    /// The state of the connection, with the values that exist only in it.
    private enum Phase: Equatable {
        case vacant
        case connecting(Connecting)
        case up(Up)
        /// It takes no new request. Its answers are awaited, after GOAWAY no longer than until this time.
        case draining(closesAt: UInt64?)
        /// It is being closed, and no answers are awaited.
        case closing
    }

    struct Connecting: Equatable {
        let openedAt: UInt64
        /// Whether it was opened as a successor without spacing.
        var isSuccessor = false
        /// Whether it was opened to race another member in the same slot.
        var isRival = false
        /// The time from which on another address may be tried in parallel.
        var racesAt: UInt64?
    }

    struct Up: Equatable {
        /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS, and the largest value that it had.
        fileprivate var announced = 0
        private var announcedMost = 0
        /// The time at which that limit fell to nearly nothing; nil while it is usable.
        private(set) var fallenAt: UInt64?
        /// The time before which it takes no request.
        fileprivate var heldUntil: UInt64?
        /// Whether it will soon be used up: its slot is free for a successor, and it takes requests until its server sends
        /// GOAWAY.
        fileprivate var isEnding = false

        fileprivate mutating func announce(_ streams: Int, now: UInt64) {
            (announced, announcedMost) = (streams, max(announcedMost, streams))
            // One stream where there were more, or none at all. With a new provider token a connection also has only one
            // stream until the first answer.
            fallenAt = streams == 0 || streams == 1 && announcedMost > 1 ? fallenAt ?? now : nil
        }
    }

    private var phase = Phase.vacant
    /// The limits that each pick checks: streams in use at once, and requests that its server takes before GOAWAY, if known.
    private var usable = 0
    var life = Int.max
    private(set) var inFlight = 0
    /// The number of answers that it received, and the time of the last one.
    private(set) var answers = 0
    private var answeredAt: UInt64 = 0
    /// The sum of the times of its answers, in microseconds.
    private var latencies: UInt64 = 0
    private(set) var health = ConnectionHealth()
    /// Its answers in the last interval, beside those of the others.
    private(set) var pace = Slowness.Sample()
    /// Whether it gets no request because it fails and there is another one.
    private var isShunned = false
    /// Whether it has had an answer that is neither 429 nor 5xx; noted of a fresh one only.
    private var hasGoodAnswer = false
    /// The streams of a fresh connection before its first good answer: it may refuse everything, as its predecessor did.
    private static let freshStreams = 32

    /// The number of streams that may be in use at once; 0 unless it is up.
    private(set) var streams = 0
    /// Its slot in the pool. The slot of a leaving member is vacant.
    private(set) var slot = 0
    /// The generation of its credentials.
    private(set) var generation = 0
    /// The times at which its provider token becomes too old to be used, and at which a successor must be opened to be
    /// usable by then; nil with a client certificate.
    private var tokenExpiresAt: UInt64?
    private var successorDueAt: UInt64?
    /// Whether a successor is to replace it.
    var isLeaving = false
    /// Whether it was drained because the pool has more connections than help, or because it was replaced.
    private var isSurplus = false
    /// The member in its slot that races it, being opened later.
    private(set) var rival: Int?
    /// Whether there have been several members in its slot; the one that is up first remains.
    private(set) var isRacing = false
    /// The time at which it came up; 0 before.
    private var upAt: UInt64 = 0
    /// The times at which the last PING was answered, and at which an unanswered PING was sent.
    private var pongedAt: UInt64 = 0
    private var pingedAt: UInt64?

    // MARK: What it is

    var isVacant: Bool { phase == .vacant }
    var isUp: Bool { if case .up = phase { true } else { false } }
    /// Whether nothing happens to it for many seconds without an event.
    var isQuiet: Bool { isVacant || isUp && !isLeaving && pingedAt == nil }
    var isConnecting: Bool { connecting != nil }
    var cameUp: Bool { upAt > 0 }

    private(set) var connecting: Connecting? {
        get { if case .connecting(let state) = phase { state } else { nil } }
        set { phase = newValue.map { .connecting($0) } ?? phase }
    }

    private(set) var up: Up? {
        get { if case .up(let state) = phase { state } else { nil } }
        set { phase = newValue.map { .up($0) } ?? phase }
    }

    /// Whether it occupies a slot.
    var isOpen: Bool { !isLeaving && (isConnecting || up?.isEnding == false) }

    /// Whether it counts as an open connection. Of those that race only the last one counts.
    var isCounted: Bool { isOpen && rival == nil }

    /// Whether it was opened in the same slot as `other` for the same purpose, and one of them is surplus.
    func races(_ other: PoolMember) -> Bool {
        isRacing && other.isRacing && slot == other.slot && isLeaving == other.isLeaving && (isConnecting || isUp)
    }

    /// Whether it takes another request now.
    var isFree: Bool { inFlight < min(usable, life - answers) }

    /// Whether its address did not lead to a connection: it did not come up, or its rival was faster.
    var hasFailedToConnect: Bool { isConnecting || hasLost }
    private var hasLost: Bool { phase == .closing && !cameUp }

    /// Whether its end counts as a failure of its slot: it never came up, or ended before it was usable, without a request
    /// for it. Otherwise a server that closes each connection after one answer would be sent new connections without end, as
    /// fast as they can be opened.
    func wasOfNoUse(now: UInt64) -> Bool {
        let isFleeting = !isLeaving && answers < 10 && now < upAt + 1_000_000_000
        return !hasLost && !isSurplus && (answers == 0 || isFleeting)
    }

    /// Whether it has answered within the last `within` nanoseconds, or has been up for a second without requests.
    func isOfUse(now: UInt64, within: UInt64) -> Bool {
        guard streams > 0 else { return false }
        return inFlight > 0 ? answers > 0 && now < answeredAt + within : hasStood(now: now)
    }

    func hasStood(now: UInt64) -> Bool { isUp && now >= upAt + 1_000_000_000 }

    /// Whether it may replace `other`: it has answered, or has been up for a second without requests. The latter does not
    /// prove other credentials.
    func canSucceed(_ other: PoolMember, now: UInt64) -> Bool {
        guard !isLeaving, streams > 0 else { return false }
        return answers > 0 || generation == other.generation && inFlight == 0 && hasStood(now: now)
    }

    /// The order in which members are kept while credentials change: first those that have answered, then those that are up,
    /// then those that are not leaving.
    var worth: (Int, Int, Int) { (answers > 0 ? 1 : 0, isUp ? 1 : 0, isLeaving ? 0 : 1) }

    /// The number of requests that it still takes if a connection serves `life` requests.
    func requestsRemaining(_ life: Int) -> Int { isConnecting ? life : isUp ? max(0, life - answers - inFlight) : 0 }

    /// Whether it has served as many requests as expected and was not asked to end.
    func hasOutlived(now: UInt64) -> Bool {
        isUp && inFlight == 0 && answers >= life && now >= answeredAt + 50_000_000
    }

    /// The time of the last sign that the connection is alive.
    private var heardAt: UInt64 { max(upAt, answeredAt, pongedAt) }

    // MARK: Requests

    mutating func willSend() {
        assert(isUp, "a request is sent only on a member that is up")
        inFlight += 1
    }

    /// Notes that a request has its outcome, and returns whether the member is up. This is one call because each access to
    /// the pool's array from outside checks for uniqueness.
    mutating func didEnd(answered: Bool, latency: UInt32 = 0, now: UInt64) -> Bool {
        precondition(inFlight > 0, "an outcome for each request, and a connection's end after them")
        inFlight -= 1
        if answered {
            answers += 1
            answeredAt = now
            latencies &+= UInt64(latency)
        }
        return isUp
    }

    // MARK: What its answers mean for it

    /// Whether it is up and fails.
    var isFailing: Bool { isUp && health.isFailing }
    /// Whether it is up and nothing speaks against it.
    var isPromising: Bool { isUp && !health.isFailing }

    /// Notes an answer 429 or 5xx, after its outcome. Returns whether the connection fails from now on.
    mutating func noteTrouble(isFirst: Bool, _ evidence: ConnectionHealth.Evidence, now: UInt64) -> Bool {
        assert(health.troubled < answers, "trouble is noted after the answer that shows it")
        return health.noteTrouble(answers: answers, isFirst: isFirst, evidence, now: now)
    }

    mutating func lookAtHealth() { if isUp { health.look(answers: answers) } }

    /// The time of its last answer, if it serves and that was within the last `within` nanoseconds; otherwise 0.
    func servedAt(within: UInt64, now: UInt64) -> UInt64 {
        isPromising && health.serves(answers: answers) && now < answeredAt + within ? answeredAt : 0
    }

    /// Whether it is a fresh connection that has proved itself.
    func hasProved(now: UInt64) -> Bool {
        isUp && health.isFresh && health.hasProved(answers: answers, age: now - min(now, upAt))
    }

    mutating func isProved() { health.isFresh = false }
    mutating func willBeReplaced() { health.isReplaced = true }

    /// Lets it have no request while it fails, if `hasOther`.
    mutating func shun(_ hasOther: Bool) {
        isShunned = isFailing && hasOther
        refreshUsable()
    }

    mutating func endInterval() { pace.end(answers: answers, latencies: latencies) }
    mutating func compare(with quick: Slowness.Sample) { if isUp { pace.compare(with: quick) } }

    // MARK: Its way up

    /// - Parameter isRival: Whether it races another member in the slot.
    mutating func open(
        slot: Int, isSuccessor: Bool = false, isRival: Bool = false, isFresh: Bool = false, now: UInt64
    ) {
        precondition(isVacant && inFlight == 0, "a member that is opened was vacant")
        self = PoolMember()
        (self.slot, isRacing) = (slot, isRival)
        health.isFresh = isFresh
        phase = .connecting(Connecting(openedAt: now, isSuccessor: isSuccessor, isRival: isRival))
    }

    mutating func didOpen(generation: Int, tokenExpiresAt: UInt64?, successorDueAt: UInt64?, racesAt: UInt64?) {
        (self.generation, self.tokenExpiresAt, self.successorDueAt) = (generation, tokenExpiresAt, successorDueAt)
        connecting?.racesAt = racesAt
    }

    /// Whether it takes long to come up, and has no rival yet.
    func wantsRival(now: UInt64) -> Bool {
        !isLeaving && rival == nil && connecting?.racesAt.map { now >= $0 } == true
    }

    mutating func race(against other: Int) {
        (rival, isRacing) = (other, true)
        connecting?.racesAt = nil
    }

    mutating func loseRival() { rival = nil }

    mutating func endRace() { (rival, isRacing) = (nil, false) }

    mutating func comeUp(now: UInt64) {
        precondition(isConnecting && inFlight == 0, "a member that comes up was connecting")
        (phase, upAt) = (.up(Up()), now)
    }

    // MARK: While it is up

    /// Notes the peer's SETTINGS_MAX_CONCURRENT_STREAMS. The pool uses no more streams than `allowed`.
    mutating func announce(_ streams: Int, allowed: Int, now: UInt64) {
        up?.announce(streams, now: now)
        allow(allowed)
    }

    mutating func allow(_ allowed: Int) {
        streams = min(up?.announced ?? 0, allowed)
        refreshUsable()
    }

    private mutating func refreshUsable() {
        let most = health.isFresh && !hasGoodAnswer ? min(streams, Self.freshStreams) : streams
        usable = up?.heldUntil == nil && !isShunned ? most : 0
        assert(usable <= streams && (streams == 0 || isUp), "only a member that is up has streams")
    }

    /// Lets a fresh connection use all its streams once it has had a good answer.
    mutating func lookForGoodAnswer() {
        guard health.isFresh, !hasGoodAnswer, answers > health.troubled else { return }
        hasGoodAnswer = true
        refreshUsable()
    }

    /// Notes that it could not take a request: it takes none before `until`.
    mutating func hold(until: UInt64) {
        up?.heldUntil = until
        usable = 0
    }

    mutating func releaseHold(now: UInt64) {
        guard usable == 0, let time = up?.heldUntil, now >= time else { return }
        up?.heldUntil = nil
        refreshUsable()
    }

    mutating func willEnd() { up?.isEnding = true }

    /// Marks the member as leaving when a successor for its provider token is due. Returns whether the token is too old to
    /// be used.
    mutating func agesOut(now: UInt64) -> Bool {
        guard isUp else { return false }
        if let due = successorDueAt, now >= due { isLeaving = true }
        return tokenExpiresAt.map { now >= $0 } ?? false
    }

    // MARK: Its way down

    /// Starts draining: the member takes no new request. Returns false if it did not take any before.
    ///
    /// - Parameter closesAt: The time until which answers are awaited; a second call does not extend it.
    mutating func drain(closesAt: UInt64?, isSurplus: Bool) -> Bool {
        switch phase {
        case .connecting, .up:
            stop(.draining(closesAt: closesAt))
            self.isSurplus = isSurplus
            return true
        case .draining(nil): phase = .draining(closesAt: closesAt)
        case .draining, .closing, .vacant: break
        }
        return false
    }

    mutating func close() {
        precondition(!isVacant && phase != .closing, "a member is closed once, and only if it has a connection")
        stop(.closing)
    }

    private mutating func stop(_ next: Phase) { (phase, streams, usable) = (next, 0, 0) }

    // MARK: Signs of life

    enum Watch: Equatable { case fine, ping, silent }

    /// Decides whether a PING is to be sent, or whether a PING or the deadline after GOAWAY has passed without an answer.
    mutating func watch(now: UInt64, _ limits: ConnectionPool.Limits) -> Watch {
        switch phase {
        case .vacant, .connecting, .closing: return .fine
        case .draining(let time?) where now >= time: return .silent
        case .draining where answers == 0: return .fine
        case .draining, .up: break
        }
        if let pinged = pingedAt, heardAt <= pinged { return now >= pinged + limits.pingPatience ? .silent : .fine }
        pingedAt = nil
        guard now >= heardAt + (inFlight > 0 ? limits.pingAfter : limits.pingIdleAfter) else { return .fine }
        pingedAt = now
        return .ping
    }

    mutating func ponged(now: UInt64) { (pongedAt, pingedAt) = (now, nil) }

    /// Extends the deadlines of PINGs and after GOAWAY by the time in which this process did not run, since what arrived
    /// meanwhile has not been read.
    mutating func stoodStill(for gap: UInt64, now: UInt64, _ limits: ConnectionPool.Limits) {
        if let pinged = pingedAt, heardAt <= pinged { pingedAt = min(pinged + gap, now) }
        if case .draining(let time?) = phase {
            phase = .draining(closesAt: min(time + gap, now + limits.goawayPatience))
        }
    }
}
