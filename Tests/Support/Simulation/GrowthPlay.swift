import APNSBatch
import APNSBatchModel
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTransport
import Glibc

/// A campaign in virtual time whose server needs a certain time for an answer, to see how many connections are opened.
package struct GrowthPlay: Sendable {
    /// The time of an answer: the median in milliseconds, and the standard deviation of its logarithm.
    package struct AnswerTime: Sendable {
        package var median: Double
        package var sigma: Double

        package init(_ median: Double, sigma: Double = 0) { (self.median, self.sigma) = (median, sigma) }

        /// The mean, in milliseconds.
        package var mean: Double { median * exp(sigma * sigma / 2) }
    }

    /// The state of the run at a time.
    package struct Moment: Sendable {
        /// In seconds since the start.
        package var time: Double
        package var accepted: UInt64
        package var connections: Int
        package var inFlight: Int
    }

    package var seed: UInt64 = 1
    package var lanes = 1
    /// The limits of connections and of the streams of one.
    package var connections = 32
    package var streams = 50
    /// The time of an answer from the start and from later times on, in seconds.
    package var times: [(from: Double, AnswerTime)]
    /// The number of answers that the server gives per second; 0 for any number.
    package var capacity = 0
    package var seconds: Double

    package init(_ time: AnswerTime, seconds: Double) { (times, self.seconds) = ([(0, time)], seconds) }

    /// The rate of answers with all streams in use, per second.
    package func most(_ time: AnswerTime) -> Double { Double(lanes * connections * streams) / time.mean * 1000 }

    private var plan: SeedPlan {
        var plan = SeedPlan(seed: seed)
        let rows = times.map { most($0.1) }.max().map { Int($0 * seconds) } ?? 0
        plan.rows = (1...UInt64(capacity > 0 ? min(rows, Int(seconds) * capacity) : rows)).map {
            InputRow(kind: .good, number: $0, name: "n")
        }
        (plan.lanes, plan.connections, plan.streams, plan.streamWindow) = (lanes, connections, UInt32(streams), 0)
        (plan.attempts, plan.requestTimeout, plan.mintAfter, plan.isSpooled) = (5, 120_000, nil, false)
        (plan.mishaps, plan.policies, plan.notAfter, plan.canary, plan.pause) = ([], [.resend], nil, nil, nil)
        (plan.standstills, plan.onlyStandsStill, plan.rateLimit, plan.rateChange) = ([], false, .init(), nil)
        (plan.outcomesPerBatch, plan.lineBytes, plan.syncInterval, plan.chunkBytes) = (nil, nil, 1000, 65536)
        plan.server = SeedPlan.ServerFaults()
        plan.script = SimulatorScript(seed: seed)
        plan.world = SimulatedWorld.Options()
        (plan.world.seed, plan.world.start_ns, plan.world.trace) = (seed, 1_000_000_000, -1)
        (plan.world.delay_us_max, plan.world.buffer_bytes_min, plan.world.buffer_bytes_max) = (500, 64_000, 64_000)
        return plan
    }

    /// Runs the campaign for its time, and returns its state at each tenth of a second.
    ///
    /// - Parameter input: a path that may be overwritten.
    package func run(input: String) throws -> [Moment] {
        let plan = plan
        let world = SimulatedWorld(plan.world)
        let start = world.now
        let server = SlowServer(seed: seed, times, capacity: capacity) { [unowned world] in
            Double(world.now - start) / 1e9
        }
        let simulator = try Stage.simulator(plan, server, world)
        let disk = MemoryDisk(seed: seed, broken: nil, strikes: Strikes())
        try Stage.write(plan.rows, to: input)
        let campaign = Stage.campaign(plan, port: simulator.port, policy: .resend, lanes: lanes, hasCanary: false)
        let run = try CampaignRun(
            campaign, input: RunInput(.file(input)), files: disk, logger: .quiet,
            surroundings: Stage.surroundings(plan, world, port: simulator.port))
        disk.begin(nil)
        let steps = try SteppedRun(run)
        var moments: [Moment] = []
        while !steps.isFinished, let number = world.next() {
            let time = Double(world.now - start) / 1e9
            if time >= Double(moments.count) / 10 {
                let progress = run.progress
                moments.append(
                    Moment(
                        time: time, accepted: progress.accepted, connections: progress.connections,
                        inFlight: progress.inFlight))
            }
            if time > seconds { break }
            if number == simulator.number { _ = simulator.turn() } else { steps.turn(of: number, now: world.now) }
            steps.step(now: world.now)
        }
        return moments
    }
}

extension [GrowthPlay.Moment] {
    /// The first time from which on this many rows per second were accepted, over `window` seconds; nil if never.
    package func reaches(_ rate: Double, over window: Double) -> Double? {
        let step = Int(window * 10)
        for index in indices.dropFirst(step) {
            let (first, last) = (self[index - step], self[index])
            if Double(last.accepted - first.accepted) / (last.time - first.time) >= rate { return last.time }
        }
        return nil
    }
}

/// A server whose answers take a time that may change, and of which it gives only so many per second.
private final class SlowServer: SimulatorProbe, @unchecked Sendable {
    private let times: [(from: Double, GrowthPlay.AnswerTime)]
    private let seconds: () -> Double
    /// The time between two answers, and when the next one may be given, in seconds.
    private let gap: Double
    private var next = 0.0
    private var dice: Dice

    init(
        seed: UInt64, _ times: [(from: Double, GrowthPlay.AnswerTime)], capacity: Int, seconds: @escaping () -> Double
    ) {
        (self.times, self.seconds, gap) = (times, seconds, capacity > 0 ? 1 / Double(capacity) : 0)
        dice = Dice(seed: seed ^ 0x534C_4F57)
    }

    func answer(toDevice token: UnsafeRawBufferPointer) -> ChosenAnswer? {
        let now = seconds()
        guard let time = times.last(where: { $0.from <= now })?.1 else { return nil }
        next = max(next, now) + gap
        let delay = max(next - now, time.median / 1000 * exp(time.sigma * normal()))
        return ChosenAnswer(SimulatorRule(share: 0, status: 200), delay: UInt64(delay * 1e9))
    }

    func judged(_ request: JudgedRequest) {}

    /// A number from the standard normal distribution (Box and Muller).
    private func normal() -> Double {
        let (radius, angle) = (unit(), unit())
        return (-2 * log(1 - radius)).squareRoot() * cos(2 * .pi * angle)
    }

    private func unit() -> Double { Double(dice.next() >> 11) / 0x1p53 }
}
