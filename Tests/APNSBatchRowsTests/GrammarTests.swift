import Testing

@testable import APNSBatchRows

@Suite("CSV grammar")
struct GrammarTests {
    private func text(_ step: CSVGrammar.Step) -> String {
        "\(step)"
    }

    private func isUndecided(_ step: CSVGrammar.Step) -> Bool {
        if case .needsMore = step { true } else { false }
    }

    @Test("Further input does not change a decision of the grammar", arguments: 0..<200)
    func prefixes(seed: UInt64) throws {
        let pieces = ["\"", "\"\"", "a", "bc", ",", "\n", "\r", "\r\n", "\\", "\\\"", "\\N"]
        var random = SeededGenerator(seed: seed)
        let start = Int.random(in: 0...6, using: &random)
        var input = Array(repeating: UInt8(ascii: "x"), count: start)
        if Bool.random(using: &random) { input.append(Byte.quote) }
        while input.count < 16 { input += pieces.randomElement(using: &random)!.utf8 }

        // A field begins at the latest at the end of the longest record.
        for (field, record) in [(3, 3), (3, 7), (3, 8), (4, 9), (4, 12)] where start <= record {
            let limits = RowLimits.small(field: field, record: record)
            let dialect = try CSVDialect(escape: seed % 2 == 0 ? .none : .backslash)
            let grammar = CSVGrammar(dialect: dialect, limits: limits, findsEndsOnly: seed % 4 == 1)
            let said = (start...input.count).map {
                grammar.field(input.span.extracting(first: $0), at: start, record: 0, final: false)
            }
            let decided = said.drop { isUndecided($0) }
            #expect(Set(decided.map { text($0) }).count == 1, "\(said) of \(input)")
            // The bytes of the longest record and its line end are always enough.
            let enough = max(record + 2 - start, 0)
            if enough < said.count { #expect(!isUndecided(said[enough])) }
        }
    }
}
