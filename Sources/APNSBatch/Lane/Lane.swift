import APNSProtocol
import LaneTransport

/// One sending thread: takes chunks, turns rows into requests just as streams become free, polls, and turns answers into
/// outcomes. It owns its loop, its connections and its memory; nothing here is shared but the queues at its ends.
///
/// Each provider has a pool of connections of its own here, so that one connection never carries two teams.
///
/// A turn of the lane: fill free streams with rows that are due again and then with new ones, submit them in one crossing,
/// poll, act on events and outcomes. Nothing is queued in front of the network: while no stream is free no row is taken,
/// and that is the back-pressure of the whole campaign.
struct Lane: ~Copyable {
    let plan: CampaignPlan
    let control: RunControl
    let gauges: LaneGauges
    let addresses: AddressBook
    let directory: ProviderDirectory
    let board: AnswerBoard
    let number: Int

    var transport: Transport
    /// The TLS configuration of providers without a client certificate.
    let tls: Int32
    // Never replaced, and yet no let: the thread sanitizer's instrumentation takes the lane's first field for what is
    // written through one, and finds a race that is none.
    var providers: LaneProviders
    /// Of the directory, when the providers' credentials were last taken from there.
    var generation: Int
    /// Rows set aside, over all providers.
    var waiting = 0
    /// Answers when the time was last looked at, over all providers.
    var answeredThen: UInt64 = 0
    /// So many rows wait for another attempt that no others are taken; said once.
    var isFull = false
    var rows: RowSource
    var preparer: RowPreparer
    var arena: SendArena
    var flights: FlightTable
    var retries = RetryQueue()
    var turns = Turns()
    var requests = RequestBatch()
    var sink: OutcomeSink
    var random: SplitMix

    var now: UInt64
    var load: LaneLoad
    var gathering: Gathering
    var answerSampler = AnswerSampler()
    var nextTick: UInt64 = 0
    var nextHandOver: UInt64 = 0
    /// When it is next looked at how APNs is.
    var nextHealth: UInt64 = 0
    /// Requests to some provider are spaced, so that the next one is due soon.
    var isPaced = false
    var stopDeadline: UInt64?
    /// The campaign's deadline has passed.
    var isLate = false
    /// What the gauges show of it.
    var shown = LaneActivity.idle
    /// While this lane sends the campaign's first rows, and the others wait.
    var canary: Canary?
    /// Rows that ended as unknown because of earlier processes alone.
    var unknownOfEarlier: UInt64 = 0
    /// Requests handed to connections, but for those that surely did not arrive.
    var requestCount: UInt64 = 0
    /// Rows of the input that ended in this turn without being sent.
    var unsentOfTurn = 0

    /// Milliseconds between two looks at time and control when nothing arrives.
    private static let idleWait: UInt32 = 10
    /// The same while requests are spaced.
    private static let pacedWait: UInt32 = 1
    /// Times in nanoseconds.
    static let tickInterval: UInt64 = 5_000_000
    static let handOverInterval: UInt64 = 50_000_000
    /// Rows that may wait for streams of one provider, about a connection's worth, before the lane takes no further row.
    static let waitingLimit = 1000
    /// Rows set aside in all while no provider has a stream: enough to see who is starved.
    static let lookAhead = 64
    /// Rows of the input that may end unsent in one turn, so that connections are looked after in between.
    static let unsentPerTurn = 4096
    /// With fewer requests than this under way, waiting for more answers would cost more time than it saves work.
    static let lingerFrom = 128

    /// Runs until every row it took has its outcome.
    mutating func run() throws(TransportError) {
        while try turn() {}
        finishUp()
    }

    /// One turn; false once every row it took has its outcome and `finishUp` may follow.
    mutating func turn() throws(TransportError) -> Bool {
        // What became too old meanwhile, such as a provider token, is replaced before anything is sent with it.
        if look() { tick() }
        let filled = fill()
        try submit()
        if isFinished() { return false }
        let harvest = try transport.poll(timeout: wait(after: filled), linger: linger(after: filled))
        _ = look()
        // A connection's last event comes after the outcomes of its requests, perhaps in the same harvest.
        if let spoil = plan.surroundings.spoil {
            for outcome in harvest.outcomes { endSpoilt(outcome, spoil) }
        } else {
            for outcome in harvest.outcomes { end(outcome) }
        }
        publishAnswers()
        judgeCanary()
        for event in harvest.events { act(on: event) }
        tick()
        return true
    }

