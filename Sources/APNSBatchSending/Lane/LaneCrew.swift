import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchTransport

/// The lanes of a run, and what they share. Starts a thread for each, and waits until all have ended.
package final class LaneCrew: Sendable {
    private let plan: CampaignPlan
    private let control: RunControl
    private let gauges: [LaneGauges]
    private let addresses: AddressBook
    private let providers: ProviderDirectory
    private let input: LaneInput
    /// The queues by which the lanes pass outcomes to the writer.
    package let exchange: OutcomeExchange
    private let counters: SharedCounters
    private let rate: RunRate
    private let watch: InvalidRowsWatch?
    private let wakers: [LaneWaker]
    private let rowsLeft: @Sendable () -> UInt64?
    private let done = Guarded(LoopKind.automatic)
    /// Has an element for each lane that has passed on its last outcome.
    private let finished: BoundedQueue<Void>

    /// - Parameters:
    ///   - exchange: How outcomes leave the lanes.
    ///   - watchesRows: Whether the run ends when too many rows are invalid.
    ///   - rowsLeft: Returns the number of rows without an outcome, or nil if it is not known.
    package init(
        plan: CampaignPlan, control: RunControl, gauges: [LaneGauges], addresses: AddressBook,
        providers: ProviderDirectory, input: LaneInput, rate: RunRate, exchange: OutcomeExchange,
        watchesRows: Bool = false,
        rowsLeft: @escaping @Sendable () -> UInt64? = { nil }
    ) {
        self.plan = plan
        self.control = control
        self.gauges = gauges
        self.addresses = addresses
        self.providers = providers
        self.input = input
        counters = SharedCounters(
            plan.breaker, outage: plan.outage, lanes: gauges.count, providers: plan.topics.providers)
        (self.rate, self.rowsLeft, self.exchange) = (rate, rowsLeft, exchange)
        watch =
            watchesRows && plan.judgesRows ? InvalidRowsWatch(plan.brokenInput.whileSending, lanes: gauges.count) : nil
        wakers = gauges.map { _ in LaneWaker() }
        finished = BoundedQueue(capacity: gauges.count)
    }

    /// The event loop of a lane that has ended; `automatic` before.
    package var loop: LoopKind { done.withLock { $0 } }

    /// Wakes all lanes from their polls, because there is something new for them.
    @Sendable package func wake() { for waker in wakers { waker.wake() } }

    /// Wakes one lane.
    @Sendable package func wake(_ lane: Int) { wakers[lane].wake() }

    /// Runs the lanes. Returns when all of them have ended.
    package func run() {
        let lanes = start()
        waitForOutcomes(of: lanes)
        lanes.join()
    }

    /// Starts the lanes.
    package func start() -> ThreadGroup {
        ThreadGroup("lane", count: gauges.count, failed: fail) { [self] in work($0) }
    }

    /// Returns when all lanes have passed on their last outcomes. They close their connections in order afterwards, for which nothing
    /// that is written of the run waits for.
    package func waitForOutcomes(of lanes: borrowing ThreadGroup) {
        for _ in 0..<lanes.count { _ = finished.pop() }
    }

    /// Creates a lane on the calling thread, which must be the one that runs it.
    package func makeLane(_ number: Int) throws(TransportError) -> DrivenLane {
        switch input {
        case .chunks(let queue, let reader, let handOvers):
            let rows = FeedRows(
                queue: queue, handOvers: handOvers, cursor: reader.makeCursor(), firstSent: plan.firstRow)
            return DrivenLane(try makeLane(number, of: rows))
        case .mailbox(let mailbox, let columns):
            return DrivenLane(try makeLane(number, of: MailboxRows(mailbox, columns: columns, lane: number)))
        }
    }

    private func makeLane<Origin: LaneOrigin & ~Copyable>(
        _ number: Int, of origin: consuming Origin
    ) throws(TransportError) -> Lane<Origin> {
        try Lane(
            plan: plan, control: control, gauges: gauges[number], addresses: addresses, providers: providers,
            origin: origin, exchange: exchange, waker: wakers[number], counters: counters, rate: rate, number: number,
            spread: number == 0 ? spread : nil, watch: watch)
    }

    private var spread: RowSpread {
        RowSpread(rate, start: plan.start, wallClock: plan.surroundings.seconds(), rowsLeft: rowsLeft)
    }

    private func work(_ number: Int) {
        do {
            let lane = try makeLane(number)
            do {
                while try lane.turn() {}
            } catch {
                fail(error)
            }
            lane.finishUp()
            let loop = lane.loop
            done.withLock { $0 = loop }
            finished.push(())
            // Its transport ends with it, and closes its connections in order.
            _ = consume lane
        } catch {
            fail(error)
            finished.push(())
        }
    }

    private func fail(_ error: any Error) {
        control.stop(.failure(CampaignError(.system, "\(error)", cause: error)))
    }
}
