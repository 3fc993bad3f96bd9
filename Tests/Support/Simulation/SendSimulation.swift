import APNSBatch
import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTransport
import Logging

/// Sends single notifications to a simulator over a faulty network, in one thread and in virtual time. One seed determines
/// everything: when notifications are submitted and cancelled, their deadlines, faults, new credentials, and the end.
package final class SendSimulation {
    private let plan: SendPlan
    private let world: SimulatedWorld
    private let witness: Witness
    private let simulator: SteppedSimulator
    private let meddler: Meddler
    private let strikes = Strikes()
    private let engine: SendEngine
    private let sender: SteppedSender
    private let start: UInt64
    private var submissions: [SimulatedSubmission] = []
    /// The number of those that were submitted.
    private var submitted = 0
    private var renewed = 0
    /// When the sender takes no more notifications; nil before.
    private var closed: UInt64?
    private var turns = 0
    private var findings: [String] = []

    package static func run(
        seed: UInt64, trace: Int32 = -1, logger: Logger = .quiet
    ) throws -> Simulation.Report {
        var plan = SendPlan(seed: seed)
        plan.base.world.trace = trace
        if trace >= 0 { print(plan.text) }
        let world = SimulatedWorld(plan.base.world)
        return try withExtendedLifetime(world) { try SendSimulation(plan, world, logger: logger).runToEnd() }
    }

    private init(_ plan: SendPlan, _ world: SimulatedWorld, logger: Logger) throws {
        (self.plan, self.world) = (plan, world)
        start = world.now
        witness = Witness(plan.base.server, seed: plan.base.seed, strikes: strikes)
        simulator = try Stage.simulator(plan.base, witness, world)
        meddler = Meddler(plan.base, world, witness, simulator, strikes)
        engine = try SendEngine(
            Stage.sender(plan, port: simulator.port), id: CampaignID((plan.base.seed, ~plan.base.seed)), to: .devices,
            rate: RunRate(plan.base.rateLimit), logger: logger,
            surroundings: Stage.surroundings(plan.base, world, port: simulator.port))
        sender = try SteppedSender(engine, lanes: plan.base.lanes)
        submissions = plan.submissions(from: start)
    }

    private func runToEnd() -> Simulation.Report {
        while findings.isEmpty, !sender.isFinished { step() }
        meddler.settle()
        if let failure = sender.failure { findings.append("the sender failed: \(failure)") }
        if findings.isEmpty { judge() }
        strikes.count(world.strikes)
        return Simulation.Report(
            seed: plan.base.seed, digest: world.digest, rows: submissions.count, requests: witness.requests,
            turns: turns,
            elapsed: world.now - start, findings: findings, strikes: strikes)
    }

    // MARK: Time

    private func step() {
        act()
        guard let number = world.next() else { return findings.append("nothing would ever happen again") }
        turns += 1
        if number == simulator.number {
            if !simulator.turn() { findings.append("the simulator's loop failed") }
            meddler.meddle()
        } else {
            sender.turn(of: number)
        }
        meddler.standStill()
        meddler.calmDown()
        if world.now > start + plan.patience { findings.append("not finished, \(engine.mailbox.pending) are pending") }
    }

    /// Does what the program does that has the sender.
    private func act() {
        guard closed == nil else { return }
        while submitted < submissions.count, submissions[submitted].time <= world.now {
            submit(submissions[submitted])
            submitted += 1
        }
        for one in submissions.prefix(submitted)
        where one.cancelledAt.map({ $0 <= world.now }) == true && !one.isCancelled {
            cancel(one)
        }
        while renewed < plan.renewals.count, start + plan.renewals[renewed] <= world.now { renew() }
        if plan.closesEarly ? world.now - start >= plan.closesAfter : isSettled { close() }
    }

    private func submit(_ one: SimulatedSubmission) {
        one.isSubmitted = true
        let fields = SubmittedFields.of(one.notification, seconds: { 1_700_000_000 })
        do throws(SendError) {
            one.id = try engine.mailbox.submit(fields, deadline: one.deadline, owner: one)
        } catch {
            _ = one.submissionDidEnd(.failure(error), tag: 0)
        }
    }

    private func cancel(_ one: SimulatedSubmission) {
        one.isCancelled = true
        strikes.count(one.hasEnded ? "cancelled after the end" : "cancelled")
        if let id = one.id { engine.mailbox.cancel(id) }
    }

    /// Replaces the credentials by those with the other key.
    private func renew() {
        renewed += 1
        strikes.count("credentials replaced")
        let providers = [Campaign.Provider(credentials: Stage.credentials(renewed % 2))]
        do {
            let changed = try engine.replaceCredentials(providers)
            if changed != [0] { findings.append("the credentials were not replaced") }
        } catch {
            findings.append("\(error)")
        }
    }

    private func close() {
        closed = world.now
        strikes.count(plan.closesEarly ? "closed with notifications pending" : "closed")
        engine.close(now: world.now, grace: plan.gracePeriod)
    }

    /// Whether everything was submitted and has ended.
    private var isSettled: Bool {
        meddler.isCalm && submitted == submissions.count && engine.mailbox.pending == 0
    }

    // MARK: The end

    private func judge() {
        if engine.mailbox.pending != 0 { findings.append("\(engine.mailbox.pending) are pending after the end") }
        if witness.strangers > 0 { findings.append("\(witness.strangers) requests for unknown tokens") }
        let closed = closed ?? .max
        for one in submissions where one.isSubmitted {
            findings += one.findings(
                witness, policy: plan.base.policies[0], closed: closed,
                graceEnds: plan.closesEarly ? closed + plan.gracePeriod : .max)
            count(one)
        }
        for one in submissions where !one.isSubmitted && witness.received(one.row.number) > 0 {
            findings.append("notification \(one.row.number): was received and not submitted")
        }
    }

    private func count(_ one: SimulatedSubmission) {
        switch one.ends.first {
        case .success(let result)?: strikes.count("outcome: \(result.outcome.name)")
        case .failure(let error)?: strikes.count("error: \(error.code), \(error.arrival)")
        case nil: break
        }
    }
}