    /// Looks at the time. A lane looks every few milliseconds, so a long pause says that this process stood still: what
    /// waits for a peer waits that much longer. True after such a pause.
    private mutating func look() -> Bool {
        let before = now
        now = transport.now
        guard now > before + ConnectionPool.standstill else { return false }
        let gap = now - before
        stopDeadline = stopDeadline.map { $0 + gap }
        for provider in providers.indices { providers[provider].pool.stoodStill(for: gap, now: now) }
        return true
    }

    /// Hands over the last outcomes. Rows still under way, after a failure of the loop itself, may have arrived and stay open.
    mutating func finishUp() {
        giveUpWaiting()
        endCanary()
        for flight in flights.taken() { leaveOpen(flight) }
        sink.finish()
        publish()
        gauges.show(.idle)
    }

    // MARK: Filling streams

    /// How a turn's filling ended.
    enum Filled {
        /// There is more to send and room to send it.
        case batch
        /// Every stream is taken: answers come first.
        case allStreams
        /// No row is there, or memory waits for outcomes.
        case allThatGoes
    }

    /// Takes rows while there are streams for them.
    private mutating func fill() -> Filled {
        guard !control.stopping else { return .allThatGoes }
        if isLate { return endLateRows() }
        unsentOfTurn = 0
        guard !sendsNothing else { return .allThatGoes }
        grant()
        // Never more than the core has places for: connections that drain hold some of them.
        let room = min(RequestBatch.capacity, transport.streamsFree)
        let isFull = isProbing ? fillProbe(room) : providers.count == 1 ? fillOne(room) : fillSeveral(room)
        settleGrants()
        if isFull && room == RequestBatch.capacity || unsentOfTurn >= Self.unsentPerTurn { return .batch }
        return providers.indices.contains { providers[$0].pool.hasStream } ? .allThatGoes : .allStreams
    }

    /// True when the room is used up.
    private mutating func fillOne(_ room: Int) -> Bool {
        while requests.count < room {
            guard let member = stream(of: 0), let flight = nextFlight() else { return false }
            send(flight, to: member, of: 0)
        }
        return true
    }

    mutating func nextFlight() -> Int? {
        if turns.againGoesFirst, let again = takeDue() { return turns.take(again: again) }
        if mayTakeFresh, !flights.isFull, let fresh = nextRow() {
            return turns.take(fresh: fresh)
        }
        return takeDue()
    }

    /// Whether there is room for a row of the input.
    ///
    /// Inline, for the compiler passes the bytes of a lane, all 1,488 of them, to what only looks at it.
    @inline(__always)
    var mayTakeFresh: Bool { retries.count < plan.backoff.rowsMax && mayTakeRow }

    /// The next row that can be sent; those that cannot get their outcome on the way.
    private mutating func nextRow() -> Int? {
        while unsentOfTurn < Self.unsentPerTurn, rows.hasRow() {
            switch preparer.prepare(rows.row, in: &arena, flights: &flights, now: rows.wallClock) {
            case .ready(let flight):
                flights[flight].place = UInt32(truncatingIfNeeded: rows.place)
                let isLeft = rows.isPast && takeOver(flight)
                rows.consume()
                if isLeft { continue }
                return flight
            case .noRoom: return nil
            case .invalid(let finding) where rows.mayHaveBeenSent && finding.rule.mayHaveBeenOtherwise:
                recordNotKnown()
            case .invalid(let finding):
                recordInvalid(finding)
            case .expired where rows.mayHaveBeenSent: recordNotKnown()
            case .expired: recordUnsent(.expired, cause: RowFault.expired(rows.row, plan).text)
            }
            rows.consume()
            unsentOfTurn += 1
        }
        return nil
    }

    mutating func recordInvalid(_ finding: RowFinding) {
        recordUnsent(.invalid, status: finding.rule.code, cause: finding.text)
    }

    /// - Parameter status: as in `OutcomeEntry`.
    mutating func recordUnsent(_ outcome: Outcome, status: UInt16 = 0, cause: String, attempts: UInt16 = 0) {
        var cause = cause
        let token = preparer.tokenText(of: rows.row)
        withUnsafeTemporaryAllocation(byteCount: MessageID.length, alignment: 8) { id in
            let hasOwnID = attempts > 0 && preparer.writeOwnID(of: rows.row, to: id.baseAddress!)
            cause.withUTF8 { cause in
                sink.record(
                    row: rows.row.row, outcome: outcome, status: status, attempts: attempts, token: token,
                    reason: UnsafeRawBufferPointer(cause), ownID: hasOwnID ? id.baseAddress.map { .init($0) } : nil)
            }
        }
        if !preparer.resultColumns.isEmpty { carryUnsent() }
    }

    private func carryUnsent() {
        withUnsafeTemporaryAllocation(byteCount: CarriedFields.bytesMax, alignment: 1) { room in
            let length = preparer.writeCarried(rows.row, to: room.baseAddress!)
            sink.carry(UnsafeRawBufferPointer(rebasing: room[..<Int(length)]))
        }
    }

