import Foundation
import Testing

@testable import APNSBatchRows

/// Lines that are made of pieces of JSON, beside Foundation's parser.
@Suite("Random lines of JSON") struct NDJSONRandomTests {
    private static let pieces = [
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\"", "\"c\"", "\\", "\\\"", "\\u00e9", "\\ud83c\\udf89",
        "\\ud83c", " ",
        "\t", "1", "-0", "0.5", "1e3", "01", "true", "false", "null", "nul", "é", "🎉", "text of a field", "\r", "x",
    ]

    private static func value(_ random: inout SeededGenerator, depth: Int = 0) -> String {
        let blank = Int.random(in: 0..<8, using: &random) == 0 ? " " : ""
        switch Int.random(in: 0..<(depth < 3 ? 9 : 7), using: &random) {
        case 0: return blank + ["true", "false", "null"].randomElement(using: &random)!
        case 1: return ["0", "-1", "12.50", "1E-2", "7e+10", "123456789"].randomElement(using: &random)! + blank
        case 7:
            let items = (0..<Int.random(in: 0..<3, using: &random)).map { _ in value(&random, depth: depth + 1) }
            return "[" + blank + items.joined(separator: ",") + "]"
        case 8:
            let items = (0..<Int.random(in: 0..<3, using: &random)).map {
                "\"k\($0)\":\(value(&random, depth: depth + 1))"
            }
            return "{" + items.joined(separator: "," + blank) + "}"
        default:
            let parts = ["", "a", "plain text", "\\n", "\\\\", "\\\"", "\\u00e9", "\\ud83c\\udf89", "é中🎉", "]},{[:,"]
            return "\""
                + (0..<Int.random(in: 0..<4, using: &random)).map { _ in parts.randomElement(using: &random)! }.joined()
                + "\""
        }
    }

    private static func line(_ random: inout SeededGenerator) -> String {
        let keys = ["\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"\\u0061\""].shuffled(using: &random)
        var members = keys.prefix(Int.random(in: 0..<5, using: &random)).map { $0 + ":" + value(&random) }
        if Int.random(in: 0..<3, using: &random) > 0 {
            members = ["\"a\":" + value(&random), "\"b\":" + value(&random)]
        }
        var line = Array("{" + members.joined(separator: ",") + "}")
        for _ in 0..<max(0, Int.random(in: -4..<3, using: &random)) {
            let piece = Array(pieces.randomElement(using: &random)!)
            let place = Int.random(in: 0...line.count, using: &random)
            if Bool.random(using: &random) || place == line.count {
                line.insert(contentsOf: piece, at: place)
            } else {
                line.remove(at: place)
            }
        }
        return String(line)
    }

    /// The fields that a line should have by Foundation; nil if it is no object.
    private static func fields(_ line: String) -> [Any?]? {
        guard let made = try? JSONSerialization.jsonObject(with: Data(line.utf8)), let object = made as? [String: Any]
        else { return nil }
        return ["a", "b"].map { object[$0].flatMap { $0 is NSNull ? nil : $0 } }
    }

    private static func agrees(_ field: [UInt8], _ wanted: Any?) -> Bool {
        guard let wanted else { return field.isEmpty }
        if let text = wanted as? String { return Array(text.utf8) == field }
        let made = try? JSONSerialization.jsonObject(with: Data(field), options: .fragmentsAllowed)
        return (made as? NSObject) == (wanted as? NSObject)
    }

    @Test(arguments: 0..<10) func `rows are what Foundation reads`(batch: Int) throws {
        var random = SeededGenerator(seed: UInt64(batch))
        let lines = (0..<600).map { _ in Self.line(&random) }.filter { !["", "\r"].contains($0) }
        let input = Array(lines.joined(separator: "\n").utf8)
        let reading = Reading(ndjson: ScriptedSource(input), columns: ["a", "b"])
        try #require(reading.rows.count == lines.count && reading.failure == nil)
        for (row, line) in zip(reading.rows, lines) {
            let wanted = Self.fields(line)
            switch row.error?.cause {
            // Foundation keeps one of two members, and reads on.
            case .json(.duplicateKey)?: break
            case nil:
                guard let wanted else {
                    Issue.record("Foundation refuses \(line)")
                    continue
                }
                for (field, value) in zip(row.fields, wanted) { #expect(Self.agrees(field, value), "\(line)") }
            default:
                // Foundation takes a comma before the end of an object or array.
                let isLenient = line.contains(/,\s*[}\]]/)
                #expect(wanted == nil || isLenient, "\(line): \(String(describing: row.error))")
            }
        }
    }

    @Test(arguments: 0..<10) func `rows do not depend on how the bytes come`(batch: Int) {
        var random = SeededGenerator(seed: UInt64(1000 + batch))
        let ends = ["\n", "\n", "\r\n", "\n\n"]
        let input = Array((0..<30).map { _ in Self.line(&random) + ends.randomElement(using: &random)! }.joined().utf8)
        for (field, record) in [(20, 60), (1000, 4000)] {
            let whole = Reading(
                ndjson: ScriptedSource(input), columns: ["a", "b"],
                limits: .small(chunk: 65_536, field: field, record: record))
            for chunk in stride(from: 1, to: input.count, by: 3) {
                let reading = Reading(
                    ndjson: ScriptedSource(input, pieces: [1 + chunk % 17, 5, .max]), columns: ["a", "b"],
                    limits: .small(chunk: chunk, field: field, record: record))
                #expect(reading.lines == whole.lines && reading == whole, "chunks of \(chunk)")
            }
        }
    }
}
