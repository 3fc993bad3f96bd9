import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRecords
import APNSBatchRows
import APNSBatchTransport

/// One sending thread: takes chunks, turns rows into requests just as streams become free, polls, and turns answers into
/// outcomes. It owns its loop, its connections and its memory; nothing here is shared but the queues at its ends.
///
/// A turn of the lane: fill free streams with rows that are due again and then with new ones, submit them in one crossing,
/// poll, act on outcomes and events. Nothing is queued in front of the network: while no stream is free no row is taken,
/// and that is the back-pressure of the whole campaign.
package struct Lane: ~Copyable {
    private let plan: CampaignPlan
    private let control: RunControl
    private let gauges: LaneGauges
    private let board: AnswerBoard
    private var connections: LaneConnections
    private var queue: RowQueue
    private var admission: Admission
    private var answers: LaneAnswers
    private var requests = RequestBatch()
    private var load: LaneLoad
    private var nextTick: UInt64 = 0
    private var nextHandOver: UInt64 = 0
    private var stopDeadline: UInt64?
    /// What the gauges show of it.
    private var shown = LaneActivity.idle

    /// Times in nanoseconds.
    private static let tickInterval: UInt64 = 5_000_000
    private static let handOverInterval: UInt64 = 50_000_000

    /// Makes a lane on the calling thread, which is the one that must run it.
    package init(
        plan: CampaignPlan, control: RunControl, gauges: LaneGauges, addresses: AddressBook,
        providers directory: ProviderDirectory, chunks: BoundedQueue<InputChunk>, cursor: consuming RowCursor,
        exchange: OutcomeExchange, handOver: HandOverBoard? = nil, waker: LaneWaker, board: AnswerBoard, number: Int
    ) throws(TransportError) {
        var connections = try LaneConnections(
            plan, control: control, addresses: addresses, directory: directory, account: gauges.account)
        if number == 0, connections.loopRefusal != 0 { plan.log.ioUringRefused(connections.loopRefusal) }
        let now = connections.now
        (self.plan, self.control, self.gauges, self.board) = (plan, control, gauges, board)
        let source = RowSource(
            queue: chunks, board: handOver, cursor: cursor, seconds: plan.surroundings.seconds)
        queue = RowQueue(
            plan: plan, control: control, source: source, exchange: exchange, streams: LaneConnections.streams(plan))
        admission = Admission(plan: plan, control: control, lane: number)
        let health = LaneHealth(plan: plan, control: control, board: board, number: number, now: now)
        answers = LaneAnswers(plan: plan, control: control, gauges: gauges, health: health, now: now)
        load = LaneLoad(now: now, worked: plan.surroundings.worked)
        // The last step that can fail is behind us: a waker must not keep a transport that is gone.
        connections.attach(waker)
        self.connections = connections
    }

    /// The loop that runs.
    var loop: LoopKind { connections.loop }
    /// Its number in a simulated world.
    package var number: UInt32 { connections.number }

    /// Runs until every row it took has its outcome.
    mutating func run() throws(TransportError) {
        while try turn() {}
        finishUp()
    }

    /// One turn; false once every row it took has its outcome and `finishUp` may follow.
    package mutating func turn() throws(TransportError) -> Bool {
        // What became too old meanwhile, such as a provider token, is replaced before anything is sent with it.
        if look() { tick() }
        let hold = fill()
        try submit()
        if isFinished() { return false }
        let harvest = try connections.poll(
            timeout: admission.wait(hold),
            linger: admission.linger(hold, underWay: queue.underWay, answers.gathering))
        _ = look()
        // A connection's last event comes after the outcomes of its requests, perhaps in the same harvest.
        for outcome in harvest.outcomes { answers.end(outcome, &queue, &connections) }
        answers.health.publish(connections, isHeld: admission.sendsNothing)
        admission.judgeCanary(queue)
        for event in harvest.events { connections.act(on: event) }
        if !harvest.events.isEmpty { nextTick = connections.now }
        tick()
        return true
    }

    /// Looks at the time. A lane looks every few milliseconds, so a long pause says that this process stood still: what
    /// waits for a peer waits that much longer. True after such a pause.
    private mutating func look() -> Bool {
        let before = connections.now
        connections.lookAtTime()
        guard connections.now > before + ConnectionPool.standstill else { return false }
        let gap = connections.now - before
        stopDeadline = stopDeadline.map { $0 + gap }
        connections.stoodStill(for: gap)
        return true
    }

    // MARK: Filling streams

    /// Takes rows while there are streams for them. Gives why there are no more.
    private mutating func fill() -> Admission.Hold {
        if let hold = admission.hold { return hold == .late && queue.endLateRows() ? .batch : hold }
        queue.beginTurn()
        admission.beginTurn(&connections, &answers.health)
        // Never more than the core has places for: connections that drain hold some of them.
        let room = min(RequestBatch.capacity, connections.streamsFree)
        let isFull =
            admission.isProbing ? fillProbe(room) : connections.providers.count == 1 ? fillOne(room) : fillSeveral(room)
        admission.endTurn(connections, &answers.health)
        if isFull && room == RequestBatch.capacity || queue.hasEndedMany { return .batch }
        return connections.haveStream ? .rows : .streams
    }

    /// True when the room is used up.
    private mutating func fillOne(_ room: Int) -> Bool {
        while requests.count < room {
            guard let member = admission.stream(of: 0, &connections), let flight = next() else { return false }
            send(flight, to: member, of: 0)
        }
        return true
    }

    /// Sends a probe if its time has come.
    private mutating func fillProbe(_ room: Int) -> Bool {
        guard room > 0, let member = admission.stream(of: 0, &connections),
            let flight = queue.takeDue(now: connections.now) ?? next()
        else { return false }
        send(flight, to: member, of: 0)
        return false
    }

    /// Takes rows as long as some provider has a stream. A row whose own provider has none is set aside, so that a slow
    /// team does not hold up the others; true when the room is used up.
    private mutating func fillSeveral(_ room: Int) -> Bool {
        for provider in connections.providers {
            while queue.hasAside(provider), requests.count < room,
                let member = admission.stream(of: provider, &connections), let flight = queue.takeAside(provider)
            {
                send(flight, to: member, of: provider)
            }
        }
        while requests.count < room {
            guard let flight = nextOfSeveral() else { return false }
            let provider = Int(queue[flight].provider)
            if let member = admission.stream(of: provider, &connections) {
                send(flight, to: member, of: provider)
            } else {
                queue.setAside(flight, of: provider)
            }
        }
        return true
    }

    private mutating func next() -> Int? {
        queue.next(takesFresh: admission.takesFresh(queue), now: connections.now)
    }

    private mutating func nextOfSeveral() -> Int? {
        switch queue.lookAhead(hasStream: connections.haveStream) {
        case .anyRow: next()
        case .dueRow: queue.takeDue(now: connections.now)
        case .nothing: nil
        }
    }

    @inline(__always)
    private mutating func send(_ flight: Int, to member: Int, of provider: Int) {
        let sent = queue.address(of: flight)
        sent.pointee.member = UInt16(truncatingIfNeeded: member)
        sent.pointee.attempts += 1
        requests.add(sent, ticket: flight, connection: connections.id(provider, member))
        connections.pools[provider].willSend(member)
    }

    private mutating func submit() throws(TransportError) {
        guard !requests.isEmpty else { return }
        try connections.submit(requests.records, queue.takeHeaderSets())
        answers.didSubmit(requests.count)
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
        queue.tick()
        admission.tick(wallClock: queue.wallClock)
        publish()
        showActivity(hasWork: hasWork)
        if now >= nextHandOver {
            queue.handOver()
            nextHandOver = now + Self.handOverInterval
        }
    }

    /// Whether any provider has work.
    private mutating func tickPools() -> Bool {
        let othersAnswer = answers.health.othersAnswer(now: connections.now)
        var hasAnyWork = false
        for provider in connections.providers {
            let hasWork = hasWork(provider)
            hasAnyWork = hasAnyWork || hasWork
            connections.tick(
                provider, answered: answers.health.answered(provider), hasWork: hasWork, isBusy: load.isBusy,
                othersAnswer: othersAnswer, hadAnswers: answers.health.hasAnswers(of: provider))
        }
        return hasAnyWork
    }

    /// Whether a provider needs connections. The only one connects before there is a row; of several each does when there
    /// is one for it.
    private mutating func hasWork(_ provider: Int) -> Bool {
        let isAsked = connections.pools[provider].inFlight > 0
        if admission.sendsNothing { return isAsked }
        guard connections.providers.count == 1 else { return isAsked || queue.hasAside(provider) }
        // Rows that wait for another attempt ask nobody meanwhile, and where no other may be taken nobody waits.
        if queue.hasWork(takesFresh: admission.takesFresh(queue), now: connections.now) { return true }
        return !connections.pools[provider].everUp && !queue.isExhausted
    }

    private func publish() {
        gauges.publish(
            queue.tally.outcomes, connections: connections.sum(\.up), streams: connections.sum(\.members.streamsShown),
            inFlight: connections.sum(\.inFlight), opened: connections.sum(\.opened), retrying: queue.retrying,
            requests: answers.requests, longestAnswer: answers.longestAnswer)
    }

    private mutating func showActivity(hasWork: Bool) {
        let activity = admission.activity(hasWork: hasWork, queue, connections, answers.health)
        if case .waiting(let reason) = activity { plan.log.waiting(reason, now: connections.now) }
        guard activity != shown else { return }
        shown = activity
        gauges.show(activity)
    }

    // MARK: The end

    /// True when all rows are done, or when the run stops and nothing is awaited any more.
    private mutating func isFinished() -> Bool {
        if control.stopping { return isStopped() }
        // A lane that got no stream has not looked for rows yet; it needs no connection to see that there are none.
        return !admission.takesNone && queue.isDone()
    }

    /// Requests under way get their time to be answered; rows that wait for their turn are given up at once.
    private mutating func isStopped() -> Bool {
        queue.giveUpWaiting()
        let deadline = stopDeadline ?? connections.now + plan.stopPatience
        stopDeadline = deadline
        guard queue.count > 0 else { return true }
        if connections.now >= deadline || control.urgent { connections.closeAll() }
        return false
    }

    /// Hands over the last outcomes.
    package mutating func finishUp() {
        queue.finishUp()
        admission.endCanary()
        publish()
        gauges.show(.idle)
    }
}
