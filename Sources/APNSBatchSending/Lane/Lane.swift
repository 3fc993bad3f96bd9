import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchTransport

/// A sending thread: takes chunks, turns rows into requests as streams become free, polls, and turns answers into outcomes.
/// It owns its event loop, its connections and its memory, and exchanges batches with other threads through queues.
///
/// A turn fills free streams with rows that are due again and with fresh ones, submits the requests in one call, polls, and
/// handles completions and events. No requests are queued before the network: while no stream is free, no row is taken. This is
/// the back-pressure of the whole campaign.
struct Lane<Origin: LaneOrigin & ~Copyable>: ~Copyable {
    private let plan: CampaignPlan
    private let control: RunControl
    private let gauges: LaneGauges
    private var connections: LaneConnections
    private var rows: LaneRows<Origin>
    private var admission: Admission
    private var answers: LaneAnswers<Origin>
    private var requests = RequestBatch()
    private var load: LaneLoad
    private var holds: HoldMeter
    /// Only one lane of a run has it.
    private var spread: RowSpread?
    /// The index of the lane.
    private let index: Int
    /// Nil if no share of invalid rows is too large.
    private let watch: InvalidRowsWatch?
    private var nextTick: UInt64 = 0
    private var nextFlush: UInt64 = 0
    /// The number of requests that ended in the last turn.
    private var answersOfTurn = 0
    private var stopDeadline: UInt64?
    /// The number of requests that were handed to connections, including those that did not leave.
    private(set) var handedOver = 0
    /// The activity that the gauges show.
    private var shown = LaneActivity.idle

    /// The intervals of `tick` and of flushing outcomes, in nanoseconds.
    private static var tickInterval: UInt64 { 5_000_000 }
    private static var flushInterval: UInt64 { 50_000_000 }

    /// Creates a lane on the calling thread, which must be the one that runs it.
    init(
        plan: CampaignPlan, control: RunControl, gauges: LaneGauges, addresses: AddressBook,
        providers directory: ProviderDirectory, origin: consuming Origin, exchange: OutcomeExchange, waker: LaneWaker,
        counters: SharedCounters, rate: RunRate, number: Int, spread: RowSpread? = nil,
        watch: InvalidRowsWatch? = nil
    ) throws(TransportError) {
        var connections = try LaneConnections(
            plan, control: control, addresses: addresses, directory: directory, account: gauges.account,
            mayGiveUp: Origin.mayGiveUp)
        if number == 0, connections.loopRefusal != 0 { plan.log.ioUringRefused(connections.loopRefusal) }
        let now = connections.now
        (self.plan, self.control, self.gauges, self.spread) = (plan, control, gauges, spread)
        (index, self.watch) = (number, watch)
        rows = LaneRows(
            plan: plan, control: control, source: origin, exchange: exchange,
            streams: LaneConnections.streams(plan))
        admission = Admission(plan: plan, control: control, rate: rate, lane: number)
        let health = LaneHealth(plan: plan, control: control, counters: counters, number: number, now: now)
        answers = LaneAnswers(plan: plan, control: control, gauges: gauges, health: health, now: now)
        load = LaneLoad(now: now, worked: plan.surroundings.worked)
        holds = HoldMeter(now: now)
        // Only after the last step that can fail: a waker must not keep a transport that is gone.
        connections.attach(waker)
        self.connections = connections
    }

    /// The kind of event loop in use.
    var loop: LoopKind { connections.loop }
    /// The number of the lane in a simulated world.
    var number: UInt32 { connections.number }

    /// Runs one turn. Returns false when all rows that were taken are done and `finishUp` may follow.
    mutating func turn() throws(TransportError) -> Bool {
        // After a pause of the process, what became too old, such as a provider token, is replaced before anything is sent
        // with it.
        if readClock() { tick() }
        Origin.beginTurn(&rows)
        let hold = fill()
        try submit()
        if control.stopping { windDown() } else if !admission.awaitsCanary { rows.lookForRow() }
        if rows.isDone { return false }
        let timeout = Origin.wait(hold, admission, &rows, connections, answered: answersOfTurn)
        if timeout >= Admission.serviceWait { publish() }
        #if DEBUG
            checkSums()
        #endif
        let harvest = try connections.poll(
            timeout: timeout, linger: Origin.linger(hold, admission, inFlight: rows.inFlight, answers.gathering))
        Origin.didWait(rows)
        readClock(after: timeout)
        holds.note(
            admission.reported(hold, &rows, &connections), writing: rows.takeWriterWait(), now: connections.now)
        // Completions come before events: the last event of a connection follows those of its requests, perhaps in the
        // same harvest.
        for index in unsafe harvest.completions.indices {
            unsafe answers.end(harvest.completions[index], &rows, &connections)
        }
        answersOfTurn = unsafe harvest.completions.count
        answers.health.publish(connections, sendsNothing: admission.sendsNothing)
        admission.judgeCanary(&rows)
        for index in unsafe harvest.events.indices { unsafe connections.act(on: harvest.events[index]) }
        if unsafe !harvest.events.isEmpty { nextTick = connections.now }
        Origin.endTurn(&rows)
        tick()
        return true
    }

