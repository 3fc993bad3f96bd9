import APNSBatchNotification
import LaneTransport

extension Lane {
    /// One request's end: an outcome for its row, or another attempt.
    mutating func end(_ outcome: OutcomeRecord) {
        let flight = Int(outcome.ticket)
        let answered = outcome.delivery == Delivery.answered.rawValue
        let provider = Int(flights[flight].provider)
        let member = Int(flights[flight].member)
        let accepted = answered && outcome.status == 200
        providers[provider].pool.didEnd(
            member, answered: answered, accepted: accepted, latency: outcome.latency_us, now: now)
        if answered {
            gathering.note(latency: outcome.latency_us)
            if answerSampler.takes(outcome.latency_us) { gauges.note(answerTime: outcome.latency_us) }
        }
        if accepted {
            providers[provider].counts.answered += 1
            finish(flight, .accepted, status: 200)
            if outcome.field_count > 0 { carryUniqueID(outcome) }
            return
        }
        if outcome.failureScope == .http2 {
            providers[provider].pool.wasReset(
                member, code: outcome.code, answered: providers[provider].counts.answered, now: now)
        }
        switch outcome.deliveryState {
        case .answered:
            providers[provider].counts.answered += 1
            refused(flight, outcome)
        case .notSent: notSent(flight, provider, member, outcome)
        case .maybeSent:
            // A connection that lets a request wait for so long may be dead without a word.
            if outcome.failureScope == .timeout { act(providers[provider].pool.retire(member), of: provider) }
            lost(flight, outcome)
        }
    }

    /// In a simulation that must notice it.
    mutating func endSpoilt(_ outcome: OutcomeRecord, _ spoil: (inout OutcomeRecord) -> Bool) {
        var outcome = outcome
        if spoil(&outcome) {
            end(outcome)
        } else {
            let (flight, member) = (Int(outcome.ticket), Int(flights[Int(outcome.ticket)].member))
            let provider = Int(flights[flight].provider)
            providers[provider].pool.didEnd(member, answered: false, accepted: false, now: now)
            if flights[flight].block >= 0 { arena.release(flights[flight].block) }
            flights.release(flight)
        }
    }

    /// It surely did not arrive: sent again, and not counted. At once where the connection is to blame; after a growing
    /// pause where the server refused the stream, and not for ever.
    private mutating func notSent(_ flight: Int, _ provider: Int, _ member: Int, _ outcome: OutcomeRecord) {
        flights[flight].attempts -= 1
        requestCount -= 1
        if outcome.failureScope == .local { providers[provider].pool.hold(member, until: now + Self.holdTime) }
        guard outcome.failureScope == .http2 else { return again(flight, after: 0) }
        flights[flight].refusals += 1
        let refusals = flights[flight].refusals
        if refusals > Self.refusalLimit {
            control.stop(.failure(CampaignError(.unreachable, "\(plan.endpoint) refuses every stream")))
        }
        again(flight, after: Self.refusalPause << UInt64(min(refusals - 1, 8)))
    }

    /// How long a connection that could not take a request is passed over; by then there is news of it.
    private static var holdTime: UInt64 { 5_000_000 }
    /// The first pause after a refused stream, in nanoseconds; it doubles eight times.
    private static var refusalPause: UInt64 { 50_000_000 }
    private static var refusalLimit: UInt8 { 20 }

    /// Records the row's outcome and frees its place.
    mutating func finish(
        _ flight: Int, _ outcome: Outcome, status: UInt16 = 0, timestamp: UInt64 = OutcomeEntry.noTimestamp,
        reason: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        let row = flights[flight]
        sink.record(
            row: row.row, outcome: outcome, status: status, attempts: row.attempts &+ row.past, timestamp: timestamp,
            token: row.token, isHex: !row.isBroadcast, reason: reason,
            ownID: plan.roles.messageID == nil ? nil : UnsafeRawPointer(row.record!) + row.pathLength)
        if row.carriedLength > 0 {
            sink.carry(
                UnsafeRawBufferPointer(start: row.record! + row.carriedOffset, count: Int(row.carriedLength)))
        }
        if row.block >= 0 { arena.release(row.block) }
        flights.release(flight)
    }

    /// Of the row that ended last: the id that the sandbox gives a notification, for the log of Apple's console.
    @inline(never)
    func carryUniqueID(_ outcome: OutcomeRecord) {
        if let id = outcome.captured("apns-unique-id") { sink.carry(text: id) }
    }

