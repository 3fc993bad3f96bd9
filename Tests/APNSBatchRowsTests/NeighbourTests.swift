import Testing

@testable import APNSBatchRows

/// Tests that damage to one row does not change the others.
@Suite("Neighbours of a damaged row")
struct NeighbourTests {
    /// Rows of every shape, each with its own token. No field begins with a delimiter or a line end, because a stray
    /// quote before it could not be distinguished from a closing quote.
    private static let rows = [
        "ada,one,1\n", "bob,\"two\",2\n", "cleo,\"3, three\",3\r\n", "dora,,\n", "\"emil\",\"\",\"\"\n",
        "finn,\"six\nlines, \"\"six\"\"\n6\",6\n", "gus,\"\"\"7\"\"\",7\n", "\"hugo\",\"8\n\",8\n", "ina,nine,9\n",
        "\"jule\",\"ten\",\"10\"\n", "kurt,elf,11\n", "lena,\"é 🎉\",\"12\"",
    ]

    private static let header = "token,text,number\n"

    private func goodRows(_ input: [UInt8]) -> [[UInt8]: [[[UInt8]]]] {
        let reading = Reading(source: ScriptedSource(input), limits: .small(chunk: 70, field: 100, record: 300))
        return Dictionary(grouping: reading.rows.filter { $0.error == nil }.map(\.fields)) { $0[0] }
    }

    private func expectNeighbours(of damaged: Int, in input: [UInt8], _ what: String) {
        let found = goodRows(input)
        for (index, row) in Self.read.enumerated() where index != damaged {
            if found[row[0]] != [row] {
                Issue.record("row \(index + 1) is \(found[row[0]] ?? []) after \(what) in row \(damaged + 1)")
            }
        }
    }

    /// The rows, each of them read separately.
    private static let read = rows.map { row in
        Reading(source: ScriptedSource(Array((header + row).utf8))).rows[0].fields
    }

    @Test("The neighbours are read when a byte is inserted anywhere in a row", arguments: rows.indices)
    func insertion(damaged: Int) {
        let text = Array(Self.rows[damaged].utf8)
        for byte in [0x22, 0x00, 0xFF, 0x2C, 0x0A, 0x0D] as [UInt8] {
            for position in 0..<text.count {
                var parts = Self.rows.map { Array($0.utf8) }
                parts[damaged].insert(byte, at: position)
                let input = Array(Self.header.utf8) + parts.flatMap { $0 }
                expectNeighbours(of: damaged, in: input, "byte \(byte) at \(position)")
            }
        }
    }

    @Test("The neighbours are read when a row loses a byte other than its line end", arguments: rows.indices)
    func removal(damaged: Int) {
        let text = Array(Self.rows[damaged].utf8)
        for position in 0..<text.count - 1 {
            var parts = Self.rows.map { Array($0.utf8) }
            parts[damaged].remove(at: position)
            let input = Array(Self.header.utf8) + parts.flatMap { $0 }
            expectNeighbours(of: damaged, in: input, "loss of byte \(position)")
        }
    }

    @Test("The neighbours are read when a row is longer than any buffer", arguments: [301, 1000, 10_000])
    func gigantic(length: Int) {
        for (before, after) in [("ada,", ",1\n"), ("ada,\"", "\",1\n"), ("ada,\"", "\n")] {
            let row = before + String(repeating: "x", count: length) + after
            let input = Self.header + row + Self.rows.dropFirst().joined()
            expectNeighbours(of: 0, in: Array(input.utf8), "\(length) bytes")
        }
    }
}
