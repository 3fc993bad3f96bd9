/// One connection of a pool, from the decision to open it to its end:
///
///     vacant ─▶ connecting ─up─▶ up ─goaway, retire─▶ draining ─down─▶ vacant
///                   └───────────────────────────────────┘
///
/// One that lost a race, gives no sign of life, or has had its time after GOAWAY, is closing until it is down.
struct PoolMember: Equatable {
    /// Where it is in its life, with what exists only then.
    private enum Phase: Equatable {
        case vacant
        case connecting(Connecting)
        case up(Up)
        /// It takes no new request. Its answers are awaited, after GOAWAY no longer than until this time.
        case draining(closesAt: UInt64?)
        /// Nothing is expected of it any more.
        case closing
    }

    struct Connecting: Equatable {
        let openedAt: UInt64
        /// It was opened for one that served well.
        var isSuccessor = false
        /// It came later, to race another one in the same slot.
        var isRival = false
        /// When another address family may be tried beside it.
        var racesAt: UInt64?
    }

    struct Up: Equatable {
        /// The peer's MAX_CONCURRENT_STREAMS, and the most that it was.
        fileprivate var announced = 0
        private var announcedMost = 0
        /// When that limit fell to nearly nothing; nil while it is sound.
        private(set) var fallenAt: UInt64?
        /// It takes no request before then.
        fileprivate var heldUntil: UInt64?
        /// It will be used up soon: its slot is free for a successor, and it serves until its server says GOAWAY.
        fileprivate var isEnding = false

        fileprivate mutating func announce(_ streams: Int, now: UInt64) {
            (announced, announcedMost) = (streams, max(announcedMost, streams))
            // One stream where there were more, or none at all. A new connection of a provider token has one stream, too,
            // until the first answer.
            fallenAt = streams == 0 || streams == 1 && announcedMost > 1 ? fallenAt ?? now : nil
        }
    }

    private var phase = Phase.vacant
    /// Requests that it takes at once, and that its server takes before GOAWAY, as far as is known: what each pick looks at.
    private var usable = 0
    var life = Int.max
    private(set) var inFlight = 0
    /// Answers that came over it, and when the last one did.
    private(set) var answers = 0
    private var answeredAt: UInt64 = 0

    /// Streams that may be in use at once; 0 unless it is up.
    private(set) var streams = 0
    /// Its place in the pool; that of a member that leaves is vacant.
    private(set) var slot = 0
    /// The generation of its credentials.
    private(set) var generation = 0
    /// When the connection's provider token becomes too old to be used, and when a successor is due, so that it is of use
    /// by then; nil with a client certificate.
    private var tokenExpiresAt: UInt64?
    private var successorDueAt: UInt64?
    /// Another member is to take its place.
    var isLeaving = false
    /// There are more connections than are of use, and it goes.
    private var isSurplus = false
    /// The other connection in its slot: of the two, who is up first stays.
    private(set) var rival: Int?
    /// When it came up; 0 before.
    private var upAt: UInt64 = 0
    /// When the last PING was answered, and when one that is not was sent.
    private var pongedAt: UInt64 = 0
    private var pingedAt: UInt64?

    // MARK: What it is

    var isVacant: Bool { phase == .vacant }
    var isUp: Bool { if case .up = phase { true } else { false } }
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

    /// It takes a slot.
    var isOpen: Bool { !isLeaving && (isConnecting || up?.isEnding == false) }

    /// Two that race are one connection.
    var isCounted: Bool { isOpen && (rival == nil || connecting?.isRival == true) }

    /// It takes another request now.
    var isFree: Bool { inFlight < min(usable, life - answers) }

    /// The address was tried in vain: it did not come up, or the other one was faster.
    var hasFailedToConnect: Bool { isConnecting || hasLost }
    private var hasLost: Bool { phase == .closing && !cameUp }

    /// Its end says that its slot cannot have a connection: it never came up, or left before it was of use, and nobody
    /// wanted it to go. A server that answers once and leaves would be asked for connections as fast as they can be opened,
    /// for ever.
    func wasOfNoUse(now: UInt64) -> Bool {
        let isFleeting = !isLeaving && answers < 10 && now < upAt + 1_000_000_000
        return !hasLost && !isSurplus && (answers == 0 || isFleeting)
    }

    /// It has answered of late, or has stood for a while and is asked nothing.
    func isOfUse(now: UInt64, within: UInt64) -> Bool {
        guard streams > 0 else { return false }
        return inFlight > 0 ? answers > 0 && now < answeredAt + within : hasStood(now: now)
    }

    func hasStood(now: UInt64) -> Bool { isUp && now >= upAt + 1_000_000_000 }

