import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// The rows of a lane from the reader to their outcomes. Selects the next row to send, and records what becomes of each.
///
/// Rows wait in three places: fresh rows with the reader, rows that are sent again in the retry queue until they are due,
/// and rows that are set aside while all streams of their provider are taken and another provider has some.
struct LaneRows<Origin: LaneOrigin & ~Copyable>: ~Copyable {
    private let plan: CampaignPlan
    private let control: RunControl
    /// Whether some rows may not be selected.
    private let isSelective: Bool
    /// Whether rows may have ids of their own.
    private let hasOwnIDs: Bool
    private var source: Origin
    private var preparer: RowPreparer
    private var arena = SendArena(blocks: LaneLimits.arenaBlocks)
    private var flights: FlightTable
    private var retries = RetryQueue()
    private var turns = Turns()
    /// The rows that are set aside, by provider.
    private var aside: [WaitingRows]
    private var sink: OutcomeSink
    /// The number of rows that ended as unknown because of earlier sessions alone.
    private var unknownOfEarlier: UInt64 = 0
    /// The number of rows of the input that ended in this turn without being sent.
    private var unsentOfTurn = 0
    /// Whether so many rows wait for another attempt that no others are taken. Logged once.
    private var isFull = false
    /// The time in seconds since the epoch, some milliseconds old.
    private(set) var wallClock: UInt64

    /// - Parameter streams: The largest number of requests in flight.
    init(
        plan: CampaignPlan, control: RunControl, source: consuming Origin, exchange: OutcomeExchange, streams: Int
    ) {
        self.plan = plan
        self.control = control
        self.source = source
        hasOwnIDs = plan.roles.messageID != nil
        wallClock = plan.surroundings.seconds()
        isSelective = plan.selection != nil
        preparer = RowPreparer(plan: plan)
        flights = FlightTable(capacity: streams + plan.backoff.rowsMax + LaneLimits.asideMost * plan.topics.providers)
        aside = Array(repeating: WaitingRows(), count: plan.topics.providers)
        sink = OutcomeSink(exchange)
    }

    /// Returns the address of a flight, valid until it is released. Traps for an index that was never taken.
    @inline(__always)
    func address(of ticket: Int) -> UnsafeMutablePointer<Flight> { unsafe flights.address(of: ticket) }

