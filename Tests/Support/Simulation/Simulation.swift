import APNSBatch
import APNSSimulator
import CSVReader
import Glibc
import LaneTransport
import Logging

/// One run of a campaign against a simulator over a faulty network, in one thread and a time of its own, all of it by one
/// seed: first a phase with faults, then one without, in which everything must finish.
package final class Simulation {
    /// How it went.
    package struct Report: Sendable {
        package var seed: UInt64
        /// Of every event of the network; the same for the same seed.
        package var digest: UInt64
        package var rows: Int
        package var requests: Int
        package var turns: Int
        /// Virtual time, in nanoseconds.
        package var elapsed: UInt64
        /// What is wrong; empty for a good run.
        package var findings: [String]
    }

    private let plan: SeedPlan
    private let world: SimulatedWorld
    private let witness: Witness
    private let simulator: SteppedSimulator
    private let run: SteppedRun
    private var dice: Dice
    private var turns = 0
    private var isCalm = false
    private var isStopped = false
    private let start: UInt64

    /// Runs a seed to its end.
    ///
    /// - Parameters:
    ///   - input: a path that may be overwritten.
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
        world = SimulatedWorld(plan.world)
        start = world.now
        dice = Dice(seed: plan.seed ^ 0x6D65_6464_6C65)
        witness = Witness(plan.server, seed: plan.seed)
        simulator = try Stage.simulator(plan, witness, world)
        try Stage.write(plan.rows, to: input)
        let campaign = Stage.campaign(plan, input: input, port: simulator.port)
        let surroundings = Stage.surroundings(plan, world, port: simulator.port, broken: broken)
        run = try SteppedRun(campaign, logger: logger, surroundings: surroundings)
    }

    private func runToEnd() -> Report {
        var findings: [String] = []
        while !run.isFinished {
            if let finding = turn() {
                findings.append(finding)
                break
            }
        }
        // What was on its way still arrives, and the server counts it.
        if findings.isEmpty {
            settle()
            findings = Judge(plan, run, witness, isStopped: isStopped).findings()
        }
        return Report(
            seed: plan.seed, digest: digest, rows: plan.rows.count,
            requests: witness.statuses.values.reduce(0) { $0 + $1.count }, turns: turns, elapsed: world.now - start,
            findings: findings)
    }

    /// One turn of somebody; a finding when it does not end.
    private func turn() -> String? {
        guard let number = world.next() else { return "nothing would ever happen again" }
        turns += 1
        if number == simulator.number {
            if !simulator.turn() { return "the simulator's loop failed" }
            if !isCalm { meddle() }
        } else {
            run.turn(of: number)
        }
        // The threads beside the lanes go at their own pace.
        if dice.chance(500_000) { run.step() }
        let elapsed = world.now - start
        if !isCalm, elapsed >= plan.calmAfter { calm() }
        if !isStopped, let stopAfter = plan.stopAfter, elapsed >= stopAfter {
            isStopped = true
            run.stop()
        }
        if elapsed > plan.calmAfter + plan.calmPatience {
            return "not finished \(plan.calmPatience / 1_000_000_000) s after the last fault: "
                + "\(run.outcomes.count) of \(plan.rows.count) rows have an outcome"
        }
        return nil
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
            simulator.goaway(
                dice.pick(connections), code: UInt32(dice.pick([0, 0, 2, 11])), debug: "", closing: dice.chance(500_000)
            )
        }
        if dice.chance(Int(plan.server.settings)) {
            simulator.setStreams(dice.pick(connections), UInt32(dice.pick([0, 1, 2, 10, 100, 1000])))
        }
        if dice.chance(Int(plan.server.closed)) { simulator.close(dice.pick(connections)) }
    }

    /// Of the network's events and the outcomes.
    private var digest: UInt64 {
        run.outcomes.reduce(world.digest) { digest, row in
            var mixed = digest ^ row.row &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(row.outcome.rawValue) << 32
            mixed = (mixed ^ UInt64(row.status) << 16 ^ UInt64(row.attempts)) &* 0xFF51_AFD7_ED55_8CCD
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
