/// Credentials that change: who leaves, who stays, and what follows when APNs refuses them.
extension ConnectionPool {
    /// The credentials were replaced: every connection gets a successor. No more leave than are wanted, so that there is
    /// room for these: of more, those stay that have been of use, and of these the newer ones.
    mutating func renewAll() -> [Action] {
        let open = members.indices.filter { members[$0].phase == .up || members[$0].phase == .connecting }
        let stay = open.sorted { members[$0].worth > members[$1].worth }.prefix(target)
        // Those that drain, too: what they are still told concerns the old credentials.
        for index in members.indices where members[index].phase != .free { members[index].isLeaving = true }
        // What the old credentials met with says nothing of the new ones.
        forgetFailures()
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
        forgetFailures()
        let newer = members.indices.filter { members[$0].generation > generation }
        return newer.flatMap { retire($0) }
    }

    /// Some connection leaves and can still be used.
    var isChanging: Bool { members.contains { $0.isLeaving && ($0.phase == .up || $0.phase == .connecting) } }

    mutating func replaceOldTokens(now: UInt64) -> [Action] {
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
    mutating func drainLeaving(now: UInt64, wanted: Int) -> [Action] {
        let leaving = members.indices.filter { index in
            members[index].phase == .up && members[index].isLeaving
                && members.contains { $0.canSucceed(members[index], now: now) }
        }
        let successors = members.count { $0.phase == .up && !$0.isLeaving }
        return leaving.prefix(max(0, leaving.count + successors - wanted)).flatMap { retire($0) }
    }
}
