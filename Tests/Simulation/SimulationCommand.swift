import APNSBatchSimulation
import Glibc
import Logging

/// `simulation --seeds N [--from M] | --seed K [--trace]`, with `--broken NAME`, `--sender` and `--stats`.
struct SimulationCommand {
    private var from: UInt64 = 1
    private var count: UInt64 = 100
    private var trace = false
    private var stats = false
    private var isSender = false
    private var broken: BrokenRule?
    private var problem: String?

    private static let usage = """
        usage: simulation [--seeds N] [--from M] [--stats] [--broken NAME | --sender]
               simulation --seed K [--trace] [--broken NAME | --sender]
        """

    init(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            switch argument {
            case "--seeds": count = number(rest.popFirst())
            case "--from": from = number(rest.popFirst())
            case "--seed": (from, count) = (number(rest.popFirst()), 1)
            case "--trace": trace = true
            case "--stats": stats = true
            case "--sender": isSender = true
            case "--broken":
                broken = rest.popFirst().flatMap(BrokenRule.init)
                if broken == nil { problem = "--broken: one of \(BrokenRule.allCases.map(\.rawValue))" }
            default: problem = Self.usage
            }
        }
    }

    private mutating func number(_ text: String?) -> UInt64 {
        guard let text, let number = UInt64(text) else {
            problem = Self.usage
            return 0
        }
        return number
    }

    /// Returns the exit code, which is 1 if there are findings.
    func run() -> Int32 {
        if let problem {
            print(problem)
            return 64
        }
        let input = "/dev/shm/apns-batch-simulation-\(getpid() + 1_000_000).csv"
        defer { unlink(input) }
        var sums = Sums()
        for seed in from..<from + count { play(seed, input, &sums) }
        if stats { print(sums.stats) }
        print(sums.line)
        return sums.failed > 0 ? 1 : 0
    }

    private func simulate(_ seed: UInt64, _ input: String) throws -> Simulation.Report {
        let (descriptor, logger) = trace ? (1 as Int32, Logger.standardOutput) : (-1, .quiet)
        return isSender
            ? try SendSimulation.run(seed: seed, trace: descriptor, logger: logger)
            : try Simulation.run(seed: seed, input: input, broken: broken, trace: descriptor, logger: logger)
    }

    private func play(_ seed: UInt64, _ input: String, _ sums: inout Sums) {
        do {
            var report = try simulate(seed, input)
            if seed == from, count > 1, try simulate(seed, input).digest != report.digest {
                report.findings.append("the same seed is another simulation the second time")
            }
            sums.add(report)
            if trace || count == 1 {
                print("seed \(seed): digest \(String(report.digest, radix: 16)), \(report.turns) turns")
            }
            guard !report.findings.isEmpty else { return }
            print(
                "seed \(seed) FAILED: \(report.findings.count) findings; again with: scripts/simulate\(isSender ? " --sender" : "") --seed \(seed)"
            )
            for finding in report.findings.prefix(count == 1 ? 1000 : 3) { print("    \(finding)") }
            fflush(nil)
        } catch {
            sums.failed += 1
            print("seed \(seed) FAILED: \(error)")
        }
    }
}

/// The sums over all seeds.
private struct Sums {
    var failed = 0
    private var seeds = 0
    private var rows = 0
    private var requests = 0
    private var turns = 0
    private var virtualSeconds = 0.0
    private let strikes = Strikes()
    private var runs: [String: Int] = [:]
    private let began = Sums.now()

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    mutating func add(_ report: Simulation.Report) {
        seeds += 1
        rows += report.rows
        requests += report.requests
        strikes.add(report.strikes)
        for name in report.strikes.counts.keys { runs[name, default: 0] += 1 }
        turns += report.turns
        virtualSeconds += Double(report.elapsed) / 1e9
        if !report.findings.isEmpty { failed += 1 }
    }

    /// How often each fault occurred, and in how many runs.
    var stats: String {
        strikes.counts.sorted { $0.key < $1.key }
            .map { "    \($0.key): \($0.value) in \(runs[$0.key] ?? 0) runs" }.joined(separator: "\n")
    }

    var line: String {
        let seconds = Sums.now() - began
        let each = seconds * 1000 / Double(max(1, seeds))
        return "\(seeds) seeds, \(failed) failed; \(rows) rows, \(requests) requests, \(turns) turns, "
            + "\(Int(virtualSeconds)) s of virtual time in \(Int(seconds.rounded())) s, "
            + "\((each * 100).rounded() / 100) ms a seed"
    }
}
