/// The connections of a pool: which of them takes the next request, and which of them go.
struct PoolMembers: Equatable {
    typealias Action = ConnectionPool.Action

    private var members: [PoolMember]
    /// The member that takes requests until it is full, so that bursts stay together in few records.
    private(set) var current = 0
    private(set) var inFlight = 0
    /// Those on members that are up; what one that drains has left holds up no other.
    private(set) var inFlightUp = 0

    init(count: Int) { members = Array(repeating: PoolMember(), count: count) }

    var indices: Range<Int> { members.indices }
    subscript(index: Int) -> PoolMember { members[index] }

    // MARK: The way of a row

    /// The member to send to next, or nil while every stream is taken.
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
    }

    /// Says whether the member is up.
    @inline(__always)
    mutating func didEnd(_ index: Int, answered: Bool, now: UInt64) -> Bool {
        inFlight -= 1
        let isUp = members[index].didEnd(answered: answered, now: now)
        if isUp { inFlightUp -= 1 }
        return isUp
    }

    // MARK: Numbers

    var up: Int { members.count(where: \.isUp) }

    /// Streams that could be in use at once.
    var streams: Int { members.reduce(0) { $0 + $1.streams } }

    /// The same and those still in use: on members that drain, and on those whose limit fell meanwhile.
    var streamsShown: Int { members.reduce(0) { $0 + max($1.streams, $1.inFlight) } }

    /// Connections that are up or coming up, but for those that go.
    var open: Int { members.count(where: \.isCounted) }

    /// Members that are not just coming up; successors of those that served well are as good as their predecessors.
    var settled: Int { members.count { $0.isUp || $0.connecting?.isSuccessor == true } }

    func contains(where condition: (PoolMember) -> Bool) -> Bool { members.contains(where: condition) }

    /// Some connection leaves and can still be used.
    var isChanging: Bool { members.contains { $0.isLeaving && ($0.isUp || $0.isConnecting) } }

    /// The first connection that is coming up.
    var opening: Int? { members.firstIndex { $0.isOpen && $0.isConnecting } }

    // MARK: Up

    /// Opens a connection in this slot; nil while there is no room for one.
    mutating func open(slot: Int, isSuccessor: Bool, now: UInt64) -> Int? {
        guard let index = members.firstIndex(where: \.isVacant) else { return nil }
        members[index].open(slot: slot, isSuccessor: isSuccessor, now: now)
        return index
    }

    func isTaken(slot: Int) -> Bool { members.contains { $0.isOpen && $0.slot == slot } }

    /// Changes one of them, but for its phase.
    mutating func update(_ index: Int, _ change: (inout PoolMember) -> Void) { change(&members[index]) }

    mutating func updateAll(_ change: (inout PoolMember) -> Void) {
        for index in indices { change(&members[index]) }
    }

    mutating func comeUp(_ index: Int, now: UInt64) {
        members[index].comeUp(now: now)
        // The successor goes first, for its predecessor stays until it has shown that it is of use.
        if members[current].isLeaving { current = index }
    }

    /// A connection that takes long to come up gets a rival of the other address family (RFC 8305, section 5); who is up
    /// first stays.
    mutating func race(now: UInt64) -> [Action] {
        var actions: [Action] = []
        for index in indices {
            if members[index].isUp, let rival = members[index].rival {
                actions += settle(winner: index, rival)
            } else if members[index].wantsRival(now: now), let free = members.firstIndex(where: \.isVacant) {
                members[free].open(slot: members[index].slot, rival: index, now: now)
                members[index].race(against: free)
                actions.append(.race(member: free, against: index))
            }
        }
        return actions
    }

    private mutating func settle(winner: Int, _ loser: Int) -> [Action] {
        members[winner].race(against: nil)
        members[loser].race(against: nil)
        return members[loser].isConnecting ? close(loser) : retire(loser)
    }

    // MARK: Down

    /// The connection is gone; all its requests have had their outcomes. Gives the member as it was.
    mutating func remove(_ index: Int) -> PoolMember {
        let gone = members[index]
        members[index] = PoolMember()
        if let rival = gone.rival { members[rival].race(against: nil) }
        return gone
    }

    /// Nothing new goes to it.
    ///
    /// - Parameters: as `PoolMember` says.
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

    /// Asks silent connections for a sign of life, and closes those that give none or have had their time.
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

    /// The credentials were replaced: every connection gets a successor. No more leave than are wanted, so that there is
    /// room for these: of more, those stay that have been of use, and of these the newer ones.
    mutating func renewAll(wanted: Int) -> [Action] {
        let open = indices.filter { members[$0].isUp || members[$0].isConnecting }
        let stay = open.sorted { members[$0].worth > members[$1].worth }.prefix(wanted)
        // Those that drain, too: what they are still told concerns the old credentials.
        for index in indices where !members[index].isVacant { members[index].isLeaving = true }
        return open.filter { !stay.contains($0) }.flatMap { retire($0) }
    }

    /// The connections with newer credentials are or will be refused: they count as leaving, and those before stay.
    mutating func takeBack(to generation: Int) -> [Action] {
        for index in indices where !members[index].isVacant {
            members[index].isLeaving = members[index].generation != generation
        }
        return retire { $0.generation > generation }
    }

    mutating func replaceOldTokens(now: UInt64) -> [Action] {
        indices.filter { members[$0].agesOut(now: now) }.flatMap { retire($0) }
    }

    /// As many leave as successors have come, once one of these is of use and shows that the new credentials are.
    mutating func drainLeaving(now: UInt64, wanted: Int) -> [Action] {
        let leaving = indices.filter { index in
            members[index].isUp && members[index].isLeaving
                && members.contains { $0.canSucceed(members[index], now: now) }
        }
        let successors = members.count { $0.isUp && !$0.isLeaving }
        return leaving.prefix(max(0, leaving.count + successors - wanted)).flatMap { retire($0) }
    }
}
