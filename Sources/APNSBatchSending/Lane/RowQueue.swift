import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows
import APNSBatchTransport

/// The rows of a lane from the reader to their outcomes: which of them goes next, and what becomes of each.
///
/// Rows wait in three places: fresh ones with the reader, rows that are sent again until their time comes, and rows set
/// aside because all streams of their provider are taken while another one has some.
struct RowQueue: ~Copyable {
    private let plan: CampaignPlan
    private let control: RunControl
    private var source: RowSource
    private var preparer: RowPreparer
    private var arena = SendArena(blocks: Self.arenaBlocks)
    private var flights: FlightTable
    private var retries = RetryQueue()
    private var turns = Turns()
    /// By provider.
    private var aside: [WaitingRows]
    private var sink: OutcomeSink
    /// Rows that ended as unknown because of earlier processes alone.
    private var unknownOfEarlier: UInt64 = 0
    /// Rows of the input that ended in this turn without being sent.
    private var unsentOfTurn = 0
    /// So many rows wait for another attempt that no others are taken; said once.
    private var isFull = false

    /// 32 MiB of address space; few blocks of it are touched unless payloads are large and answers slow.
    private static let arenaBlocks = 512
    /// Rows that may wait for streams of one provider, about a connection's worth, before the lane takes no further row.
    static let asideMost = 1000
    /// Rows set aside in all while no provider has a stream: enough to see who is starved.
    static let lookAhead = 64
    /// Rows of the input that may end unsent in one turn, so that connections are looked after in between.
    static let unsentPerTurn = 4096

    /// - Parameter streams: requests that may be under way.
    init(
        plan: CampaignPlan, control: RunControl, source: consuming RowSource, exchange: OutcomeExchange, streams: Int
    ) {
        self.plan = plan
        self.control = control
        self.source = source
        preparer = RowPreparer(plan: plan)
        flights = FlightTable(capacity: streams + plan.backoff.rowsMax + Self.asideMost * plan.topics.providers)
        aside = Array(repeating: WaitingRows(), count: plan.topics.providers)
        sink = OutcomeSink(exchange)
    }

    /// Where a flight is, until it is released. Traps for an index that was never taken.
    @inline(__always)
    func address(of flight: Int) -> UnsafeMutablePointer<Flight> { flights.address(of: flight) }

    subscript(flight: Int) -> Flight {
        @inline(__always) unsafeAddress { UnsafePointer(flights.address(of: flight)) }
        @inline(__always) unsafeMutableAddress { flights.address(of: flight) }
    }

    var tally: Tally { sink.tally }
    /// Rows that were taken and have no outcome yet.
    var count: Int { flights.count }
    var retrying: Int { retries.count }
    private(set) var setAside = 0
    /// Requests that wait for their answers.
    var underWay: Int { flights.count - retries.count - setAside }
    /// There is no place for another row.
    var hasNoPlace: Bool { flights.isFull || retries.count >= plan.backoff.rowsMax }
    /// So many rows ended unsent that connections are looked after first.
    var hasEndedMany: Bool { unsentOfTurn >= Self.unsentPerTurn }
    /// Seconds since the epoch, some milliseconds old.
    var wallClock: UInt64 { source.wallClock }

    /// What became of the rows that this run sent.
    var canaryCount: Canary.Count {
        Canary.Count(
            accepted: tally[.accepted], rejected: tally[.rejected], unavailable: tally[.unavailable],
            unknown: tally[.unknown] - unknownOfEarlier,
            underWay: UInt64(flights.count))
    }

    /// Whether the reader has no more rows, and none is here.
    mutating func isDone() -> Bool { flights.count == 0 && !source.hasRow() && source.isExhausted }

    /// Whether some row waits for a stream or an answer, or could.
    ///
    /// - Parameter takesFresh: fresh rows may be taken.
    mutating func hasWork(takesFresh: Bool, now: UInt64) -> Bool {
        flights.count > retries.count || retries.isDue(now: now) || takesFresh && source.hasRow()
    }

    var isExhausted: Bool { source.isExhausted }
    func hasAside(_ provider: Int) -> Bool { aside[provider].count > 0 }

    /// Gives header sets that the core does not know yet, and forgets them.
    mutating func takeHeaderSets() -> [(number: UInt16, fields: [HeaderFieldBytes])] {
        defer { preparer.headerSets.didSend() }
        return preparer.headerSets.unsent
    }

    // MARK: The next row

    mutating func beginTurn() { unsentOfTurn = 0 }

    /// The next row to send: one that is due again and a fresh one take turns.
    mutating func next(takesFresh: Bool, now: UInt64) -> Int? {
        if turns.againGoesFirst, let again = takeDue(now: now) { return turns.take(again: again) }
        if takesFresh, let fresh = nextFresh() { return turns.take(fresh: fresh) }
        return takeDue(now: now)
    }