    /// Reads the clock. A gap much longer than the wait means that this process stood still; deadlines of the lane and its
    /// connections are moved by the gap. Returns whether there was one.
    ///
    /// - Parameter wait: For how long the lane meant to wait since it last read the clock, in microseconds.
    @discardableResult
    private mutating func readClock(after wait: UInt32 = 0) -> Bool {
        let due = connections.now + UInt64(wait) * 1000
        connections.readClock()
        guard connections.now > due + ConnectionPool.standstill else { return false }
        let gap = connections.now - due
        stopDeadline = stopDeadline.map { max($0, $0 &+ gap) }
        connections.stoodStill(for: gap)
        return true
    }

    #if DEBUG
        /// Compares the rows with the connections, after all requests of a turn were handed over.
        private func checkSums() {
            assert(rows.inFlight == connections.sum(\.inFlight), "each row in flight is one request of one connection")
        }
    #endif

    // MARK: Filling streams

    /// Takes rows while there are streams for them. Returns why it stopped.
    private mutating func fill() -> Admission.Hold {
        if let hold = admission.hold {
            if hold == .late, rows.endLateRows() { return .batch }
            return hold
        }
        rows.beginTurn()
        admission.beginTurn(&connections, &answers.health)
        // Not more than the core has room for, since draining connections hold some.
        let most = min(RequestBatch.capacity, connections.streamsFree)
        let room = admission.takeFromRate(most, &rows, now: connections.now)
        let isFull =
            admission.isProbing ? fillProbe(room) : connections.providers.count == 1 ? fillOne(room) : fillSeveral(room)
        admission.endTurn(connections, &answers.health)
        if admission.settleRate(used: requests.count, now: connections.now) { return .rate }
        if isFull && room == RequestBatch.capacity || rows.hasEndedMany { return .batch }
        return connections.haveStream ? .rows : .streams
    }

    /// Takes rows for the only provider. Returns whether the room is used up.
    private mutating func fillOne(_ room: Int) -> Bool {
        while requests.count < room {
            guard let member = admission.stream(of: 0, &connections), let ticket = next() else { return false }
            send(ticket, to: member, of: 0)
        }
        return true
    }

    /// Sends a probe if one is due.
    private mutating func fillProbe(_ room: Int) -> Bool {
        guard room > 0, let member = admission.stream(of: 0, &connections),
            let ticket = rows.takeDue(now: connections.now) ?? next()
        else { return false }
        send(ticket, to: member, of: 0)
        return false
    }

    /// Takes rows while some provider has a free stream. A row whose own provider has none is set aside, so that a slow
    /// provider does not hold up the others. Returns whether the room is used up.
    private mutating func fillSeveral(_ room: Int) -> Bool {
        for provider in connections.providers {
            while rows.hasAside(provider), requests.count < room,
                let member = admission.stream(of: provider, &connections), let ticket = rows.takeAside(provider)
            {
                send(ticket, to: member, of: provider)
            }
        }
        while requests.count < room {
            guard let ticket = nextOfSeveral() else { return false }
            let provider = Int(rows[ticket].provider)
            if let member = admission.stream(of: provider, &connections) {
                send(ticket, to: member, of: provider)
            } else {
                rows.setAside(ticket, of: provider)
            }
        }
        return true
    }

    private mutating func next() -> Int? {
        rows.next(takesFresh: admission.takesFresh(&rows), now: connections.now)
    }

    private mutating func nextOfSeveral() -> Int? {
        switch rows.lookAhead(hasStream: connections.haveStream) {
        case .anyRow: next()
        case .dueRow: rows.takeDue(now: connections.now)
        case .nothing: nil
        }
    }