    subscript(ticket: Int) -> Flight {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(flights.address(of: ticket)) }
        @inline(__always) unsafeMutableAddress { unsafe flights.address(of: ticket) }
    }

    var tally: Tally { sink.tally }
    /// The number of rows that were taken of the input to be sent.
    var taken: UInt64 { tally.rows - tally[.suppressed] + UInt64(flights.count) }
    /// The number of rows that were taken and have no outcome yet.
    var count: Int { flights.count }
    var retrying: Int { retries.count }
    private(set) var setAside = 0
    /// The number of requests in flight.
    var inFlight: Int { flights.count - retries.count - setAside }
    /// Whether there is no room for the outcomes of more rows, because the program does not take its results.
    var isHeldUp: Bool { sink.room <= flights.count }
    /// Whether there is no room for another row.
    var hasNoRoom: Bool { flights.isFull || retries.count >= plan.backoff.rowsMax }
    /// Whether so many rows ended unsent in this turn that connections must be looked after first.
    var hasEndedMany: Bool { unsentOfTurn >= LaneLimits.unsentPerTurn }

    /// The outcomes of the rows that this session sent, for the canary.
    var canaryCount: Canary.Count {
        var count = Canary.Count(outcomes: tally.outcomes, open: UInt64(flights.count))
        count.outcomes[.unknown] -= unknownOfEarlier
        return count
    }

    /// Whether neither the reader nor the lane has another row.
    var isDone: Bool { flights.count == 0 && source.isAtEnd }

    /// Looks for a row of the input if there is no other: a lane without a free stream has not done so, and needs no
    /// connection to find that there is none.
    mutating func lookForRow() { if flights.count == 0 { source.advance() } }

    /// Whether any row is set aside, in flight or due again, or could be taken from the input.
    ///
    /// - Parameter takesFresh: Whether fresh rows may be taken.
    mutating func hasWork(takesFresh: Bool, now: UInt64) -> Bool {
        flights.count > retries.count || retries.isDue(now: now) || takesFresh && source.advance()
    }

    /// Whether there is a row to send now, apart from rows in flight.
    ///
    /// - Parameter takesFresh: Whether fresh rows may be taken.
    mutating func hasRow(takesFresh: Bool, now: UInt64) -> Bool {
        setAside > 0 || retries.isDue(now: now) || takesFresh && source.advance()
    }

    var isExhausted: Bool { source.isExhausted }
    /// Returns the time that was spent waiting for the writer since the last call, in nanoseconds.
    mutating func takeWriterWait() -> UInt64 { sink.takeWait() }
    func hasAside(_ provider: Int) -> Bool { aside[provider].count > 0 }

    /// Returns the header sets that the core does not have yet, and counts them as given to it.
    mutating func takeHeaderSets() -> [(number: UInt16, fields: [HeaderFieldBytes])] {
        defer { preparer.headerSets.didSend() }
        return preparer.headerSets.unsent
    }

    #if DEBUG
        /// Each row that was taken is in one place.
        func checkSums() {
            var waiting = 0
            for provider in aside.indices { waiting += aside[provider].count }
            assert(waiting == setAside, "a row that is set aside waits for one provider")
            assert(inFlight >= 0, "a row that waits was taken and has no outcome")
            assert(unknownOfEarlier <= tally[.unknown], "rows that are unknown since an earlier session are counted")
        }
    #endif

    // MARK: The next row

    mutating func beginTurn() {
        #if DEBUG
            checkSums()
        #endif
        unsentOfTurn = 0
        sink.look()
    }

    /// Returns the next row to send. Rows that are due again and fresh rows alternate.
    mutating func next(takesFresh: Bool, now: UInt64) -> Int? {
        if turns.againGoesFirst, let again = takeDue(now: now) { return turns.take(again: again) }
        if takesFresh, let fresh = nextFresh() { return turns.take(fresh: fresh) }
        return takeDue(now: now)
    }

    /// Logs the warnings about a row's payload, each rule once.
    @inline(never)
    private mutating func warn() {
        guard plan.namesRows else { return }
        for finding in preparer.findings(of: source.row, cardNumbers: false) where finding.severity == .warning {
            plan.log.suspectRow(finding)
        }
    }

    /// Returns the next row of the input that can be sent. Records the outcomes of those before it that cannot.
    private mutating func nextFresh() -> Int? {
        while unsentOfTurn < LaneLimits.unsentPerTurn, !isHeldUp, source.advance() {
            if source.isBeforeFirst {
                endBeforeFirst()
                continue
            }
            if isSelective, endIfUnselected() { continue }
            switch preparer.prepare(source.row, in: &arena, flights: &flights, now: wallClock) {
            case .ready(let ticket):
                if preparer.verdict.hasWarning, source.row.row <= RowPreparer.rowsWithTextsOfRun { warn() }
                flights[ticket].indexInRange = UInt32(truncatingIfNeeded: source.indexInRange)
                source.didTake(ticket)
                let hasEnded = source.isPast && takeOver(ticket)
                source.consume()
                if hasEnded { continue }
                return ticket
            case .noRoom: return nil
            // If an earlier session could not have sent the row either, it is invalid although the hand-over file counts it.
            case .invalid(let finding) where source.mayHaveArrived && finding.rule.mayHaveBeenOtherwise:
                recordUnknown()
            case .invalid(let finding): recordInvalid(finding)
            case .expired where source.mayHaveArrived: recordUnknown()
            case .expired: recordExpired(cause: RowFault.expired(source.row, plan).text)
            }
            source.consume()
            unsentOfTurn += 1
        }
        return nil
    }

    /// Ends the row before the first one that is sent. An earlier session, which began elsewhere, may have sent it.
    @inline(never)
    private mutating func endBeforeFirst() {
        if source.mayHaveArrived {
            recordUnknown()
        } else {
            recordUnsent(.suppressed, cause: Cause.beforeFirst, attempts: Attempts(bits: source.pastAttempts))
        }
        source.consume()
        unsentOfTurn += 1
    }

    /// Ends the row if the campaign does not select it, and returns whether it ended. The selection cannot change during a run, so that no session
    /// has sent the row, even if it was noted ahead in the hand-over file. A row that cannot be read is invalid.
    @inline(never)
    private mutating func endIfUnselected() -> Bool {
        guard plan.leavesOut(source.row) else { return false }
        recordUnsent(.suppressed, cause: RowSelection.reason)
        source.consume()
        unsentOfTurn += 1
        return true
    }

    /// Applies what earlier sessions did for a row to its flight. Returns whether the row has ended with that.
    private mutating func takeOver(_ ticket: Int) -> Bool {
        flights[ticket].past = Attempts(bits: source.pastAttempts)
        flights[ticket].pastCounted = source.pastCounted
        guard source.mayHaveArrived else { return false }
        flights[ticket].mayHaveArrived = true
        guard mayResend(ticket) else {
            finishUnknown(ticket, cause: Cause.inFlightBefore)
            return true
        }
        flights[ticket].past.isResent = true
        return false
    }

    /// Returns the next row that is due again and may still be sent.
    mutating func takeDue(now: UInt64) -> Int? {
        while let ticket = retries.takeDue(now: now) {
            if endIfExpired(ticket) { continue }
            if flights[ticket].mayHaveArrived { flights[ticket].past.isResent = true }
            return ticket
        }
        return nil
    }

    /// Returns which rows may be taken before their provider is known.
    ///
    /// - Parameter hasStream: Whether some provider has a free stream.
    func lookAhead(hasStream: @autoclosure () -> Bool) -> LookAhead {
        .allowed(setAside: setAside, most: aside.reduce(0) { max($0, $1.count) }, hasStream: hasStream())
    }

    /// Sets a row aside. Its record leaves the arena, because rows that wait must not hold blocks that other providers need.
    mutating func setAside(_ ticket: Int, of provider: Int) {
        assert(Int(flights[ticket].provider) == provider, "a row waits for its own provider")
        assert(!flights[ticket].record.isNone, "a row that is set aside has no outcome")
        arena.moveOut(&flights[ticket].record)
        aside[provider].add(ticket, in: &flights)
        setAside += 1
    }

    /// Returns the row of this provider that was set aside first and may still be sent.
    mutating func takeAside(_ provider: Int) -> Int? {
        while let ticket = aside[provider].takeFirst(in: &flights) {
            setAside -= 1
            if flights[ticket].isInterrupted {
                release(ticket)
            } else if !endIfExpired(ticket) {
                return ticket
            }
        }
        return nil
    }

    // MARK: Outcomes

    /// Ends a row that APNs accepted. Inlined, because nearly every row ends here, without a reason and a timestamp.
    @inline(__always)
    mutating func accept(_ ticket: Int, answerTime: UInt32) {
        unsafe record(
            ticket, .accepted, status: 200, answerTime: answerTime,
            reason: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Records the outcome of a row and frees its slot.
    @inline(__always)
    private mutating func record(
        _ ticket: Int, _ outcome: Outcome, status: UInt16, answerTime: UInt32,
        timestamp: UInt64 = OutcomeEntry.noTimestamp, reason: UnsafeRawBufferPointer
    ) {
        let ended = unsafe UnsafePointer(flights.address(of: ticket))
        assert(unsafe !ended.pointee.record.isNone, "a row that was taken gets one outcome")
        unsafe sink.record(
            row: ended.pointee.row, outcome: outcome, status: status,
            attempts: Attempts(bits: ended.pointee.attempts &+ ended.pointee.past.bits), answerTime: answerTime,
            timestamp: timestamp, token: ended.pointee.record.recipient, isHex: !ended.pointee.record.isBroadcast,
            reason: reason,
            ownID: hasOwnIDs ? ended.pointee.record[.id].baseAddress : nil)
        if unsafe ended.pointee.record.has(.carried) { unsafe sink.carry(ended.pointee.record[.carried]) }
        flights.release(ticket, in: &arena)
    }

    /// - Parameter answerTime: The time that the answer took, in microseconds; 0 if it is not known any more.
    mutating func finish(
        _ ticket: Int, _ outcome: Outcome, status: UInt16 = 0, answerTime: UInt32 = 0,
        timestamp: UInt64 = OutcomeEntry.noTimestamp, cause: String
    ) {
        var cause = cause
        cause.withUTF8 {
            unsafe record(
                ticket, outcome, status: status, answerTime: answerTime, timestamp: timestamp,
                reason: UnsafeRawBufferPointer($0))
        }
    }

    /// Adds a text to the row that ended last: the `apns-unique-id` of the sandbox, for the log in Apple's console.
    func carry(_ text: UnsafeRawBufferPointer) { unsafe sink.carry(text: text) }

    /// Ends a row that may have arrived. If this session sent no request for it, an earlier one did.
    mutating func finishUnknown(_ ticket: Int, cause: String) {
        if flights[ticket].attempts == 0 {
            flights[ticket].past.isResent = false
            unknownOfEarlier += 1
        }
        finish(ticket, .unknown, cause: cause)
    }

    /// Puts a row back, to be sent again after `delay` nanoseconds. Its record leaves the arena, so that it does not keep a
    /// block in use. A row that would be too late by then ends.
    mutating func again(_ ticket: Int, after delay: UInt64, now: UInt64) {
        assert(!flights[ticket].record.isNone, "a row that is sent again has no outcome")
        if flights[ticket].isInterrupted { return release(ticket) }
        guard CampaignDeadline(seconds: control.deadline).leavesTime(after: delay, now: wallClock) else {
            return expire(ticket, lateCause)
        }
        if endIfExpired(ticket, after: delay / 1_000_000_000) { return }
        arena.moveOut(&flights[ticket].record)
        retries.add(ticket: ticket, due: now + delay)
    }

    /// Leaves a row that this session will not send to a resumed run. It stays without an outcome. For a row
    /// that may have arrived the policy decides: it ends as unknown, or stays in the ledger as one that may have arrived.
    mutating func postpone(_ ticket: Int) {
        guard flights[ticket].mayHaveArrived else { return leave(ticket, flights[ticket].lastWord.arrival) }
        guard mayResend(ticket) || control.urgent else { return finishUnknown(ticket, cause: Cause.stoppedBefore) }
        postponeUnanswered(ticket)
    }

    /// Leaves a row that may have arrived to a resumed run, as if the process had been killed. It stays without an outcome,
    /// it stays in the ledger as one that may have arrived, and the policy of the resumed run decides.
    mutating func postponeUnanswered(_ ticket: Int) {
        source.noteUnanswered(flights[ticket].row, indexInRange: flights[ticket].indexInRange)
        leave(ticket, .maybeSent)
    }

    /// Frees a row without an outcome. The notification of a sender ends with an error, because it cannot be resumed.
    private mutating func leave(_ ticket: Int, _ arrival: Arrival) {
        assert(!flights[ticket].record.isNone, "a row that is left to a resumed run has no outcome")
        if flights[ticket].attempts > 0 { noteAttempts(of: flights[ticket]) }
        source.giveUp(flights[ticket].row, arrival)
        release(ticket)
    }

    @inline(never)
    private mutating func release(_ ticket: Int) { flights.release(ticket, in: &arena) }

    /// Whether a row that may have arrived is sent again.
    func mayResend(_ ticket: Int) -> Bool {
        plan.onUnknown.allowsResending(isCollapsible: flights[ticket].record.has(.collapseID))
    }

    private mutating func recordInvalid(_ finding: RowFinding) {
        recordUnsent(.invalid, status: finding.rule.code, cause: finding.text)
    }

    /// - Parameter status: The code of an `OutcomeEntry`.
    private mutating func recordUnsent(_ outcome: Outcome, status: UInt16 = 0, cause: String, attempts: Attempts = 0) {
        var cause = cause
        let (row, token) = unsafe (source.row, preparer.tokenText(of: source.row))
        unsafe withUnsafeTemporaryAllocation(byteCount: max(MessageID.length, CarriedFields.bytesMax), alignment: 8) {
            room in
            let hasOwnID = unsafe attempts != 0 && preparer.writeOwnID(of: row, to: room.baseAddress!)
            cause.withUTF8 { cause in
                unsafe sink.record(
                    row: row.row, outcome: outcome, status: status, attempts: attempts, token: token,
                    reason: UnsafeRawBufferPointer(cause), ownID: hasOwnID ? room.baseAddress.map { .init($0) } : nil)
            }
            let carried = unsafe preparer.writeCarried(row, to: room)
            if carried > 0 { unsafe sink.carry(UnsafeRawBufferPointer(rebasing: room[..<carried])) }
        }
    }

    /// Records the requests for a row that is left to a resumed run, so that it counts them, too.
    private func noteAttempts(of flight: Flight) {
        source.noteAttempts(
            of: flight.row, indexInRange: flight.indexInRange, attempts: flight.past.count &+ flight.attempts,
            counted: UInt16(clamping: flight.countedAttempts))
    }

    /// Records a row that was not sent in time. An earlier session may have sent it, and APNs have refused it for then.
    private mutating func recordExpired(cause: String) {
        recordUnsent(.expired, cause: cause, attempts: Attempts(bits: source.pastAttempts))
    }

    /// Records a row that may have arrived in an earlier session and cannot be sent now. It ends as unknown.
    private mutating func recordUnknown() {
        unknownOfEarlier += 1
        recordUnsent(.unknown, cause: Cause.inFlightBefore, attempts: Attempts(bits: max(1, source.pastAttempts)))
    }

    // MARK: Rows whose time has passed

    /// Ends rows after the campaign's deadline, when nothing is sent any more. Returns whether there may be more of them.
    mutating func endLateRows() -> Bool {
        while let ticket = takeWaiting() { expire(ticket, lateCause) }
        for _ in 0..<LaneLimits.unsentPerTurn {
            guard source.advance() else { return false }
            if source.isBeforeFirst {
                endBeforeFirst()
                continue
            }
            if isSelective, endIfUnselected() { continue }
            if let error = source.row.error {
                recordInvalid(RowFault.find(error, plan))
            } else if source.mayHaveArrived {
                recordUnknown()
            } else {
                recordExpired(cause: lateCause)
            }
            source.consume()
        }
        return true
    }

    /// Ends a row if its expiration will have passed in this many seconds. Returns whether it ended.
    private mutating func endIfExpired(_ ticket: Int, after seconds: UInt64 = 0) -> Bool {
        guard flights[ticket].expiration?.hasPassed(now: Int64(wallClock + seconds)) == true else { return false }
        expire(ticket, Cause.ownCause)
        return true
    }

    /// Ends a row that may not be sent any more. It is expired only if it was never sent. Otherwise its outcome is that of
    /// the last answer, or unknown if it may have arrived.
    private mutating func expire(_ ticket: Int, _ cause: String) {
        switch flights[ticket].lastWord {
        case .neverSent: finish(ticket, .expired, cause: cause)
        case .refused(let status, let reason):
            let outcome: Outcome = LaneAnswers<Origin>.isUnavailability(status) ? .unavailable : .rejected
            finish(ticket, outcome, status: status, cause: reason?.text ?? "")
        case .noAnswer: finishUnknown(ticket, cause: cause)
        }
    }

    // MARK: Time and the end

    /// Called every few milliseconds. Logs when so many rows wait for another attempt that no others are taken, and again
    /// only after their number has fallen below three quarters of the limit.
    mutating func tick() {
        wallClock = plan.surroundings.seconds()
        source.tick(inFlight: inFlight)
        if retries.count < plan.backoff.rowsMax / 4 * 3 { isFull = false }
        guard !isFull, retries.count >= plan.backoff.rowsMax else { return }
        isFull = true
        plan.log.retriesFull(retries.count)
    }

    mutating func flushOutcomes() { sink.flushEarly(taken: flights.count) }

    /// Why rows wait for another attempt, or nil if there are none.
    var backingOff: CampaignProgress.Waiting? {
        guard let ticket = retries.first, !control.stopping else { return nil }
        guard flights[ticket].lastStatus > 0 else { return .backingOff(cause: "requests without an answer") }
        let reason = flights[ticket].lastReason.map { " \($0.text)" } ?? ""
        return .backingOff(cause: "\(flights[ticket].lastStatus)\(reason)")
    }

    /// Takes no further row, and leaves those that wait for another attempt or a stream to a resumed run.
    mutating func postponeWaiting() {
        source.abandon()
        while let ticket = takeWaiting() { postpone(ticket) }
    }

    /// Removes and returns a row that waits for another attempt or a stream, due or not, or nil if there is none.
    private mutating func takeWaiting() -> Int? {
        if let ticket = retries.takeAny() { return ticket }
        guard let provider = aside.firstIndex(where: { $0.count > 0 }) else { return nil }
        setAside -= 1
        return aside[provider].takeFirst(in: &flights)
    }

    /// Flushes the last outcomes. Rows still in flight, after a failure of the event loop, may have arrived and stay
    /// without an outcome.
    mutating func finishUp() {
        postponeWaiting()
        for ticket in flights.taken() { postponeUnanswered(ticket) }
        assert(flights.count == 0, "each row that was taken has an outcome, or is left to a resumed run")
        sink.finish()
    }

    /// Why nothing is sent any more.
    private var lateCause: String { control.isAbandoned ? Cause.abandoned : Cause.pastDeadline }
}

/// The reasons of outcomes that no answer has.
private enum Cause {
    static let pastDeadline = "not after: the campaign's deadline has passed"
    static let abandoned = "Abandoned"
    static let beforeFirst = "BeforeFirstRow"
    static let ownCause = "expiration: passed before the row could be sent"
    static let inFlightBefore = "in flight when the previous process ended"
    static let stoppedBefore = "connection lost before the answer and the run stopped"
}

/// The limits of a lane's rows.
enum LaneLimits {
    /// The number of blocks: 32 MiB of address space, of which few blocks are touched unless payloads are large and answers
    /// slow.
    static let arenaBlocks = 512
    /// The number of rows set aside for one provider at which the lane takes no fresh row; about as many as a connection has
    /// streams.
    static let asideMost = 1000
    /// The number of rows that may be set aside in all while no provider has a stream; enough to see which provider lacks
    /// streams.
    static let lookAhead = 64
    /// The number of rows of the input that may end unsent in one turn, so that connections are looked after in between.
    static let unsentPerTurn = 4096
}

/// What only a sender needs of its lanes.
extension LaneRows where Origin == MailboxRows {
    /// Ends the submissions whose results are not awaited any more, because their tasks were cancelled or their time is over.
    mutating func endInterrupted() {
        let (mailbox, lane) = (source.mailbox, source.lane)
        guard mailbox.hasInterrupted(lane: lane) else { return }
        for (id, why) in mailbox.takeInterrupted(lane: lane) { interrupt(id, why) }
    }

    private mutating func interrupt(_ id: UInt64, _ why: Mailbox.Interruption) {
        if source.drop(id) { return source.mailbox.fail(id, why, .notSent) }
        guard let ticket = source.ticket(of: id), flights[ticket].row == id, !flights[ticket].record.isNone else {
            return
        }
        source.mailbox.fail(id, why, arrival(ticket))
        if retries.remove(ticket: ticket) {
            flights.release(ticket, in: &arena)
        } else {
            // Its request is in flight, or it is set aside. It is freed when it comes back.
            flights[ticket].isInterrupted = true
        }
    }

    /// How far the last request of a flight got, as far as it is known before its end.
    private func arrival(_ ticket: Int) -> Arrival {
        if flights[ticket].attempts > 0, !retries.contains(ticket: ticket) { return .maybeSent }
        return flights[ticket].lastWord.arrival
    }

    /// Passes the outcomes of a turn on to the tasks that await them.
    mutating func deliver() { sink.flush() }

    /// Looks at the deadlines of all submissions. Returns whether the sender ends, because of its grace period.
    func tickMailbox(now: UInt64) -> Mailbox.Ending {
        source.mailbox.isWatched(by: source.lane) ? source.mailbox.tick(now: now) : .none
    }

    /// Whether the lane may wait for anything now; not if there is a submission. It is woken for the next one.
    func mayWait() -> Bool { source.mailbox.mayWait(lane: source.lane) }

    func didWait() { source.mailbox.didWait(lane: source.lane) }

    /// Whether neither this lane nor another one has a submission, so that no deadline passes.
    var isIdle: Bool { flights.count == 0 && source.mailbox.pending == 0 }
}