    /// The next row of the input that can be sent; those that cannot get their outcome on the way.
    private mutating func nextFresh() -> Int? {
        while unsentOfTurn < Self.unsentPerTurn, source.hasRow() {
            switch preparer.prepare(source.row, in: &arena, flights: &flights, now: source.wallClock) {
            case .ready(let flight):
                flights[flight].place = UInt32(truncatingIfNeeded: source.place)
                let isLeft = source.isPast && takeOver(flight)
                source.consume()
                if isLeft { continue }
                return flight
            case .noRoom: return nil
            case .invalid(let finding) where source.mayHaveBeenSent && finding.rule.mayHaveBeenOtherwise:
                recordNotKnown()
            case .invalid(let finding): recordInvalid(finding)
            case .expired where source.mayHaveBeenSent: recordNotKnown()
            case .expired: recordUnsent(.expired, cause: RowFault.expired(source.row, plan).text)
            }
            source.consume()
            unsentOfTurn += 1
        }
        return nil
    }

    /// What earlier processes did for a row that this one has in hand; true when the row ended with that.
    private mutating func takeOver(_ flight: Int) -> Bool {
        flights[flight].past = source.pastAttempts
        guard source.mayHaveBeenSent else { return false }
        flights[flight].mayHaveArrived = true
        guard mayResend(flight) else {
            finishUnknown(flight, cause: Self.notKnown)
            return true
        }
        flights[flight].past |= Attempts.resentBit
        return false
    }

    /// The next row that may be sent again now.
    mutating func takeDue(now: UInt64) -> Int? {
        while let flight = retries.takeDue(now: now) {
            if endIfExpired(flight) { continue }
            if flights[flight].mayHaveArrived { flights[flight].past |= Attempts.resentBit }
            return flight
        }
        return nil
    }

    /// Which row may be taken before anybody knows whose it is.
    ///
    /// - Parameter hasStream: whether some provider has one to give.
    func lookAhead(hasStream: @autoclosure () -> Bool) -> LookAhead {
        .allowed(setAside: setAside, most: aside.reduce(0) { max($0, $1.count) }, hasStream: hasStream())
    }

    /// Its record leaves the arena: rows that wait must not hold blocks that the other providers need.
    mutating func setAside(_ flight: Int, of provider: Int) {
        arena.moveOut(&flights[flight].record)
        aside[provider].add(flight, in: &flights)
        setAside += 1
    }

    /// The row of this provider that has waited longest and may still be sent.
    mutating func takeAside(_ provider: Int) -> Int? {
        while let flight = aside[provider].takeFirst(in: &flights) {
            setAside -= 1
            if !endIfExpired(flight) { return flight }
        }
        return nil
    }

    // MARK: Outcomes

