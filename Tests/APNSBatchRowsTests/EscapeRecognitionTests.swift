import Testing

@testable import APNSBatchRows

/// Inputs of which nobody says how quotes are escaped.
@Suite("Escapes that are recognised")
struct EscapeRecognitionTests {
    /// The line of a row, and the column of the backslash that stops the input; nil if it does not.
    private static let rows: [(row: String, column: Int?)] = [
        (#""{\"a\"}",x"#, 3), (#""a \"b\" c",x"#, 4), (#"x,"ends with \",y"#, 14), (#"x,"C:\""#, 6), (#"x,"C:\\""#, 7),
        (#""x\",",b""#, 3), (#""5\"",x"#, 3), (#""\"",x"#, 2), (#"5\",x"#, 2), (#""a\"",","#, 3), (#""\"a\"",x"#, 2),
        (#""5\"",x"# + "\n" + #"",",y"#, 3), (#""\\\"",x"#, 4), (#""a,\"b",x"#, 4), (#""\n","\""#, 7),
        (#""a\"",",""#, 3),
        ("\"a\\\nb\",x", 3), ("\"a\\\r\nb\",x", 3),
        // These can only be RFC 4180, or neither.
        (#""{""aps"":{""alert"":""say \""hi\"", you""}}",x"#, nil), (#""say ""hi"" \"", ok",x"#, nil),
        (#"C:\,x"#, nil), (#""C:\dir",x"#, nil), (#""a\\b",x"#, nil), (#""a"b\"c",x"#, nil), (#"\N,x"#, nil),
        (#""{""a"":""C:\\""}",x"#, nil), (#"a"\"b,x"#, nil), (#""a\""b",x"#, nil),
    ]

    private func read(
        _ input: [UInt8], _ escape: CSVDialect.Escape = .recognised, pieces: [Int] = [.max], chunk: Int = 1 << 16
    ) throws -> Reading {
        Reading(
            source: ScriptedSource(input, pieces: pieces), dialect: try CSVDialect(escape: escape),
            limits: .small(chunk: chunk, field: 400, record: 800))
    }

    @Test("A record that may be read in two ways stops the input, wherever it is", arguments: rows)
    func stops(row: String, column: Int?) throws {
        for shift in 0..<70 {
            let before = "one,two\n\(String(repeating: "f", count: shift)),\n\n"
            let input = Array("\(before)\(row)\nx,y\n".utf8)
            let expected = column.map { InputError.quoting(.escapes, line: 4, column: $0) }
            for (piece, chunk) in [(.max, 1 << 16), (1, 1), (shift + 1, 1), (7, 50)] as [(Int, Int)] {
                let reading = try read(input, pieces: [piece], chunk: chunk)
                #expect(reading.failure == expected, "shift \(shift), chunk \(chunk)")
            }
        }
    }

    @Test("A backslash at the end of a line outside of quotes stops the input", arguments: ["\n", "\r\n"])
    func lineEnd(end: String) throws {
        for shift in 0..<70 {
            let fill = String(repeating: "f", count: shift)
            let input = Array("one,two\(end)\(fill),b\(end)x,C:\\\(end)y,z\(end)".utf8)
            for (piece, chunk) in [(.max, 1 << 16), (1, 1), (7, 50)] as [(Int, Int)] {
                let reading = try read(input, pieces: [piece], chunk: chunk)
                #expect(reading.failure == .quoting(.lineEnd, line: 3, column: 5), "shift \(shift), chunk \(chunk)")
                #expect(try read(input, .none, pieces: [piece], chunk: chunk).failure == nil)
            }
        }
        #expect(try read(Array("one,two\(end)x,C:\\".utf8)).failure == nil)
    }

    @Test("A record whose fault is behind its first line stops the input")
    func faultBehindFirstLine() throws {
        for (text, line, column) in [
            ("\"Hello\nshe said \\\"hi\\\"\",x\n", 3, 10), ("\"Hello\nb,q\nbye \\\"x\\\" y\",x\n", 4, 5),
        ] as [(String, UInt64, Int)] {
            for (piece, chunk) in [(.max, 1 << 16), (1, 1), (7, 50)] as [(Int, Int)] {
                let reading = try read(Array("one,two\n\(text)x,y\n".utf8), pieces: [piece], chunk: chunk)
                #expect(reading.failure == .quoting(.escapes, line: line, column: column), "\(text), chunk \(chunk)")
            }
        }
    }

    @Test("Nothing stops an input that is said to double quotes", arguments: rows)
    func said(row: String, column: Int?) throws {
        let input = Array("one,two\n\(row)\nx,y\n".utf8)
        let expected = ReferenceReader(fieldBytes: 400, recordBytes: 800).read(input)
        #expect(try read(input, .none) == expected)
        if column == nil { #expect(try read(input) == expected) }
    }

    @Test("A header row stops the input, too", arguments: [#""a\"b",c"#, #""a\",c"#])
    func header(row: String) throws {
        let failure = try read(Array("\n\(row)\n1,2\n".utf8)).failure
        #expect(failure == .quoting(.escapes, line: 2, column: 3))
    }

    @Test("No row that a program wrote with escapes before its quotes is misread", arguments: 0..<60)
    func neverMisread(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = ["a", ",", "\n", "\"", "\",", ",\"", "\"\"", "\\\"", "b c", "\r\n", "0123456789"]
        let table = (0..<40).map { row in
            [
                "\(row)",
                (0..<Int.random(in: 0..<5, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined(),
            ]
        }
        for writer in [Writer.spark, .mysql, .pandas] {
            let reading = try read(Array("one,two\n".utf8) + table.flatMap(writer.line), chunk: 1)
            for row in reading.rows where row.error == nil {
                let fields = row.fields.map { String(decoding: $0, as: UTF8.self) }
                #expect(table.contains(fields), "\(fields)")
            }
        }
    }

    @Test("JSON in columns that are written by RFC 4180 never stops the input", arguments: 0..<40)
    func json(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = ["a", ",", #"\""#, #"\\"#, #"\n"#, #"\","#, #"\"\""#, "b c", #"\\\""#]
        let texts = (0..<40).map { _ in
            "{\"a\":\"" + (0..<6).map { _ in pieces.randomElement(using: &random)! }.joined() + "\",\"b\":\"\"}"
        }
        let rows = texts.map { "x,\"\($0.replacing("\"", with: "\"\""))\"\n" }
        let reading = try read(Array("one,two\n\(rows.joined())".utf8), chunk: 300)
        #expect(reading.failure == nil)
        #expect(reading.rows.map { String(decoding: $0.fields[1], as: UTF8.self) } == texts)
    }
}
