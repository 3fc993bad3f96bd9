import APNSBatch
import APNSBatchModel
import APNSBatchRows
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTransport
import Glibc
import Logging

/// One run of a campaign against a simulator over a faulty network, in one thread and a time of its own, all of it by one
/// seed: first a phase with faults, then one without, in which everything must finish.
package final class Simulation {
    /// How it went.
    package struct Report: Sendable {
        package var seed: UInt64
        /// A digest of every event of the network; the same for the same seed.
        package var digest: UInt64
        package var rows: Int
        package var requests: Int
        package var turns: Int
        /// Virtual time, in nanoseconds.
        package var elapsed: UInt64
        /// What is wrong; empty for a good run.
        package var findings: [String]
        package var strikes: Strikes
    }

    private let plan: SeedPlan
    private let world: SimulatedWorld
    private let witness: Witness
    private let simulator: SteppedSimulator
    private let disk: MemoryDisk
    private let strikes = Strikes()
    private let campaign: (UnknownPolicy, _ session: Int, _ hasCanary: Bool) -> Campaign
    private let surroundings: Surroundings
    private let logger: Logger
    private var audit: Audit
    private var dice: Dice
    private var turns = 0
    private var isCalm = false
    private let start: UInt64

    private var sessions = 0
    /// There is a ledger to go on with.
    private var isBegun = false
    private var hasCanary = true
    /// Every row has its outcome.
    private var isComplete = false
    private var pausedUntil: UInt64?
    private var hasPaused = false
    /// How many of the plan's standstills have begun, and until when the last one takes.
    private var stoodStill = 0
    private var standsUntil: UInt64 = 0

    /// Sessions without a mishap, beyond which something does not end.
    private static let sessionsBeyond = 6

    /// Runs a seed to its end.
    ///
    /// - Parameters:
    ///   - input: a path that may be overwritten. It stands in the ledger: one of another length is another run.
    ///   - trace: a descriptor that gets a line for every event of the network.
    package static func run(
        seed: UInt64, input: String, broken: BrokenRule? = nil, trace: Int32 = -1, logger: Logger = .quiet
    ) throws -> Report {
        var plan = SeedPlan(seed: seed)
        plan.world.trace = trace
        if trace >= 0 { print(plan.text) }
        let simulation = try Simulation(plan, input: input, broken: broken, logger: logger)
        return simulation.runToEnd()
    }

    private init(_ plan: SeedPlan, input: String, broken: BrokenRule?, logger: Logger) throws {
        self.plan = plan
        self.logger = logger
        world = SimulatedWorld(plan.world)
        start = world.now
        dice = Dice(seed: plan.seed ^ 0x6D65_6464_6C65)
        witness = Witness(plan.server, seed: plan.seed, strikes: strikes)
        simulator = try Stage.simulator(plan, witness, world)
        disk = MemoryDisk(seed: plan.seed, broken: broken, strikes: strikes)
        audit = Audit(plan, witness)
        try Stage.write(plan.rows, to: input)
        let port = simulator.port
        campaign = {
            Stage.campaign(plan, input: input, port: port, policy: $0, lanes: plan.lanes(of: $1), hasCanary: $2)
        }
        surroundings = Stage.surroundings(plan, world, port: simulator.port)
    }

    private func runToEnd() -> Report {
        var findings: [String] = []
        while findings.isEmpty, !isComplete {
            findings = session(sessions < plan.mishaps.count ? plan.mishaps[sessions] : nil)
            sessions += 1
            if sessions > plan.mishaps.count + Self.sessionsBeyond { findings.append("it never completes") }
        }
        if findings.isEmpty {
            findings = Judge(
                plan: plan, witness: witness, results: disk.lines.bytes, ledger: LedgerImage(disk.ledger.bytes),
                mayHaveArrived: audit.mayHaveArrived, sessions: sessions
            ).findings()
        }
        strikes.count("sessions", sessions)
        if plan.outcomesPerBatch != nil { strikes.count("small batches") }
        strikes.count(world.strikes)
        let image = LedgerImage(disk.ledger.bytes)
        if image.reopenings > 0 { strikes.count("unavailable rows reopened") }
        for row in image.rows.values {
            strikes.count("outcome: \(Outcome(rawValue: row.outcome).map { "\($0.name)" } ?? "?")")
        }
        return Report(
            seed: plan.seed, digest: digest, rows: plan.rows.count,
            requests: witness.requests, turns: turns, elapsed: world.now - start,
            findings: findings, strikes: strikes)
    }

    // MARK: Sessions

    /// One process, from its beginning to its end, and what the server saw of it.
    private func session(_ mishap: Mishap?) -> [String] {
        let policy = plan.policies[min(sessions, plan.policies.count - 1)]
        disk.begin(mishap?.diskFault)
        let ending: Audit.Ending
        var hasPlayed = false
        do {
            var campaign = campaign(policy, sessions, hasCanary)
            campaign.retryUnavailable = plan.retriesUnavailable
            let run = try CampaignRun(
                campaign, resuming: isBegun, files: disk, logger: logger,
                surroundings: surroundings)
            isBegun = true
            ending = try play(run, mishap)
            hasPlayed = true
        } catch let finding as Finding {
            return [finding.text]
        } catch {
            guard disk.isStruck || begunAnew(error) else { return ["session \(sessions): \(error)"] }
            ending = diskEnding
        }
        disk.end(powerless: ending == .powerless)
        settle()
        let image = LedgerImage(disk.ledger.bytes)
        let findings =
            audit.end(ending, image, words: disk.words, policy: policy)
            + filesFindings(image, hasPlayed && ending == .orderly)
        return findings.map { "session \(sessions): \($0)" }
    }

    /// Returns the findings for the files that a session left.
    private func filesFindings(_ image: LedgerImage, _ hasPlayed: Bool) -> [String] {
        var findings: [String] = []
        // In later sessions rows may have been accepted by an earlier one that was killed.
        if hasPlayed, sessions == 0, disk.isStruck, plan.mishaps[0].diskFault?.kind == .full {
            // But for rows whose answer was lost and that are sent again when the run is resumed.
            for row in plan.rows
            where image.rows[row.number] == nil && !image.isHanded(row.number) && witness.accepted(row.number) > 0 {
                findings.append("row \(row.number): the disk was full, and its outcome was not recorded")
            }
        }
        // Results that could not be written are left behind, and made complete when the run is resumed.
        guard image.isEnded, !disk.isStruck else { return findings }
        do {
            let lines = try ResultsText.lines(of: disk.lines.bytes).count
            if lines != image.rows.count {
                findings.append("\(lines) lines and \(image.rows.count) outcomes after an end in order")
            }
        } catch {
            findings.append("\(error)")
        }
        return findings
    }

    private struct Finding: Error {
        let text: String
    }

    /// A ledger whose first words were not durable is none: the operator begins anew.
    private func begunAnew(_ error: any Error) -> Bool {
        guard "\(error)".hasSuffix("is not a ledger; nothing was sent"), witness.statuses.isEmpty else {
            return false
        }
        strikes.count("begun anew")
        isBegun = false
        disk.wipe()
        return true
    }

    private var diskEnding: Audit.Ending {
        guard disk.isStruck, let fault = plan.mishaps[sessions].diskFault else { return .orderly }
        switch fault.kind {
        case .kill: return .killed
        case .powerLoss: return .powerless
        case .failure, .full: return fault.endsInPowerLoss ? .powerless : .orderly
        }
    }

    /// Until it has ended or was killed: then nothing of it is left but the disk, and what was on its way.
    private func play(_ run: CampaignRun, _ mishap: Mishap?) throws -> Audit.Ending {
        let steps = try SteppedRun(run)
        let begin = (turns: turns, time: world.now, requests: witness.requests)
        var isStopped = false
        while !steps.isFinished {
            switch mishap {
            case .kill(let after) where turns - begin.turns >= after:
                strikes.count("killed")
                return .killed
            case .powerLoss(let after) where turns - begin.turns >= after:
                strikes.count("power lost")
                return .powerless
            case .killAtRequest(let after, let powerless) where witness.requests - begin.requests >= after:
                strikes.count(powerless ? "power lost at a request" : "killed at a request")
                return powerless ? .powerless : .killed
            case .stop(let after, let atOnce) where turns - begin.turns >= after && !isStopped:
                strikes.count(atOnce ? "stopped at once" : "stopped")
                isStopped = true
                if atOnce { run.stopAtOnce() } else { run.stop() }
            default: break
            }
            if let finding = turn(steps, run, since: begin.time) { throw Finding(text: finding) }
            if disk.isDead { return diskEnding }
        }
        isComplete = run.failure == nil && !isStopped
        if let failure = run.failure, !isExplained(failure) { throw Finding(text: "the run stopped: \(failure)") }
        return diskEnding
    }

    private func isExplained(_ failure: CampaignError) -> Bool {
        if "\(failure)".contains("canary:"), hasCanary, plan.canary != nil {
            strikes.count("canary failed")
            hasCanary = false
            return true
        }
        return disk.isStruck
    }

    /// One turn of somebody; a finding when it does not end.
    private func turn(_ steps: SteppedRun, _ run: CampaignRun, since begin: UInt64) -> String? {
        guard let number = world.next() else { return "nothing would ever happen again" }
        turns += 1
        if number == simulator.number {
            if !simulator.turn() { return "the simulator's loop failed" }
            if !isCalm { meddle() }
        } else {
            steps.turn(of: number, now: world.now)
        }
        standStill()
        // The threads beside the lanes go at their own pace.
        if dice.chance(500_000), !disk.isDead, world.now >= standsUntil { steps.step(now: world.now) }
        let elapsed = world.now - start
        if !isCalm, elapsed >= plan.calmAfter { calm() }
        pause(run)
        if world.now > max(begin, start + plan.calmAfter) + plan.calmPatience {
            return "not finished \(plan.calmPatience / 1_000_000_000) s after the last fault"
        }
        return nil
    }

    /// The sender's process is stopped; the server and the network go on.
    private func standStill() {
        guard stoodStill < plan.standstills.count else { return }
        let (after, time) = plan.standstills[stoodStill]
        guard world.now >= max(standsUntil, start + after) else { return }
        strikes.count("stood still")
        stoodStill += 1
        standsUntil = world.now + time
        world.standStill(but: simulator.number, for: time)
    }

    private func pause(_ run: CampaignRun) {
        guard let pause = plan.pause else { return }
        if !hasPaused, world.now - start >= pause.after {
            strikes.count("paused")
            hasPaused = true
            run.pause()
            pausedUntil = world.now + pause.time
        }
        if let until = pausedUntil, world.now >= until {
            run.unpause()
            pausedUntil = nil
        }
    }

    /// The lanes are gone: what they sent before arrives.
    private func settle() {
        let until = world.now + 2_000_000_000
        var idle = 0
        while world.now < until, idle < 10_000, let number = world.next() {
            idle += 1
            if number == simulator.number { _ = simulator.turn() }
        }
    }

    /// The end of all faults, but of what has fallen silent.
    private func calm() {
        isCalm = true
        world.setFaults(nil)
        witness.faults = SeedPlan.ServerFaults()
        for connection in simulator.connections { simulator.setStreams(connection, plan.streams) }
    }

    /// What a server may do of its own accord.
    private func meddle() {
        let connections = simulator.connections
        guard !connections.isEmpty else { return }
        if dice.chance(Int(plan.server.goaway)) {
            strikes.count("server: GOAWAY")
            simulator.goaway(
                dice.pick(connections), code: UInt32(dice.pick([0, 0, 2, 11])), debug: "", closing: dice.chance(500_000)
            )
        }
        if dice.chance(Int(plan.server.settings)) {
            strikes.count("server: SETTINGS")
            simulator.setStreams(dice.pick(connections), UInt32(dice.pick([0, 1, 2, 10, 100, 1000])))
        }
        if dice.chance(Int(plan.server.closed)) {
            strikes.count("server: closed")
            simulator.close(dice.pick(connections))
        }
    }

    /// A digest of the network's events and of the results without their texts, which name the input.
    private var digest: UInt64 {
        let lines = (try? ResultsText.lines(of: disk.lines.bytes)) ?? []
        return lines.reduce(world.digest) { digest, line in
            var mixed = digest ^ line.row &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(line.outcome.rawValue) << 32
            mixed = (mixed ^ UInt64(line.status) << 16 ^ UInt64(line.attempts)) &* 0xFF51_AFD7_ED55_8CCD
            return mixed ^ mixed >> 33
        }
    }
}

extension Logger {
    /// Says nothing.
    package static var quiet: Logger { Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() } }
}

/// Writes to standard output, without the time of day, which is not the simulation's.
private struct PlainLog: LogHandler {
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        print("\(event.level): \(event.message)")
        fflush(nil)
    }
}

extension Logger {
    /// For a trace.
    package static var standardOutput: Logger { Logger(label: "simulation") { _ in PlainLog() } }
}