    mutating func finish(
        _ flight: Int, _ outcome: Outcome, status: UInt16 = 0, timestamp: UInt64 = OutcomeEntry.noTimestamp,
        cause: String
    ) {
        var cause = cause
        cause.withUTF8 {
            finish(flight, outcome, status: status, timestamp: timestamp, reason: UnsafeRawBufferPointer($0))
        }
    }

    /// The request may have arrived and no answer came: sent again while attempts are left and the policy allows it, else
    /// unknown.
    private mutating func lost(_ flight: Int, _ outcome: OutcomeRecord) {
        noteLost(flight, outcome)
        let attempts = countedAttempts(flight)
        flights[flight].mayHaveArrived = true
        if control.urgent { return leaveOpen(flight) }
        guard mayResend(flight),
            let delay = plan.backoff.short.delay(afterAttempt: attempts, random: random.next())
        else { return finish(flight, .unknown, cause: Self.explain(outcome)) }
        // A resumed run sends it again.
        if control.stopping { return leave(flight) }
        noteRetry(after: "no answer")
        again(flight, after: delay * 1_000_000)
    }

    /// The row goes again, because of an answer or for want of one.
    func noteRetry(after cause: String) { gauges.account.withLock { $0.noteRetry(after: cause) } }

    static func explain(_ outcome: OutcomeRecord) -> String {
        switch outcome.failureScope {
        case .timeout: "no answer within \(outcome.code) ms"
        case .http2: "stream reset, code \(outcome.code)"
        default: "connection lost before the answer"
        }
    }

    /// Puts a row back, to be sent after so many nanoseconds. Its record leaves the arena, so that a row that waits holds
    /// up only itself.
    mutating func again(_ flight: Int, after delay: UInt64) {
        if endIfTooLate(flight, after: delay) { return }
        leaveArena(flight)
        retries.add(flight: flight, due: now + delay)
    }

    /// Gives a row's record an allocation of its own.
    mutating func leaveArena(_ flight: Int) {
        guard flights[flight].block >= 0 else { return }
        let length = flights[flight].recordLength
        let own = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 8)
        own.copyMemory(from: flights[flight].record!, byteCount: length)
        arena.release(flights[flight].block)
        flights[flight].record = own
        flights[flight].block = -1
    }

    /// Takes back a row that this process will not send. It stays without an outcome, and a resumed run sends it. One that
    /// may have arrived is for the policy: unknown, or in the ledger among those that may have been sent.
    mutating func leave(_ flight: Int) {
        guard flights[flight].mayHaveArrived else { return release(flight) }
        guard mayResend(flight) || control.urgent else { return finishUnknown(flight, cause: Self.stoppedBefore) }
        leaveOpen(flight)
    }

    /// The row may have arrived and gets no outcome, as if the process had been killed: the ledger says so, and the policy
    /// of the run that is resumed decides.
    mutating func leaveOpen(_ flight: Int) {
        rows.left(flights[flight].row, place: flights[flight].place)
        release(flight)
    }

    private mutating func release(_ flight: Int) {
        if flights[flight].block >= 0 { arena.release(flights[flight].block) }
        flights.release(flight)
    }

    /// The cause of a row that an earlier process may have sent.
    static var notKnown: String { "under way when the process before this one ended" }

    private static var stoppedBefore: String { "connection lost before the answer and the run stopped" }

    /// Takes over what earlier processes did for a row. True when it has ended as unknown: it may have been sent, and the
    /// policy forbids to send it again.
    mutating func takeOver(_ flight: Int) -> Bool {
        flights[flight].past = rows.pastAttempts
        guard rows.mayHaveBeenSent else { return false }
        flights[flight].mayHaveArrived = true
        guard mayResend(flight) else {
            finishUnknown(flight, cause: Self.notKnown)
            return true
        }
        flights[flight].past |= Attempts.resentBit
        return false
    }

    /// The end of a row that may have arrived. Without a request in this process there was one in an earlier one.
    mutating func finishUnknown(_ flight: Int, cause: String) {
        if flights[flight].attempts == 0 {
            flights[flight].past &= ~Attempts.resentBit
            unknownOfEarlier += 1
        }
        finish(flight, .unknown, cause: cause)
    }

    /// Whether a row goes again that may have been sent.
    func mayResend(_ flight: Int) -> Bool {
        plan.onUnknown.allowsResending(isCollapsible: flights[flight].collapseLength > 0)
    }
}
