import ArgumentParser
import Foundation

/// What single steps of a row's way cost, apart from the rest: the real code, in one thread, without a network.
/// `scripts/micro-bench` puts other programs beside it.
@main
struct MicroBenchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-batch-micro-benchmarks",
        abstract: "Measures single steps of a row's way: each a median of several repetitions after a warm-up.")

    @Option(help: "Rows of the input.")
    var rows = 200_000

    @Option(help: "One of them only.")
    var only: Benchmark?

    @Option(help: "Where the input is made, and stays; a directory. Without it, in one that goes.")
    var data: String?

    @Flag(help: "All figures as one array of JSON.")
    var json = false

    func validate() throws {
        guard (1...10_000_000).contains(rows) else { throw ValidationError("--rows: 1 to 10000000") }
    }

    func run() throws {
        let directory = data ?? NSTemporaryDirectory() + "apns-batch-micro-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { if data == nil { try? FileManager.default.removeItem(atPath: directory) } }
        let inputs = try Inputs(rows: rows, directory: directory)
        let chosen = only.map { [$0] } ?? Benchmark.allCases
        let figures = try chosen.flatMap { try $0.figures(inputs) }
        print(json ? try Figure.json(figures) : figures.map(\.line).joined(separator: "\n"))
    }
}

/// What can be measured, by the name that `--only` takes.
enum Benchmark: String, CaseIterable, ExpressibleByArgument {
    case csv, inputs, render, token, ledger, floor

    func figures(_ inputs: Inputs) throws -> [Figure] {
        switch self {
        case .csv: try CSVBenchmark.figures(inputs)
        case .inputs: try InputsBenchmark.figures(inputs)
        case .render: try RenderBenchmark.figures(inputs)
        case .token: try TokenBenchmark.figures(inputs)
        case .ledger: try LedgerBenchmark.figures(inputs)
        case .floor: try FloorBenchmark.figures(inputs)
        }
    }
}