    /// The end of a row that an earlier process may have sent, and that cannot be sent now.
    mutating func recordNotKnown() {
        unknownOfEarlier += 1
        recordUnsent(.unknown, cause: Self.notKnown, attempts: max(1, rows.pastAttempts))
    }

    mutating func send(_ flight: Int, to member: Int, of provider: Int) {
        flights[flight].member = UInt16(member)
        flights[flight].attempts += 1
        requests.add(flights[flight], ticket: flight, connection: providers[provider].pool.members[member].connection)
        providers[provider].pool.willSend(member)
    }

    private mutating func submit() throws(TransportError) {
        guard !requests.isEmpty else { return }
        for (number, fields) in preparer.headerSets.unsent { try transport.defineHeaderSet(number, fields) }
        preparer.headerSets.didSend()
        try transport.submit(requests.records)
        requestCount += UInt64(requests.count)
        requests.removeAll()
    }

    // MARK: Waiting

    /// Milliseconds until something must be done even if nothing arrives.
    private func wait(after filled: Filled) -> UInt32 {
        if filled == .batch { return 0 }
        return isPaced ? Self.pacedWait : Self.idleWait
    }

    /// Let answers gather only when there is nothing better to do and many are awaited.
    private func linger(after filled: Filled) -> UInt32 {
        guard underWay >= Self.lingerFrom else { return 0 }
        return switch filled {
        case .batch: 0
        case .allStreams: isPaced ? Gathering.least : gathering.time
        case .allThatGoes: Gathering.least
        }
    }

    /// Requests that wait for their answers.
    private var underWay: Int { flights.count - retries.count - waiting }

    private mutating func tick() {
        guard now >= nextTick else { return }
        nextTick = now + Self.tickInterval
        reload()
        noteAnswers()
        load.look(now: now)
        gathering.look()
        let othersAnswer = board.hasAnswers(within: plan.poolLimits.patience, now: now)
        var hasAnyWork = false
        for provider in providers.indices {
            openWhatIsKnown(provider)
            let (answered, hasWork) = (providers[provider].counts.answered, hasWork(provider))
            hasAnyWork = hasAnyWork || hasWork
            act(
                providers[provider].pool.tick(
                    now: now, answered: answered, hasWork: hasWork, isBusy: load.isBusy, othersAnswer: othersAnswer,
                    hadAnswers: board.hasAnswers(of: provider)),
                of: provider)
            if !providers[provider].pool.isChanging { forgetPrevious(of: provider) }
        }
        rows.refreshClock()
        lookForCanary()
        lookAtRetries()
        isLate = plan.deadline?.hasPassed(now: rows.wallClock) ?? false
        publish()
        showActivity(hasWork: hasAnyWork)
        if now >= nextHandOver {
            sink.handOver()
            nextHandOver = now + Self.handOverInterval
        }
    }

    func publish() {
        gauges.publish(
            sink.tally.outcomes, connections: providers.sum(\.up), streams: providers.sum(\.streamsShown),
            inFlight: providers.sum(\.inFlight), opened: providers.sum(\.opened), retrying: retries.count,
            requests: requestCount, longestAnswer: answerSampler.longest)
    }

    // MARK: The end

    /// True when all rows are done, or when the run stops and nothing is awaited any more.
    private mutating func isFinished() -> Bool {
        if control.stopping { return isStopped() }
        guard flights.count == 0 else { return false }
        // A lane that got no stream has not looked for rows yet; it needs no connection to see that there are none.
        return !rows.hasRow() && rows.isExhausted
    }

    /// Requests under way get their time to be answered; rows that wait for their turn are given up at once.
    private mutating func isStopped() -> Bool {
        giveUpWaiting()
        let deadline = stopDeadline ?? now + plan.stopPatience
        stopDeadline = deadline
        guard flights.count > 0 else { return true }
        guard now >= deadline || control.urgent else { return false }
        for provider in providers.indices {
            for member in providers[provider].pool.members where member.phase != .free {
                transport.close(member.connection)
            }
        }
        return false
    }

    /// Takes no further row, and gives up those that wait for their turn.
    private mutating func giveUpWaiting() {
        rows.abandon()
        while let flight = takeWaiting() { leave(flight) }
    }

    /// A row that waits for its turn, due or not; nil when there is none.
    mutating func takeWaiting() -> Int? {
        if let flight = retries.takeAny() { return flight }
        for provider in providers.indices {
            guard let flight = providers[provider].waiting.takeFirst(in: flights) else { continue }
            waiting -= 1
            return flight
        }
        return nil
    }
}