    /// Records the row's outcome and frees its place.
    mutating func finish(
        _ flight: Int, _ outcome: Outcome, status: UInt16 = 0, timestamp: UInt64 = OutcomeEntry.noTimestamp,
        reason: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        let ended = UnsafePointer(flights.address(of: flight))
        sink.record(
            row: ended.pointee.row, outcome: outcome, status: status,
            attempts: ended.pointee.attempts &+ ended.pointee.past, timestamp: timestamp,
            token: ended.pointee.record.recipient, isHex: !ended.pointee.record.isBroadcast, reason: reason,
            ownID: plan.roles.messageID == nil ? nil : ended.pointee.record[.id].baseAddress)
        if ended.pointee.record.has(.carried) { sink.carry(ended.pointee.record[.carried]) }
        release(flight)
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

    /// Adds a text to the row that ended last: the id that the sandbox gives a notification, for the log of Apple's console.
    func carry(_ text: UnsafeRawBufferPointer) { sink.carry(text: text) }

    /// The end of a row that may have arrived. Without a request in this process there was one in an earlier one.
    mutating func finishUnknown(_ flight: Int, cause: String) {
        if flights[flight].attempts == 0 {
            flights[flight].past &= ~Attempts.resentBit
            unknownOfEarlier += 1
        }
        finish(flight, .unknown, cause: cause)
    }

    /// Puts a row back, to be sent after so many nanoseconds. Its record leaves the arena, so that a row that waits holds
    /// up only itself. A row that would be too late by then ends.
    mutating func again(_ flight: Int, after delay: UInt64, now: UInt64) {
        if let deadline = plan.deadline, !deadline.leavesTime(after: delay, now: wallClock) {
            return expire(flight, Self.lateCause)
        }
        if endIfExpired(flight, after: delay / 1_000_000_000) { return }
        arena.moveOut(&flights[flight].record)
        retries.add(flight: flight, due: now + delay)
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
        source.left(flights[flight].row, place: flights[flight].place)
        release(flight)
    }

    private mutating func release(_ flight: Int) { flights.release(flight, in: &arena) }

    /// Whether a row goes again that may have been sent.
    func mayResend(_ flight: Int) -> Bool {
        plan.onUnknown.allowsResending(isCollapsible: flights[flight].record.has(.collapseID))
    }

    private mutating func recordInvalid(_ finding: RowFinding) {
        recordUnsent(.invalid, status: finding.rule.code, cause: finding.text)
    }

    /// - Parameter status: as in `OutcomeEntry`.
    private mutating func recordUnsent(_ outcome: Outcome, status: UInt16 = 0, cause: String, attempts: UInt16 = 0) {
        var cause = cause
        let (row, token) = (source.row, preparer.tokenText(of: source.row))
        withUnsafeTemporaryAllocation(byteCount: max(MessageID.length, CarriedFields.bytesMax), alignment: 8) { room in
            let hasOwnID = attempts > 0 && preparer.writeOwnID(of: row, to: room.baseAddress!)
            cause.withUTF8 { cause in
                sink.record(
                    row: row.row, outcome: outcome, status: status, attempts: attempts, token: token,
                    reason: UnsafeRawBufferPointer(cause), ownID: hasOwnID ? room.baseAddress.map { .init($0) } : nil)
            }
            let carried = preparer.writeCarried(row, to: room)
            if carried > 0 { sink.carry(UnsafeRawBufferPointer(rebasing: room[..<carried])) }
        }
    }

    /// The end of a row that an earlier process may have sent, and that cannot be sent now.
    private mutating func recordNotKnown() {
        unknownOfEarlier += 1
        recordUnsent(.unknown, cause: Self.notKnown, attempts: max(1, source.pastAttempts))
    }

    // MARK: Rows whose time has passed

    /// After the campaign's deadline nothing is sent, and what is left ends here; true when there may be more.
    mutating func endLateRows() -> Bool {
        while let flight = takeWaiting() { expire(flight, Self.lateCause) }
        for _ in 0..<Self.unsentPerTurn {
            guard source.hasRow() else { return false }
            if let error = source.row.error {
                recordInvalid(RowFault.find(error, plan))
            } else if source.mayHaveBeenSent {
                recordNotKnown()
            } else {
                recordUnsent(.expired, cause: Self.lateCause)
            }
            source.consume()
        }
        return true
    }

    /// Whether the row's own time will have passed in so many seconds; it has ended then.
    private mutating func endIfExpired(_ flight: Int, after seconds: UInt64 = 0) -> Bool {
        guard flights[flight].expiration?.hasPassed(now: Int64(wallClock + seconds)) == true else { return false }
        expire(flight, Self.ownCause)
        return true
    }

    /// The end of a row that may not be sent any more. What APNs said of it stays said, and what may have arrived may have
    /// arrived: only a row that was never sent is expired.
    private mutating func expire(_ flight: Int, _ cause: String) {
        switch flights[flight].lastWord {
        case .neverSent: finish(flight, .expired, cause: cause)
        case .refused(let status, let reason):
            let outcome: Outcome = LaneAnswers.isUnavailability(status) ? .unavailable : .rejected
            finish(flight, outcome, status: status, cause: reason?.text ?? "")
        case .noAnswer: finishUnknown(flight, cause: cause)
        }
    }

    // MARK: Time and the end

    /// Every few milliseconds. Says when so many rows wait that no others are taken, and again only after it got better.
    mutating func tick() {
        source.refreshClock()
        if retries.count < plan.backoff.rowsMax / 4 * 3 { isFull = false }
        guard !isFull, retries.count >= plan.backoff.rowsMax else { return }
        isFull = true
        plan.log.retriesFull(retries.count)
    }

    mutating func handOver() { sink.handOver() }

    /// Why all rows wait for another attempt; nil when there are none.
    var backingOff: CampaignProgress.Waiting? {
        guard let flight = retries.first, !control.stopping else { return nil }
        guard flights[flight].lastStatus > 0 else { return .backingOff(cause: "requests without an answer") }
        let reason = flights[flight].lastReason.map { " \($0.text)" } ?? ""
        return .backingOff(cause: "\(flights[flight].lastStatus)\(reason)")
    }

    /// Takes no further row, and gives up those that wait for their turn.
    mutating func giveUpWaiting() {
        source.abandon()
        while let flight = takeWaiting() { leave(flight) }
    }

    /// A row that waits for its turn, due or not; nil when there is none.
    private mutating func takeWaiting() -> Int? {
        if let flight = retries.takeAny() { return flight }
        guard let provider = aside.firstIndex(where: { $0.count > 0 }) else { return nil }
        setAside -= 1
        return aside[provider].takeFirst(in: &flights)
    }

    /// Hands over the last outcomes. Rows still under way, after a failure of the loop itself, may have arrived and stay open.
    mutating func finishUp() {
        giveUpWaiting()
        for flight in flights.taken() { leaveOpen(flight) }
        sink.finish()
    }

    private static let lateCause = "not after: the campaign's deadline has passed"
    private static let ownCause = "expiration: passed before the row could be sent"
    private static let notKnown = "in flight when the previous process ended"
    private static let stoppedBefore = "connection lost before the answer and the run stopped"
}
