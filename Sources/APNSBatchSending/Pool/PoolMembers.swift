/// The connections of a pool: selects the one for the next request, and drains and closes them.
struct PoolMembers: Equatable {
    typealias Action = ConnectionPool.Action

    private var members: [PoolMember]
    /// The member that takes requests until it is full, so that bursts share few TLS records.
    private(set) var current = 0
    private(set) var inFlight = 0
    /// The number of requests in flight on members that are up. Those on draining members do not limit others.
    private(set) var inFlightUp = 0

    init(count: Int) { members = Array(repeating: PoolMember(), count: count) }

    var indices: Range<Int> { members.indices }
    subscript(index: Int) -> PoolMember { members[index] }

    // MARK: The way of a row

    /// Returns the member for the next request, or nil while every stream is in use.
    mutating func pick() -> Int? { members[current].isFree ? current : pickAnother() }

    var hasStream: Bool { members[current].isFree || members.contains(where: \.isFree) }

    private mutating func pickAnother() -> Int? {
        for step in 1...members.count {
            let index = (current + step) % members.count
            if members[index].isFree {
                current = index
                return index
            }
        }
        return nil
    }

    @inline(__always)
    mutating func willSend(_ index: Int) {
        members[index].willSend()
        inFlight += 1
        inFlightUp += 1
        assert(inFlightUp > 0 && inFlightUp <= inFlight, "requests on members that are up are among all requests")
    }

    /// Notes that a request has its outcome, and returns whether the member is up.
    @inline(__always)
    mutating func didEnd(_ index: Int, answered: Bool, latency: UInt32, now: UInt64) -> Bool {
        inFlight -= 1
        let isUp = members[index].didEnd(answered: answered, latency: latency, now: now)
        if isUp { inFlightUp -= 1 }
        assert(inFlightUp >= 0 && inFlightUp <= inFlight, "requests on members that are up are among all requests")
        return isUp
    }

    #if DEBUG
        func checkSums() {
            assert(inFlight == members.reduce(0) { $0 + $1.inFlight }, "a request in flight is one of a member")
            assert(
                inFlightUp == members.reduce(0) { $0 + ($1.isUp ? $1.inFlight : 0) },
                "requests on members that drain or close do not limit those that are up")
        }
    #endif

    // MARK: Numbers

    var up: Int { members.count(where: \.isUp) }

    /// Whether no member is being opened, replaced or tested.
    var isQuiet: Bool { members.allSatisfy(\.isQuiet) }

    /// The number of streams that may be in use at once.
    var streams: Int { members.reduce(0) { $0 + $1.streams } }

    /// The same, including streams still in use on draining members and on those whose limit has fallen.
    var streamsShown: Int { members.reduce(0) { $0 + max($1.streams, $1.inFlight) } }

    /// The number of connections that are up or being opened and are not leaving.
    var open: Int { members.count(where: \.isCounted) }

    /// Whether this number of members is up, including successors without spacing that are still being opened, none is
    /// leaving, and most have answered: with a new provider token a connection has one stream until its first answer. One that
    /// has not come up in `patience` nanoseconds is not waited for.
    func areSettled(_ target: Int, now: UInt64, patience: UInt64) -> Bool {
        let new = members.count { $0.isUp && $0.answers == 0 }
        let counted = members.count { member in
            member.isUp || member.connecting.map { $0.isSuccessor || now >= $0.openedAt + patience } ?? false
        }
        return counted >= target && new * 4 <= target && !members.contains(where: \.isLeaving)
    }

    func contains(where condition: (PoolMember) -> Bool) -> Bool { members.contains(where: condition) }

    /// Whether a connection is leaving and still usable.
    var isChanging: Bool { members.contains { $0.isLeaving && ($0.isUp || $0.isConnecting) } }

    /// The first connection that is being opened.
    var opening: Int? { members.firstIndex { $0.isOpen && $0.isConnecting } }

    // MARK: Up

    /// Opens a connection in this slot. Returns nil while all members are in use.
    mutating func open(slot: Int, isSuccessor: Bool, isFresh: Bool, now: UInt64) -> Int? {
        guard let index = members.firstIndex(where: \.isVacant) else { return nil }
        members[index].open(slot: slot, isSuccessor: isSuccessor, isFresh: isFresh, now: now)
        return index
    }

    func isTaken(slot: Int) -> Bool { members.contains { $0.isOpen && $0.slot == slot } }

    /// Changes a member, except for its state.
    mutating func update(_ index: Int, _ change: (inout PoolMember) -> Void) { change(&members[index]) }

    mutating func updateAll(_ change: (inout PoolMember) -> Void) {
        for index in indices { change(&members[index]) }
    }

