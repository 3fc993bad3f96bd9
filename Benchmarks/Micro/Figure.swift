import Foundation

/// A result: a name, a number and what it counts.
struct Figure: Encodable {
    let name: String
    let value: Double
    let unit: String

    init(_ name: String, _ value: Double, _ unit: String) {
        self.name = name
        self.value = value
        self.unit = unit
    }

    /// For people, and for `grep`.
    var line: String { "\(name) \(String(format: value < 100 ? "%.3f" : "%.0f", value)) \(unit)" }

    static func json(_ figures: [Figure]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(figures), as: UTF8.self)
    }
}

/// Something that was measured did not do its work.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