    /// It may take the place of another: it has answered, or has stood for a second and is asked nothing. The latter says
    /// nothing of other credentials.
    func canSucceed(_ other: PoolMember, now: UInt64) -> Bool {
        guard !isLeaving, streams > 0 else { return false }
        return answers > 0 || generation == other.generation && inFlight == 0 && hasStood(now: now)
    }

    /// Who is rather kept while credentials change: first those that have answered, then those that can be asked, then the
    /// newer ones.
    var worth: (Int, Int, Int) { (answers > 0 ? 1 : 0, isUp ? 1 : 0, isLeaving ? 0 : 1) }

    /// Requests that it still takes in a life of so many.
    func requestsLeft(_ life: Int) -> Int { isConnecting ? life : isUp ? max(0, life - answers - inFlight) : 0 }

    /// It has served its life and nothing says that it must go.
    func hasOutlived(now: UInt64) -> Bool {
        isUp && inFlight == 0 && answers >= life && now >= answeredAt + 50_000_000
    }

    /// The last sign of life.
    private var heardAt: UInt64 { max(upAt, answeredAt, pongedAt) }

    // MARK: Requests

    mutating func willSend() { inFlight += 1 }

    /// A request has its outcome; says whether the member is up. In one step: each look into the pool's array from outside
    /// asks whether it is shared.
    mutating func didEnd(answered: Bool, now: UInt64) -> Bool {
        precondition(inFlight > 0, "an outcome for each request, and a connection's end after them")
        inFlight -= 1
        if answered {
            answers += 1
            answeredAt = now
        }
        return isUp
    }

    // MARK: Its way up

    /// - Parameter rival: the one that it races.
    mutating func open(slot: Int, isSuccessor: Bool = false, rival: Int? = nil, now: UInt64) {
        self = PoolMember()
        (self.slot, self.rival) = (slot, rival)
        phase = .connecting(Connecting(openedAt: now, isSuccessor: isSuccessor, isRival: rival != nil))
    }

    mutating func didOpen(generation: Int, tokenExpiresAt: UInt64?, successorDueAt: UInt64?, racesAt: UInt64?) {
        (self.generation, self.tokenExpiresAt, self.successorDueAt) = (generation, tokenExpiresAt, successorDueAt)
        // A race is one of two: a rival gets none of its own.
        if connecting?.isRival == false { connecting?.racesAt = racesAt }
    }

    /// It takes long to come up, and nobody races it.
    func wantsRival(now: UInt64) -> Bool {
        !isLeaving && rival == nil && connecting?.racesAt.map { now >= $0 } == true
    }

    mutating func race(against other: Int?) {
        rival = other
        if other != nil { connecting?.racesAt = nil }
    }

    mutating func comeUp(now: UInt64) { (phase, upAt) = (.up(Up()), now) }

    // MARK: While it is up

    /// The peer said MAX_CONCURRENT_STREAMS; the pool uses no more than `allowed`.
    mutating func announce(_ streams: Int, allowed: Int, now: UInt64) {
        up?.announce(streams, now: now)
        allow(allowed)
    }

    mutating func allow(_ allowed: Int) {
        streams = min(up?.announced ?? 0, allowed)
        usable = up?.heldUntil == nil ? streams : 0
    }

    /// It could not take a request, and takes none before this time.
    mutating func hold(until: UInt64) {
        up?.heldUntil = until
        usable = 0
    }

    mutating func releaseHold(now: UInt64) {
        guard usable == 0, let time = up?.heldUntil, now >= time else { return }
        up?.heldUntil = nil
        usable = streams
    }

    mutating func willEnd() { up?.isEnding = true }

    /// Marks it when a successor is due for its provider token; true when that is too old.
    mutating func agesOut(now: UInt64) -> Bool {
        guard isUp else { return false }
        if let due = successorDueAt, now >= due { isLeaving = true }
        return tokenExpiresAt.map { now >= $0 } ?? false
    }

    // MARK: Its way down

    /// Takes no new request; false if it takes none anyway.
    ///
    /// - Parameter closesAt: when its answers are awaited no longer; a second one gives no more time.
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

    mutating func close() { stop(.closing) }

    private mutating func stop(_ next: Phase) { (phase, streams, usable) = (next, 0, 0) }

    // MARK: Signs of life

    enum Watch: Equatable { case fine, ping, silent }

    /// Whether it is to be asked for a sign of life, gives none, or has had its time.
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

    /// What came while this process stood still has not been read: PONGs and the answers after GOAWAY are awaited that much
    /// longer.
    mutating func stoodStill(for gap: UInt64, now: UInt64, _ limits: ConnectionPool.Limits) {
        if let pinged = pingedAt, heardAt <= pinged { pingedAt = min(pinged + gap, now) }
        if case .draining(let time?) = phase {
            phase = .draining(closesAt: min(time + gap, now + limits.goawayPatience))
        }
    }
}