    mutating func comeUp(_ index: Int, now: UInt64) {
        members[index].comeUp(now: now)
        // The successor gets requests first, since its predecessor stays until the successor has proved usable.
        if members[current].isLeaving { current = index }
    }

    /// Starts a rival for each connection that takes long to come up (RFC 8305, section 5), and ends races: the connection
    /// that is up first remains.
    mutating func race(now: UInt64) -> [Action] {
        var actions: [Action] = []
        for index in indices {
            if members[index].isUp, members[index].isRacing {
                actions += settle(winner: index)
            } else if members[index].wantsRival(now: now), let free = members.firstIndex(where: \.isVacant) {
                members[free].open(
                    slot: members[index].slot, isRival: true, isFresh: members[index].health.isFresh, now: now)
                members[index].race(against: free)
                actions.append(.race(member: free, against: index))
            }
        }
        return actions
    }

    private mutating func settle(winner: Int) -> [Action] {
        let losers = racers(with: winner).filter { $0 != winner }
        members[winner].endRace()
        return losers.flatMap { loser in
            members[loser].endRace()
            return members[loser].isConnecting ? close(loser) : retire(loser)
        }
    }

    /// The members that race this one, and itself.
    func racers(with member: Int) -> [Int] {
        indices.filter { $0 == member || members[$0].races(members[member]) }
    }

    // MARK: Down

    /// Removes a member whose connection was closed, after the outcomes of all its requests. Returns the member as it was.
    mutating func remove(_ index: Int) -> PoolMember {
        let gone = members[index]
        precondition(gone.inFlight == 0, "a connection's end comes after the outcomes of all its requests")
        assert(!gone.isVacant, "a member is removed once")
        members[index] = PoolMember()
        if gone.isRacing {
            for other in indices where members[other].rival == index { members[other].loseRival() }
        }
        return gone
    }

    /// Drains a member: it takes no new request.
    ///
    /// - Parameters: See `PoolMember.drain(closesAt:isSurplus:)`.
    mutating func retire(_ index: Int, closesAt: UInt64? = nil, isSurplus: Bool = false) -> [Action] {
        let wasUp = members[index].isUp
        guard members[index].drain(closesAt: closesAt, isSurplus: isSurplus) else { return [] }
        if wasUp { inFlightUp -= members[index].inFlight }
        return [.drain(member: index)]
    }

    mutating func retire(where condition: (PoolMember) -> Bool) -> [Action] {
        indices.filter { condition(members[$0]) }.flatMap { retire($0) }
    }

    private mutating func close(_ index: Int) -> [Action] {
        if members[index].isUp { inFlightUp -= members[index].inFlight }
        members[index].close()
        return [.close(member: index)]
    }

    /// Sends PINGs on silent connections, and closes those that do not answer or have reached their deadline.
    mutating func watch(now: UInt64, _ limits: ConnectionPool.Limits) -> [Action] {
        indices.flatMap { index -> [Action] in
            switch members[index].watch(now: now, limits) {
            case .fine: []
            case .ping: [.ping(member: index)]
            case .silent: close(index)
            }
        }
    }

    // MARK: Credentials that change

    /// Gives every connection a successor, after the credentials were replaced. At most `wanted` connections stay for that
    /// time, so that there is room for successors: first those that have answered, and of these the newer ones.
    mutating func renewAll(wanted: Int) -> [Action] {
        let open = indices.filter { members[$0].isUp || members[$0].isConnecting }
        let stay = open.sorted { members[$0].worth > members[$1].worth }.prefix(wanted)
        // Draining ones, too: refusals that they still receive concern the old credentials.
        for index in indices where !members[index].isVacant { members[index].isLeaving = true }
        return open.filter { !stay.contains($0) }.flatMap { retire($0) }
    }

    /// Returns to previous credentials: connections with newer ones were or will be refused, so they leave, and those before
    /// stay.
    mutating func takeBack(to generation: Int) -> [Action] {
        for index in indices where !members[index].isVacant {
            members[index].isLeaving = members[index].generation != generation
        }
        return retire { $0.generation > generation }
    }

    mutating func replaceOldTokens(now: UInt64) -> [Action] {
        indices.filter { members[$0].agesOut(now: now) }.flatMap { retire($0) }
    }

    /// Drains as many leaving connections as successors are up, once one of these is usable and proves the new credentials.
    mutating func drainLeaving(now: UInt64, wanted: Int) -> [Action] {
        let leaving = indices.filter { index in
            members[index].isUp && members[index].isLeaving
                && members.contains { $0.canSucceed(members[index], now: now) }
        }
        let successors = members.count { $0.isUp && !$0.isLeaving }
        return leaving.prefix(max(0, leaving.count + successors - wanted)).flatMap { retire($0) }
    }
}
