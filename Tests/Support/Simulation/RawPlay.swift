import APNSBatch
import APNSBatchModel
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTransport
import Logging

/// A campaign or a sender in virtual time whose server sends any bytes (``RawServer``).
package struct RawPlay {
    package struct Report: Sendable {
        /// The number of rows or notifications by outcome; those of a sender that failed are under the name of the error.
        package var outcomes: [String: Int] = [:]
        package var failure: String?
        package var isUnreachable = false
        /// Whether it has ended.
        package var hasEnded = false
        /// The virtual time, in seconds.
        package var seconds = 0
        package var connections = 0
        /// Notifications that have not exactly one end.
        package var twice = 0
    }

    /// The number of rows or notifications.
    package var rows = 5
    /// How long the server may be out of reach, and how long the sender tries a notification, in seconds.
    package var patience = 120

    private static let second: UInt64 = 1_000_000_000
    /// Far more than any play needs.
    private static let turnsMost = 400_000

    package init() {}

    private var plan: SeedPlan {
        var plan = SeedPlan(seed: 1)
        plan.rows = (1...UInt64(rows)).map { InputRow(kind: .good, number: $0, name: "n") }
        (plan.lanes, plan.connections, plan.streams, plan.streamWindow) = (1, 1, 100, 0)
        (plan.attempts, plan.requestTimeout, plan.mintAfter) = (20, 5000, nil)
        (plan.mishaps, plan.policies, plan.notAfter, plan.canary, plan.pause) = ([], [.resend], nil, nil, nil)
        (plan.rateLimit, plan.rateChange) = (Campaign.RateLimit(), nil)
        plan.outcomesPerBatch = nil
        return plan
    }

    /// - Parameters:
    ///   - input: a path that may be overwritten.
    ///   - accept: makes the connection with an index, from 0.
    package func campaign(input: String, accept: @escaping (Int) -> any RawConnection) throws -> Report {
        let plan = plan
        let world = SimulatedWorld(seed: 1)
        return try withExtendedLifetime(world) {
            let server = RawServer(world, accept: accept)
            let disk = MemoryDisk(seed: 1, broken: nil, strikes: Strikes())
            try Stage.write(plan.rows, to: input)
            var campaign = Stage.campaign(plan, port: server.port, policy: .resend, lanes: 1, hasCanary: false)
            campaign.retryDelay = nil
            (campaign.connectPatience, campaign.answerPatience) = (.seconds(patience), .seconds(patience))
            campaign.unavailablePatience = .seconds(patience)
            let run = try CampaignRun(
                campaign, input: RunInput(.file(input)), files: disk, logger: .quiet,
                surroundings: Stage.surroundings(plan, world, port: server.port))
            disk.begin(nil)
            let steps = try SteppedRun(run)
            let start = world.now
            for _ in 0..<Self.turnsMost where !steps.isFinished {
                guard let number = world.next() else { break }
                if number == server.number { server.turn() } else { steps.turn(of: number, now: world.now) }
                steps.step(now: world.now)
            }
            var report = Report()
            for line in try ResultsText.lines(of: disk.lines.bytes) {
                report.outcomes["\(line.outcome.name)", default: 0] += 1
            }
            report.failure = run.failure.map { "\($0)" }
            report.isUnreachable = run.failure?.code == .unreachable
            report.hasEnded = steps.isFinished
            report.seconds = Int((world.now - start) / Self.second)
            report.connections = server.connections
            return report
        }
    }

    /// - Parameter accept: makes the connection with an index, from 0.
    package func sender(accept: @escaping (Int) -> any RawConnection) throws -> Report {
        var plan = SendPlan(seed: 1)
        plan.base = self.plan
        let world = SimulatedWorld(seed: 1)
        return try withExtendedLifetime(world) {
            let server = RawServer(world, accept: accept)
            let engine = try SendEngine(
                Stage.sender(plan, port: server.port), id: CampaignID((1, 2)), to: .devices,
                rate: RunRate(Campaign.RateLimit()), logger: .quiet,
                surroundings: Stage.surroundings(plan.base, world, port: server.port))
            let sender = try SteppedSender(engine, lanes: 1)
            let start = world.now
            let all = plan.base.rows.map {
                SimulatedSubmission(
                    $0, time: start, deadline: start + UInt64(patience) * Self.second, cancelledAt: nil)
            }
            for one in all {
                let fields = SubmittedFields.of(one.notification, seconds: { 1_700_000_000 })
                one.id = try engine.mailbox.submit(fields, deadline: one.deadline, owner: one)
            }
            engine.mailbox.close(graceEnds: .max)
            for _ in 0..<Self.turnsMost where !sender.isFinished {
                guard let number = world.next() else { break }
                if number == server.number { server.turn() } else { sender.turn(of: number) }
            }
            return report(all, sender, server, since: start, world)
        }
    }

    private func report(
        _ all: [SimulatedSubmission], _ sender: SteppedSender, _ server: RawServer, since start: UInt64,
        _ world: SimulatedWorld
    ) -> Report {
        var report = Report()
        for one in all {
            if one.ends.count != 1 { report.twice += 1 }
            switch one.ends.first {
            case .success(let result)?: report.outcomes["\(result.outcome.name)", default: 0] += 1
            case .failure(let error)?: report.outcomes["\(error.code)", default: 0] += 1
            case nil: break
            }
        }
        report.failure = sender.failure
        report.hasEnded = sender.isFinished
        report.seconds = Int((world.now - start) / Self.second)
        report.connections = server.connections
        return report
    }
}
