import Foundation
import Testing

extension EndToEnd {
    /// Tests that run the micro benchmarks with few rows. Their figures have no meaning.
    @Suite struct MicroBenchmarks {
        private struct Figure: Decodable {
            let name: String
            let value: Double
            let unit: String
        }

        private func run(_ arguments: [String]) throws -> Finished {
            let finished = try Child.run(
                Tools.built("apns-batch-micro-benchmarks"), ["--rows", "300"] + arguments, name: "micro",
                in: try Scratch())
            try #require(finished.ending == .exited(0), "\(finished)")
            return finished
        }

        @Test func `each has a figure, and every request of the floor is answered`() throws {
            let output = try run(["--json"]).output
            let figures = try JSONDecoder().decode([Figure].self, from: Data(output.utf8))
            #expect(figures.allSatisfy { $0.value > 0 && !$0.unit.isEmpty }, "\(output)")
            let values = Dictionary(uniqueKeysWithValues: figures.map { ($0.name, $0.value) })
            let expected: Set = [
                "csv.plain.volume", "csv.plain.rows", "csv.quoted.volume", "csv.quoted.rows", "inputs.plain.row",
                "inputs.gzip.row", "inputs.gzip.library", "inputs.zstd.row", "inputs.zstd.library", "inputs.row.bytes",
                "inputs.quoted.row", "inputs.ndjson.plain.row", "inputs.ndjson.plain.bytes", "inputs.ndjson.quoted.row",
                "inputs.ndjson.quoted.bytes", "render.plain",
                "render.plain.size", "render.typed", "render.typed.size", "token.signed", "ledger.memory",
                "ledger.file", "ledger.synced", "floor.submit", "floor.send", "floor.receive", "floor.total",
                "floor.requests", "floor.answers",
            ]
            #expect(Set(values.keys) == expected)
            #expect(values["floor.requests"] == 300_000 && values["floor.answers"] == 300_000)
            #expect(values["render.plain.size"] == 152)
        }

        @Test func `one alone is shown a line each figure`() throws {
            let lines = try run(["--only", "render"]).outputLines
            #expect(lines.count == 4 && lines.contains("render.plain.size 152 bytes/payload"), "\(lines)")
            #expect(lines.allSatisfy { $0.split(separator: " ").count == 3 }, "\(lines)")
        }
    }
}
