import Testing

@testable import APNSBatchRows

/// Inputs whose quotes are escaped by backslashes, given as such.
@Suite("Backslashes as escapes")
struct EscapeTests {
    private static let pieces = [
        "a", "bc", "0123456789012345678901234567890123456789", ",", "\"", "\"", "\\", "\\", "\\\"", "\",", "\n", "\r\n",
        "N",
        "é", "🎉", "\\n", "\t",
    ]

    private static func dialect() throws -> CSVDialect { try CSVDialect(escape: .backslash) }

    private static func table(seed: UInt64, rows: Int) -> [[String]] {
        var random = SeededGenerator(seed: seed)
        return (0..<rows).map { _ in
            (0..<2).map { column in
                let text = (0..<Int.random(in: column..<6, using: &random)).map { _ in
                    pieces.randomElement(using: &random)!
                }
                return text.joined()
            }
        }
        .filter { $0 != ["", ""] }
    }

    @Test("What programs write is read as they mean it, however it arrives", arguments: Writer.allCases)
    func written(by writer: Writer) throws {
        for seed in 0..<30 as Range<UInt64> {
            let table = Self.table(seed: seed, rows: 12)
            let input = Array("one,two\n".utf8) + table.flatMap(writer.line)
            for chunk in [1, 7, 64, 100, 1 << 16] {
                for piece in [1, 3, .max] {
                    let reading = Reading(
                        source: ScriptedSource(input, pieces: [piece]), dialect: try Self.dialect(),
                        limits: .small(chunk: chunk, field: 1000, record: 3000))
                    #expect(reading.failure == nil)
                    #expect(
                        reading.rows.map { $0.fields.map { String(decoding: $0, as: UTF8.self) } } == table,
                        "seed \(seed), chunk \(chunk)")
                }
            }
        }
    }

    @Test("Random inputs give the same rows as the reference at every chunk size", arguments: 0..<12)
    func agreesAtEveryChunkSize(seed: Int) throws {
        let input = try Self.input(seed: UInt64(seed), length: 250)
        for (field, record) in [(25, 40), (5, 9), (100, 400)] {
            let expected = Self.reference(field, record).read(input)
            for chunk in 1...input.count + 1 {
                expectSame(try Self.read(input, [.max], chunk, field, record), expected, input, "chunk \(chunk)")
            }
        }
    }

    @Test("Random inputs give the same rows as the reference at every split of the reads", arguments: 0..<40)
    func agreesAtEverySplit(seed: Int) throws {
        let input = try Self.input(seed: UInt64(100 + seed), length: 120)
        let expected = Self.reference(25, 40).read(input)
        for split in 1...input.count {
            for chunk in [1, 50, 1000] {
                let reading = try Self.read(input, [split, .max], chunk, 25, 40)
                expectSame(reading, expected, input, "split \(split), chunk \(chunk)")
            }
        }
    }

    private static func reference(_ field: Int, _ record: Int) -> ReferenceReader {
        ReferenceReader(fieldBytes: field, recordBytes: record, hasEscapes: true)
    }

    private static func read(_ input: [UInt8], _ pieces: [Int], _ chunk: Int, _ field: Int, _ record: Int) throws
        -> Reading
    {
        Reading(
            source: ScriptedSource(input, pieces: pieces), dialect: try dialect(),
            limits: .small(chunk: chunk, field: field, record: record))
    }

    /// A dispute ends the reading before the rows of its chunk.
    private func expectSame(_ reading: Reading, _ expected: Reading, _ input: [UInt8], _ what: String) {
        let text = "\(what), \(String(decoding: input, as: UTF8.self))"
        #expect(reading.failure == expected.failure, "\(text)")
        if case .quoting? = expected.failure {
            #expect(reading.rows == Array(expected.rows.prefix(reading.rows.count)), "\(text)")
        } else {
            #expect(reading == expected, "\(text)")
        }
    }

    /// Rows of which some are well-formed and others are not.
    private static func input(seed: UInt64, length: Int) throws -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        let loose = ["\"", "\\", "\\N", "\\\"", "\"\"", ",", "\n", "\r\n", "\\0", "a", ",\"", "\",", "\\\\", "\r"]
        var bytes = Array("one,\"two\"\n".utf8)
        while bytes.count < length {
            if Int(seed % 4) > Int.random(in: 0..<4, using: &random) {
                let writer = Writer.allCases.randomElement(using: &random)!
                bytes += table(seed: random.next(), rows: 1).flatMap(writer.line)
            } else {
                bytes += loose.randomElement(using: &random)!.utf8
            }
        }
        return bytes
    }

    @Test(
        "Each case is read as documented",
        arguments: [
            (#""a \"b\" c",\N"#, #"1@2 a "b" c|"#), (#""C:\\",x"#, #"1@2 C:\|x"#), (#"5\",x"#, #"1@2 5"|x"#),
            (#""5""",x"#, #"1@2 5"|x"#), ("\"a\\\nb\",x", #"1@2 a\nb|x"#), (#""\N",x"#, "1@2 ! 2:2:0 \(unknown)"),
            (#""a\nb",x"#, "1@2 ! 2:3:0 \(unknown)"), (#""a\0",x"#, "1@2 ! 2:3:0 a NUL byte"),
            (#"x,C:\dir"#, "1@2 x! 2:5:1 \(outside)"), (#"x,a\,b"#, "1@2 x! 2:4:1 \(outside)"),
            (#"\Nx,1"#, "1@2 ! 2:1:0 \(outside)"), (#""a\",x"#, "1@2 ! 2:1:0 a quoted field that is never closed"),
            ("x,y\\\nz,1", "2:4: \(joined)"), ("x,y\\\r\nz,1", "2:4: \(joined)"),
            // A text of several lines stays one record, whatever else is wrong with it.
            ("\"Hello\nT,q\nbye\",C:\\temp", #"1@2 Hello\nT,q\nbye! 4:8:1 \#(outside)"#),
            ("\"Hello\nT,q\nx \\t y\",z", "1@2 ! 4:3:0 \(unknown)"),
            ("\"x\\\\\ny\",C:\\temp", #"1@2 x\\ny! 3:6:1 \#(outside)"#),
        ])
    func cases(row: String, expected: String) throws {
        let input = Array("one,two\n\(row)\n".utf8)
        for chunk in [1, 1000] {
            let lines = Reading(
                source: ScriptedSource(input), dialect: try Self.dialect(), limits: .small(chunk: chunk)
            ).lines
            #expect(lines.first == expected)
        }
    }

    private static let unknown = "\(RowError.Cause.unknownEscape)"
    private static let outside = "\(RowError.Cause.backslashOutsideQuotes)"
    private static let joined = String("\(InputError.quoting(.lineEnd, line: 2, column: 4))".dropFirst("2:4: ".count))

    @Test("The places of fields are those of the input") func places() throws {
        let input = Array("one,two,three\n\\N,\"a\\\"\\\\\\\nb\",x\n\"\\\"\",\\\",x\n".utf8)
        let rows = Reading(source: ScriptedSource(input), dialect: try Self.dialect()).rows
        #expect(rows.map(\.places) == [[[2, 1], [2, 5], [3, 4]], [[4, 2], [4, 6], [4, 9]]])
    }

    @Test("The delimiter is no escape") func delimiter() throws {
        let backslash = UInt8(ascii: "\\")
        #expect(throws: CSVDialect.BadDelimiter(byte: backslash)) {
            try CSVDialect(delimiter: backslash, escape: .backslash)
        }
        let input = Array("a\\b\n\"1\"\\\"2\"\n".utf8)
        #expect(
            Reading(source: ScriptedSource(input), dialect: try CSVDialect(delimiter: backslash)).lines == ["1@2 1|2"])
    }

    @Test("Lines that are given back are read as they were") func returned() throws {
        let returned = ReturnedLines(.csv(try Self.dialect()))
        var lines = returned.header(["one", "two\\"])
        let record = Array(#""a \"b\"","c""#.utf8)
        record.withUnsafeBytes {
            returned.append($0, row: 7, reason: #"found "C:\" and \"#, to: &lines)
        }
        let reading = Reading(source: ScriptedSource(lines), dialect: try Self.dialect())
        #expect(reading.columns.last == Array("two\\".utf8))
        #expect(reading.lines == [#"1@2 7|found "C:\" and \|a "b"|c"#])
    }
}
