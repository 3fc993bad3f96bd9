/// When connections are opened.
///
/// Each place of the pool tries for itself: a connection that fails has its own place wait, at the host's next address not
/// at all and after all of them with exponential back-off and jitter, and holds up no other.
extension ConnectionPool {
    struct Slot: Equatable {
        /// Connections in a row that were of no use.
        var failures = 0
        /// It opens none before then.
        var opensAt: UInt64 = 0
    }

    /// The connection is gone; all its requests have had their outcomes.
    mutating func isDown(_ member: Int, failure: ConnectionFailure, now: UInt64, jitter: Double) -> [Action] {
        let gone = members[member]
        members[member] = Member()
        if let rival = gone.rival { members[rival].rival = nil }
        // One that was up and closed before it answered anything is no better than one that never came up.
        guard !gone.hasLost, !gone.isSurplus, gone.answers == 0 || gone.isFleeting(now: now) else { return [] }
        (lastFailure, lastFailureIsOwn) = (failure.text, failure.isOwn)
        consumption.successors = 0
        slots[gone.slot].failures += 1
        let failures = slots[gone.slot].failures
        if failure.isHopeless, !everUp, gone.rival == nil, failures >= failure.addresses { return giveUp(failure.text) }
        // Rows go through, if only a few at a time.
        let longest = gone.answers > 0 ? limits.backoffFleeting : limits.backoffLargest
        let pause = min(longest, pause(failures: failures, addresses: failure.addresses, jitter: jitter))
        slots[gone.slot].opensAt = now + pause
        return []
    }

    /// No pause while there are addresses left to try; then exponential, with jitter from 0.5 to 1 of the full pause.
    private func pause(failures: Int, addresses: Int, jitter: Double) -> UInt64 {
        let rounds = failures / max(1, addresses)
        guard rounds > 0 else { return 0 }
        let full = min(limits.backoffLargest, limits.backoffFirst << UInt64(min(rounds - 1, 20)))
        return UInt64(Double(full) * (0.5 + jitter / 2))
    }

    /// What the places met with says nothing of what comes now.
    mutating func forgetFailures() {
        for index in slots.indices { slots[index] = Slot() }
        nextOpenAt = 0
        excusedUntil = 0
    }

    mutating func openIfDue(now: UInt64, wanted: Int) -> Action? {
        guard now >= nextOpenAt || consumption.successors > 0 else { return nil }
        let open = members.count { $0.isOpen && $0.rival == nil || $0.isOpen && $0.races }
        guard open < wanted else {
            consumption.successors = 0
            return nil
        }
        // Until the first connection has come up there is nothing to learn from a second attempt beside it.
        guard everUp || open == 0, let slot = vacantSlot(now: now),
            let index = members.firstIndex(where: { $0.phase == .free })
        else { return nil }
        members[index] = Member()
        members[index].phase = .connecting
        members[index].slot = slot
        members[index].openedAt = now
        if consumption.successors > 0 {
            consumption.successors -= 1
            members[index].isSuccessor = true
        } else {
            nextOpenAt = now + limits.openSpacing
        }
        return .open(member: index)
    }

    private func vacantSlot(now: UInt64) -> Int? {
        (0..<target).first { slot in
            now >= slots[slot].opensAt && !members.contains { $0.isOpen && $0.slot == slot }
        }
    }

    // MARK: Races

    /// A connection that takes long to come up gets a rival of the other address family (RFC 8305, section 5); who is up
    /// first stays.
    mutating func race(now: UInt64) -> [Action] {
        var actions: [Action] = []
        for index in members.indices {
            if members[index].phase == .up, let rival = members[index].rival {
                actions += settle(winner: index, rival)
            } else if members[index].phase == .connecting, !members[index].isLeaving,
                members[index].rival == nil, let time = members[index].racesAt, now >= time,
                let free = members.firstIndex(where: { $0.phase == .free })
            {
                actions.append(start(rival: free, of: index))
            }
        }
        return actions
    }

    private mutating func start(rival: Int, of index: Int) -> Action {
        members[index].racesAt = nil
        members[index].rival = rival
        members[rival] = Member()
        members[rival].phase = .connecting
        members[rival].slot = members[index].slot
        members[rival].rival = index
        members[rival].races = true
        return .race(member: rival, against: index)
    }

    private mutating func settle(winner: Int, _ loser: Int) -> [Action] {
        members[winner].rival = nil
        members[loser].rival = nil
        guard members[loser].phase == .connecting else { return retire(loser) }
        members[loser].hasLost = true
        members[loser].phase = .closing
        return [.close(member: loser)]
    }
}
