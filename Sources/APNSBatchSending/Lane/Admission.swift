import APNSBatchModel
import APNSBatchTransport

/// Whether a lane may send another request now, and if not, why and for how long.
///
/// Whatever can hold requests back is asked here: the end of the run, a pause, the campaign's deadline, the canary, the pace
/// and the outages of a provider, its streams, rows that wait for another attempt, memory. What holds for a whole turn is
/// settled when it begins; the rest is asked for each row. Another limit would be one more part of it.
struct Admission: ~Copyable {
    /// Why a turn sends no more.
    enum Hold: Equatable {
        /// A batch is as large as it may be: there is more to send, and room for it in the next turn.
        case batch
        /// Every stream that may be used is taken: answers come first.
        case streams
        /// No row is there, or none may be taken before others have their outcomes.
        case rows
        /// The run takes no further row.
        case stopping
        case paused
        /// The campaign's deadline has passed.
        case late
        /// The first rows go alone, in another lane.
        case canary
    }

    private let plan: CampaignPlan
    private let control: RunControl
    /// While this lane sends the campaign's first rows, and the others wait.
    private var canary: Canary?
    /// Another lane does.
    private var isHeld: Bool
    private var isLate = false
    /// Requests to some provider are spaced, so that the next one is due soon.
    private var isPaced = false
    /// The only provider is sent probes: rows that are due again, and fresh ones only while there is none.
    private(set) var isProbing = false

    /// Milliseconds between two looks at time and control when nothing arrives, and the same while requests are spaced.
    private static let idleWait: UInt32 = 10
    private static let pacedWait: UInt32 = 1
    /// With fewer requests than this under way, waiting for more answers would cost more time than it saves work.
    private static let lingerFrom = 128

    /// - Parameter lane: the first one sends the canary.
    init(plan: CampaignPlan, control: RunControl, lane: Int) {
        (self.plan, self.control) = (plan, control)
        canary = lane == 0 ? plan.canary : nil
        isHeld = lane > 0 && plan.canary != nil
    }

    // MARK: A turn

    /// Why nothing is sent in this turn.
    var hold: Hold? {
        if control.stopping { return .stopping }
        if isLate { return .late }
        if control.paused { return .paused }
        return isHeld ? .canary : nil
    }

    /// Nothing is sent now, and no connection is wanted for it.
    var sendsNothing: Bool { control.paused || isLate || isHeld }
    /// Other lanes take the rows.
    var takesNone: Bool { isHeld }

    /// Before rows are taken: how many requests each provider may be sent in this turn.
    mutating func beginTurn(_ connections: inout LaneConnections, _ health: inout LaneHealth) {
        (isPaced, isProbing) = (false, false)
        for provider in connections.providers {
            let requests = health.allowance(provider, now: connections.now)
            let mode = health.mode(provider)
            if mode.contains(.probing) {
                isProbing = connections.providers.count == 1
            } else if mode.contains(.paced) {
                isPaced = true
            }
            connections.pools[provider].allow(requests, answered: health.answered(provider))
        }
    }

    /// After rows were taken.
    func endTurn(_ connections: borrowing LaneConnections, _ health: inout LaneHealth) {
        for provider in connections.providers {
            health.didSend(connections.pools[provider].sentOfAllowance, to: provider, now: connections.now)
        }
    }

    /// Whether another row of the input may be taken.
    func takesFresh(_ queue: borrowing RowQueue) -> Bool {
        !queue.hasNoPlace && (canary == nil || canary!.room(queue.canaryCount) > 0)
    }

    /// A member of the provider's pool that takes another request now. A canary does not ask for one where there is none:
    /// that is what connections grow by.
    func stream(of provider: Int, _ connections: inout LaneConnections) -> Int? {
        if canary != nil && !connections.pools[provider].hasStream { return nil }
        return connections.pools[provider].pick()
    }

    // MARK: Waiting

    /// Milliseconds until something must be done even if nothing arrives.
    func wait(_ hold: Hold) -> UInt32 { hold == .batch ? 0 : isPaced ? Self.pacedWait : Self.idleWait }

    /// Microseconds to let answers gather: only when there is nothing better to do and many are awaited.
    func linger(_ hold: Hold, underWay: Int, _ gathering: Gathering) -> UInt32 {
        guard hold != .batch, underWay >= Self.lingerFrom else { return 0 }
        return hold == .streams && !isPaced ? gathering.time : Gathering.least
    }

    /// What the lane does, for whoever shows progress. Makes strings only while it waits.
    ///
    /// - Parameter hasWork: of any provider.
    func activity(
        hasWork: Bool, _ queue: borrowing RowQueue, _ connections: borrowing LaneConnections,
        _ health: borrowing LaneHealth
    ) -> LaneActivity {
        guard hasWork else { return queue.backingOff.map(LaneActivity.waiting) ?? .idle }
        var found: CampaignProgress.Waiting?
        for provider in connections.providers where connections.pools[provider].hasWork {
            guard let reason = connections.waiting(provider) ?? health.probing(provider) else { return .sending }
            found = found ?? reason
        }
        return found.map(LaneActivity.waiting) ?? .sending
    }

    // MARK: Canary and deadline

    /// Every few milliseconds.
    mutating func tick(wallClock: UInt64) {
        if isHeld { isHeld = control.isCanary }
        isLate = plan.deadline?.hasPassed(now: wallClock) ?? false
    }

    /// After a turn's answers.
    mutating func judgeCanary(_ queue: borrowing RowQueue) {
        guard let canary else { return }
        switch canary.verdict(queue.canaryCount) {
        case .waiting: if isLate { endCanary() }
        case .passed:
            plan.log.canaryPassed(rows: canary.rows)
            endCanary()
        case .failed(let text):
            control.stop(.failure(CampaignError(.fatalAnswer, "\(plan.endpoint): \(text)")))
            endCanary()
        }
    }

    /// All lanes may send; also when this one ends without a verdict.
    mutating func endCanary() {
        guard canary != nil else { return }
        canary = nil
        control.endCanary()
    }
}
