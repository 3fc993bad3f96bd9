import APNSProtocol
import LaneTransport
import Logging

/// A run in one thread, driven from outside turn by turn: for a simulation. What the threads of a run do is done here in
/// steps, over the same lanes, reader and queues.
package final class SteppedRun {
    /// One row's end, as the results would have it.
    package struct RowOutcome: Equatable, Sendable {
        package var row: UInt64
        package var outcome: Outcome
        package var status: UInt16
        package var attempts: UInt16
        package var reason: String
    }

    private let plan: CampaignPlan
    private let control: RunControl
    private let reader: InputReader
    private let exchange: OutcomeExchange
    private let wakers: [LaneWaker]
    private var lanes: [SteppedLane?]
    private var isRead = false
    /// Of rows that have ended, in the order in which the lanes told.
    package private(set) var outcomes: [RowOutcome] = []

    /// - Parameter surroundings: with a world.
    package init(
        _ campaign: Campaign, logger: Logger, surroundings: Surroundings
    ) throws(CampaignError) {
        let count = campaign.lanes ?? 1
        reader = try InputReader(campaign, lanes: count, limits: surroundings.csvLimits)
        plan = try CampaignPlan(campaign, columns: reader.columns, logger: logger, surroundings: surroundings)
        control = RunControl(canary: plan.canary != nil)
        try plan.refuseBrokenTemplates()
        let providers = try ProviderDirectory(campaign, plan: plan)
        let addresses = try AddressBook(host: plan.peer.host, port: plan.peer.port, surroundings: surroundings)
        exchange = OutcomeExchange(lanes: count)
        wakers = (0..<count).map { _ in LaneWaker() }
        lanes = []
        do {
            let board = AnswerBoard(plan.breaker, lanes: count, providers: plan.topics.providers)
            for (number, waker) in wakers.enumerated() {
                lanes.append(
                    SteppedLane(
                        try Lane(
                            plan: plan, control: control, gauges: LaneGauges(), addresses: addresses,
                            providers: providers, input: reader, exchange: exchange, waker: waker,
                            board: board, number: number)))
            }
        } catch {
            throw CampaignError(.system, "\(error)")
        }
        control.notify { [reader, wakers] in
            reader.cancel()
            for waker in wakers { waker.wake() }
        }
    }

    deinit {
        control.notifyNobody()
        for waker in wakers { waker.detach() }
    }

    /// Whether all rows have their outcomes, or the run stopped.
    package var isFinished: Bool { lanes.allSatisfy { $0 == nil } }

    /// Why it stopped.
    package var failure: CampaignError? {
        if case .failure(let error) = control.stopCause { error } else { nil }
    }

    /// Takes no more rows.
    package func stop() { control.stop(.interrupted) }

    /// One turn of the lane whose transport has this number in the world.
    package func turn(of number: UInt32) {
        guard let index = lanes.firstIndex(where: { $0?.lane.transport.number == number }), let lane = lanes[index]
        else {
            return
        }
        // A lane waits for the writer when that is far behind; here it would wait for ever.
        if exchange.free.isEmpty { collect() }
        do {
            if try lane.lane.turn() { return }
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)")))
        }
        lane.lane.finishUp()
        wakers[index].detach()
        lanes[index] = nil
        collect()
    }

    /// The other threads' work, as far as there is some: reads a chunk, takes what the lanes have handed over.
    package func step() {
        if !isRead {
            isRead = !reader.step(control: control) { for waker in wakers { waker.wake() } } && reader.isAtEnd
        }
        collect()
    }

    private func collect() {
        while case .element(let batch) = exchange.filled.tryPop() {
            for entry in batch.entries {
                outcomes.append(
                    RowOutcome(
                        row: entry.row, outcome: entry.outcome, status: entry.status, attempts: entry.attempts,
                        reason: String(decoding: batch.reason(of: entry), as: UTF8.self)))
            }
            batch.removeAll()
            exchange.free.push(batch)
        }
    }
}

/// A lane that stands still between its turns.
private final class SteppedLane {
    var lane: Lane

    init(_ lane: consuming Lane) { self.lane = lane }
}
