/// Connections that fall silent, and rows that get no answer.
///
/// Three clocks, each for what the one before cannot see. A PING finds a link that is dead without a word. The deadline after
/// GOAWAY ends a connection that lives and does not answer what it has. The watchdog looks at the answers themselves:
/// whatever the cause, rows that wait and get none have all their connections replaced, and end the run if that helps
/// nothing.
extension ConnectionPool {
    /// The peer said GOAWAY.
    ///
    /// - Parameters:
    ///   - code: of RFC 9113, section 7.
    ///   - lastStream: the last one that the peer takes; the highest number while it does not say.
    mutating func goaway(_ member: Int, code: UInt32, lastStream: UInt32, now: UInt64) -> [Action] {
        if members[member].phase == .up {
            let used = members[member].answers + members[member].inFlight
            if code == 0 { servedOut(member, served: min(used, Int(lastStream / 2) + 1)) }
            if code == Self.enhanceYourCalm { tooMany(open: members[member].inFlight, now: now) }
        }
        return goaway(member, now: now)
    }

    /// The peer said GOAWAY: nothing new goes to it, and its answers are awaited for so long. A second one gives no more
    /// time.
    mutating func goaway(_ member: Int, now: UInt64) -> [Action] {
        if members[member].closesAt == nil { members[member].closesAt = now + limits.goawayPatience }
        return retire(member)
    }

    /// A PING was answered.
    mutating func ponged(_ member: Int, now: UInt64) {
        members[member].pongedAt = now
        members[member].pingedAt = nil
    }

    /// Asks silent connections for a sign of life, and closes those that give none or have had their time.
    mutating func watchMembers(now: UInt64) -> [Action] {
        var actions: [Action] = []
        for index in members.indices where members[index].phase == .up || members[index].phase == .draining {
            if let time = members[index].closesAt, now >= time {
                actions += silence(index)
            } else if members[index].phase == .up || members[index].answers > 0 {
                actions += watch(index, now: now)
            }
        }
        return actions
    }

    /// This process stood still for so long until now, and what came meanwhile has not been read: PONGs and the answers
    /// after GOAWAY are awaited that much longer.
    mutating func stoodStill(for gap: UInt64, now: UInt64) {
        for index in members.indices {
            let member = members[index]
            if let pinged = member.pingedAt, member.heardAt <= pinged {
                members[index].pingedAt = min(pinged + gap, now)
            }
            members[index].closesAt = member.closesAt.map { min($0 + gap, now + limits.goawayPatience) }
        }
    }

    private mutating func watch(_ index: Int, now: UInt64) -> [Action] {
        let member = members[index]
        if let pinged = member.pingedAt, member.heardAt <= pinged {
            return now >= pinged + limits.pingPatience ? silence(index) : []
        }
        members[index].pingedAt = nil
        let quiet = member.inFlight > 0 ? limits.pingAfter : limits.pingIdleAfter
        guard now >= member.heardAt + quiet else { return [] }
        members[index].pingedAt = now
        return [.ping(member: index)]
    }

    /// Nothing more is expected of it.
    private mutating func silence(_ index: Int) -> [Action] {
        leave(index, to: .closing)
        return [.close(member: index)]
    }

    /// Rows wait and no answer comes: after a while every connection is replaced, again and again, and in the end the pool gives up.
    mutating func watchAnswers(
        now: UInt64, answered: UInt64, hasWork: Bool, othersAnswer: Bool, _ hadAnswers: Bool
    ) -> [Action] {
        let total = inFlight
        watchdog.look(now: now, isWaiting: total > 0 || hasWork && growth.starved && up > 0)
        if answered != watchdog.answered { watchdog = Watchdog(answered: answered, lookedAt: now) }
        let most = hadAnswers ? max(2 * limits.answerPatience, limits.outagePatience) : 2 * limits.answerPatience
        if watchdog.waited >= most {
            guard othersAnswer else { return giveUp(silenceText(watchdog.waited, total)) }
            watchdog = Watchdog(answered: answered, lookedAt: now)
        }
        guard watchdog.waited >= limits.answerPatience * (watchdog.replaced + 1) else { return [] }
        watchdog.replaced += 1
        return members.indices.filter { members[$0].phase == .up }.flatMap { goaway($0, now: now) }
    }

    private func silenceText(_ quiet: UInt64, _ inFlight: Int) -> String {
        let cause = lastFailure.isEmpty ? "" : "; the last failure: \(lastFailure)"
        return "no answer for \(quiet / 1_000_000_000) seconds, \(inFlight) requests under way"
            + " on \(up) connections\(cause)"
    }

    /// How long rows have waited since the last answer. Rows that wait for another attempt ask nobody, so that time does
    /// not count.
    struct Watchdog: Equatable {
        var answered: UInt64 = 0
        var waited: UInt64 = 0
        var lookedAt: UInt64
        /// How often the connections were replaced since then.
        var replaced: UInt64 = 0

        fileprivate mutating func look(now: UInt64, isWaiting: Bool) {
            if isWaiting { waited += ConnectionPool.seen(from: lookedAt, to: now) }
            lookedAt = now
        }
    }
}

/// Limits that fall.
extension ConnectionPool {
    /// The peer changed MAX_CONCURRENT_STREAMS.
    mutating func settings(_ member: Int, streams: Int, now: UInt64) {
        members[member].announced = streams
        members[member].announcedMost = max(members[member].announcedMost, streams)
        members[member].streams = min(streams, streamLimit.allowed)
        if !members[member].isFallen {
            members[member].fallenAt = nil
        } else if members[member].fallenAt == nil {
            members[member].fallenAt = now
        }
    }

    /// One bad request may bring a connection's limit to 1 for good: it gets a successor. A server that does so again and
    /// again gets them ever more slowly.
    mutating func replaceFallen(now: UInt64) -> [Action] {
        guard now >= replacesFallenFrom else { return [] }
        for index in members.indices where members[index].phase == .up && !members[index].isLeaving {
            guard let time = members[index].fallenAt, now >= time + limits.fallenPatience else { continue }
            members[index].isLeaving = true
            let isRare = now >= replacesFallenFrom + 10 * limits.backoffLargest
            fallenReplaced = isRare ? 0 : min(fallenReplaced + 1, 20)
            replacesFallenFrom = now + min(limits.backoffLargest, limits.backoffFirst << fallenReplaced)
            // One without any stream serves nobody meanwhile, and its place may be all that there is.
            return members[index].streams == 0 && members[index].inFlight == 0 ? retire(index) : []
        }
        return []
    }
}