    @inline(__always)
    private mutating func send(_ ticket: Int, to member: Int, of provider: Int) {
        let sent = unsafe rows.address(of: ticket)
        unsafe sent.pointee.member = UInt16(truncatingIfNeeded: member)
        unsafe sent.pointee.attempts += 1
        unsafe requests.add(sent, ticket: ticket, connection: connections.id(provider, member))
        connections.pools[provider].willSend(member)
    }

    private mutating func submit() throws(TransportError) {
        guard !requests.isEmpty else { return }
        try unsafe connections.submit(requests.records, rows.takeHeaderSets())
        answers.didSubmit(requests.count)
        handedOver += requests.count
        if admission.isRateLimited { admission.handedOver(requests.count, at: connections.clock) }
        requests.removeAll()
    }

    // MARK: Time

    private mutating func tick() {
        let now = connections.now
        guard now >= nextTick else { return }
        nextTick = now + Self.tickInterval
        connections.reload()
        answers.tick(now: now)
        load.look(now: now)
        let hasWork = tickPools()
        connections.lookAtWindows()
        rows.tick()
        admission.tick(wallClock: rows.wallClock)
        spread?.look(now: now)
        Origin.tick(rows, control, now: now)
        if let trip = watch?.note(lane: index, rows: rows.taken, invalid: rows.tally[.invalid]) {
            control.stop(.failure(trip.error(ofInput: plan.inputName)))
        }
        publish()
        showActivity(hasWork: hasWork)
        if holds.look(now: now) { gauges.show(holds.hold) }
        if now >= nextFlush {
            rows.flushOutcomes()
            nextFlush = now + Self.flushInterval
        }
    }

    /// Updates the pools of all providers. Returns whether any provider has work.
    private mutating func tickPools() -> Bool {
        // Where nobody gives up, rows end when their time is over.
        let othersAnswer = !Origin.mayGiveUp || answers.health.othersAnswer(now: connections.now)
        var hasAnyWork = false
        for provider in connections.providers {
            let hasWork = hasWork(provider)
            hasAnyWork = hasAnyWork || hasWork
            connections.tick(
                provider, answered: answers.health.answered(provider), hasWork: hasWork, isBusy: load.isBusy,
                othersAnswer: othersAnswer, hadAnswers: answers.health.hasAnswers(of: provider),
                view: answers.health.view(provider, now: connections.now))
            answers.health.publishServing(provider, connections.pools[provider], now: connections.now)
        }
        return hasAnyWork
    }

    /// Whether a provider needs connections. A sole provider connects before there is a row; one of several connects when
    /// there is a row for it.
    private mutating func hasWork(_ provider: Int) -> Bool {
        let isAsked = connections.pools[provider].inFlight > 0
        if Origin.keepsConnections, connections.pools[provider].up == 0, !rows.isExhausted { return true }
        if admission.sendsNothing { return isAsked }
        guard connections.providers.count == 1 else { return isAsked || rows.hasAside(provider) }
        // Rows that wait for another attempt need no connection meanwhile, nor do rows that may not be taken.
        if rows.hasWork(takesFresh: admission.takesFresh(&rows), now: connections.now) { return true }
        return !connections.pools[provider].everUp && !rows.isExhausted
    }

    private func publish() {
        gauges.publish(
            rows.tally.outcomes, connections: connections.sum(\.up), streams: connections.sum(\.members.streamsShown),
            inFlight: connections.sum(\.inFlight), opened: connections.sum(\.opened), goaways: connections.goaways,
            retrying: rows.retrying, requests: answers.requests)
    }

    private mutating func showActivity(hasWork: Bool) {
        let activity = admission.activity(hasWork: hasWork, rows, connections, answers.health)
        if case .waiting(let reason) = activity { plan.log.waiting(reason, now: connections.now) }
        guard activity != shown else { return }
        shown = activity
        gauges.show(activity)
    }

    // MARK: The end

    /// Ends what a stopping lane does. Waiting rows are given up at once; requests in flight have until the deadline to be
    /// answered. Without one the run is stopped at once when its time is over, as a sender at the end of its grace period.
    private mutating func windDown() {
        rows.postponeWaiting()
        let deadline = stopDeadline ?? (Origin.mayGiveUp ? connections.now + plan.stopPatience : .max)
        stopDeadline = deadline
        if rows.count > 0, connections.now >= deadline || control.urgent { connections.closeAll() }
    }

    /// Flushes the last outcomes and publishes the final counts.
    mutating func finishUp() {
        rows.finishUp()
        admission.endCanary()
        publish()
        gauges.show(.idle)
    }
}
