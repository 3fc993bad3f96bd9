import Testing

@testable import APNSBatchRows

/// An input and the expected rows.
struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let input: [UInt8]
    let expected: [String]
    var delimiter = UInt8(ascii: ",")

    init(_ name: String, _ input: String, _ expected: String...) {
        (self.name, self.input, self.expected) = (name, Array(input.utf8), expected)
    }

    init(_ name: String, bytes: [UInt8], _ expected: String...) {
        (self.name, input, self.expected) = (name, bytes, expected)
    }

    init(_ name: String, delimiter: Character, _ input: String, _ expected: String...) {
        (self.name, self.input, self.expected) = (name, Array(input.utf8), expected)
        self.delimiter = delimiter.asciiValue!
    }

    var testDescription: String { name }
}

/// The limits are 12 bytes for fields and 30 bytes for records. The header is `a,b` unless the case tests the header.
private let cases: [Case] = [
    // Valid rows.
    Case("plain rows", "a,b\n1,2\n3,4\n", "1@2 1|2", "2@3 3|4"),
    Case("a last line without its end", "a,b\n1,2\n3,4", "1@2 1|2", "2@3 3|4"),
    Case("CR LF", "a,b\r\n1,2\r\n3,4\r\n", "1@2 1|2", "2@3 3|4"),
    Case("CR LF and LF mixed", "a,b\n1,2\r\n3,4\n", "1@2 1|2", "2@3 3|4"),
    Case("an input that ends in CR", "a,b\n1,2\r", "1@2 1|2"),
    Case("a quoted field that ends in CR with the input", "a,b\n1,\"2\"\r", "1@2 1|2"),
    Case("a lone CR is data", "a,b\n1\r,\r2\n", "1@2 1\\r|\\r2"),
    Case("two CRs and an LF", "a,b\n1,2\r\r\n", "1@2 1|2\\r"),
    Case("empty fields", "a,b\n,\n,2\n1,\n", "1@2 |", "2@3 |2", "3@4 1|"),
    Case("empty quoted fields", "a,b\n\"\",\"\"\n", "1@2 |"),
    Case("an empty field at the end of the input", "a,b\n1,", "1@2 1|"),
    Case("quoted delimiters", "a,b\n\"1,1\",\",\"\n", "1@2 1,1|,"),
    Case("quoted line ends", "a,b\n\"1\n1\",\"2\r\n2\"\n3,4\n", "1@2 1\\n1|2\\r\\n2", "2@5 3|4"),
    Case("a quoted line end only", "a,b\n\"\n\",\"\r\"\n3,4\n", "1@2 \\n|\\r", "2@4 3|4"),
    Case("doubled quotes", "a,b\n\"\"\"1\"\"\",\"\"\"\"\n", "1@2 \"1\"|\""),
    Case("a doubled quote before a delimiter", "a,b\n\"1\"\",2\",3\n", "1@2 1\",2|3"),
    Case("doubled quotes and quoted line ends", "a,b\n\"1\"\"\n\",2\n3,4\n", "1@2 1\"\\n|2", "2@4 3|4"),
    Case("blanks are data", "a,b\n 1 , \"2\n", "1@2  1 ! 2:6:1 a quote inside an unquoted field"),
    Case("blank lines are no rows", "\n\r\na,b\n\n1,2\n\r\n\n3,4\n\n", "1@5 1|2", "2@8 3|4"),
    Case("a CR as last, blank line", "a,b\n1,2\n\r", "1@2 1|2"),
    Case("a byte order mark", "\u{FEFF}a,b\n1,2\n", "1@2 1|2"),
    Case("a byte order mark further on is data", "a,b\n\u{FEFF},2\n", "1@2 \u{FEFF}|2"),
    Case("text of every width", "a,b\né中🎉,ÿ\u{10FFFF}\n", "1@2 é中🎉|ÿ\u{10FFFF}"),
    Case("a semicolon", delimiter: ";", "a;b\n1,1;\"2;2\"\n", "1@2 1,1|2;2"),
    Case("a tab", delimiter: "\t", "a\tb\n1\t\"\t\"\n", "1@2 1|\t"),
    Case("one column", "a\n1\n\n\"\"\n2", "1@2 1", "2@4 ", "3@5 2"),
    Case("a header alone", "a,b\n"),
    Case("a header without its end", "a,b"),
    Case("a quoted header", "\"a\",\"b \"\"c\"\"\n\"\n1,2\n", "1@3 1|2"),

    // Too few and too many fields.
    Case("a field too few", "a,b\n1\n3,4\n", "1@2 1! 2:2:1 expected 2 fields, found 1", "2@3 3|4"),
    Case("a field too many", "a,b\n1,2,3\n3,4\n", "1@2 1|2! 2:5:2 expected 2 fields, found 3", "2@3 3|4"),
    Case("two too many", "a,b\n1,\"2\",\"\",4\n", "1@2 1|2! 2:7:2 expected 2 fields, found 4"),
    Case("a lone space", "a,b\n \n", "1@2  ! 2:2:1 expected 2 fields, found 1"),
    Case(
        "too few with quoted line ends", "a,b\n\"1\n1\"\n3,4\n", "1@2 1\\n1! 3:3:1 expected 2 fields, found 1",
        "2@4 3|4"),
    Case("too many for one column", "a\n1,2\n", "1@2 1! 2:3:1 expected 1 field, found 2"),

    // Quotes in a wrong position.
    Case(
        "a quote in an unquoted field", "a,b\n1,2\"2\"\n3,4\n", "1@2 1! 2:4:1 a quote inside an unquoted field",
        "2@3 3|4"),
    Case(
        "a quote at the end of an unquoted field", "a,b\n1\",2\n3,4\n",
        "1@2 ! 2:2:0 a quote inside an unquoted field", "2@3 3|4"),
    Case(
        "a stray quote before a quoted field", "a,b\n1\",\"2\n2\"\n3,4\n",
        "1@2 ! 2:2:0 a quote inside an unquoted field", "2@3 ! 3:2:0 a quote inside an unquoted field", "3@4 3|4"),
    Case(
        "text after a quote", "a,b\n\"1\"1,2\n3,4\n", "1@2 ! 2:4:0 text after the closing quote of a field", "2@3 3|4"),
    Case(
        "a blank after a quote", "a,b\n1,\"2\" \n3,4\n", "1@2 1! 2:6:1 text after the closing quote of a field",
        "2@3 3|4"),
    Case(
        "a CR after a quote", "a,b\n\"1\"\r,2\n3,4\n",
        "1@2 ! 2:4:0 text after the closing quote of a field", "2@3 3|4"),
    Case("never closed", "a,b\n1,\"2\n3,4\n", "1@2 1! 2:3:1 a quoted field that is never closed", "2@3 3|4"),
    Case(
        "never closed on the last line", "a,b\n1,2\n3,\"", "1@2 1|2", "2@3 3! 3:3:1 a quoted field that is never closed"
    ),
    Case(
        "closed by the next row's quote", "a,b\n1,\"2\n\"3\",4\n5,6\n",
        "1@2 1! 2:3:1 text after the closing quote of a field", "2@3 3|4", "3@4 5|6"),
    Case(
        "the same over several lines", "a,b\n1,\"2\n3,4\n\n5,\"6\"\n",
        "1@2 1! 2:3:1 text after the closing quote of a field", "2@3 3|4", "3@5 5|6"),
    Case(
        "a later field of a record of several lines", "a,b\n\"1\n1\",2\"\n3,4\n",
        "1@2 ! 2:1:0 a quote inside an unquoted field", "2@3 ! 3:2:0 a quote inside an unquoted field", "3@4 3|4"),
    Case("closed at the end of a line", "a,b\n1,\"2\n3,4\"\n5,6\n", "1@2 1|2\\n3,4", "2@4 5|6"),

    // Bytes that are not text.
    Case("a NUL", "a,b\n1,2\u{0}\n3,4\n", "1@2 1! 2:4:1 a NUL byte", "2@3 3|4"),
    Case("a NUL goes before all else", "a,b\n\"1\"1,\u{0}\n", "1@2 ! 2:6:0 a NUL byte"),
    Case("a NUL in a later line of a record", "a,b\n1,\"2\n\u{0}\"\n3,4\n", "1@2 1! 3:1:1 a NUL byte", "2@4 3|4"),
    Case("a NUL too many", "a,b\n1,2,3,\u{0}\n", "1@2 1|2! 2:7:2 a NUL byte"),
    Case(
        "Latin-1", bytes: Array("a,b\n1,".utf8) + [0xE9, 0x74, 0x0A, 0x33, 0x2C, 0x34],
        "1@2 1! 2:3:1 bytes that are not UTF-8", "2@3 3|4"),
    Case(
        "a sequence cut by a delimiter", bytes: Array("a,b\n".utf8) + [0xE2, 0x82, 0x2C, 0x32, 0x0A],
        "1@2 ! 2:1:0 bytes that are not UTF-8"),
    Case(
        "a surrogate", bytes: Array("a,b\n1,2".utf8) + [0xED, 0xA0, 0x80, 0x0A],
        "1@2 1! 2:4:1 bytes that are not UTF-8"),
    Case(
        "a sequence cut by the end of the input", bytes: Array("a,b\n1,2".utf8) + [0xF0, 0x9F],
        "1@2 1! 2:4:1 bytes that are not UTF-8"),

    // Limits of 12 bytes for fields and 30 bytes for records.
    Case("a field of just the limit", "a,b\n123456789012,\"123456789012\"\r\n", "1@2 123456789012|123456789012"),
    Case(
        "a field over the limit", "a,b\n1,1234567890123\n3,4\n", "1@2 1! 2:3:1 a field of more than 12 bytes", "2@3 3|4"
    ),
    Case(
        "a quoted field over the limit", "a,b\n1,\"1234567890123\"\n3,4\n",
        "1@2 1! 2:3:1 a field of more than 12 bytes", "2@3 3|4"),
    Case(
        "doubled quotes count twice", "a,b\n\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\",2\n",
        "1@2 ! 2:1:0 a field of more than 12 bytes"),
    Case(
        "a field over the limit by quoted lines", "a,b\n1,\"2\n3,4\n5,6\n7,8\n9,0\n",
        "1@2 1! 2:3:1 a field of more than 12 bytes", "2@3 3|4", "3@4 5|6", "4@5 7|8", "5@6 9|0"),
    Case(
        "a field many times the limit", "a,b\n1," + String(repeating: "x", count: 200) + "\n3,4\n",
        "1@2 1! 2:3:1 a field of more than 12 bytes", "2@3 3|4"),
    Case(
        "a field many times the limit at the end", "a,b\n" + String(repeating: "x", count: 200),
        "1@2 ! 2:1:0 a field of more than 12 bytes"),
    Case(
        "a record of just the limit", "a,b\n1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,\r\n3,4\n",
        "1@2 1|2! 2:5:2 expected 2 fields, found 16", "2@3 3|4"),
    Case(
        "a record over the limit", "a,b\n1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6\r\n3,4\n",
        "1@2 1|2! 2:1:2 a record of more than 30 bytes", "2@3 3|4"),
    Case(
        "a record many times the limit", "a,b\n1" + String(repeating: ",x", count: 100) + "\n3,4\n",
        "1@2 1|x! 2:1:2 a record of more than 30 bytes", "2@3 3|4"),
    Case(
        "a record over the limit by quoted lines",
        "a,b\n\"1\n1\",\"2\n2\",\"3\n3\",\"4\n4\",\"5\n5\",6\n3,4\n",
        "1@2 ! 2:1:0 a record of more than 30 bytes", "2@3 ! 3:2:0 a quote inside an unquoted field",
        "3@4 ! 4:2:0 a quote inside an unquoted field", "4@5 ! 5:2:0 a quote inside an unquoted field",
        "5@6 ! 6:2:0 a quote inside an unquoted field", "6@7 ! 7:2:0 a quote inside an unquoted field", "7@8 3|4"),

    // Invalid headers.
    Case("nothing", "", "the input has no header row"),
    Case("a byte order mark alone", "\u{FEFF}", "the input has no header row"),
    Case("blank lines alone", "\n\r\n\r", "the input has no header row"),
    Case("an empty name", "a,\n", "column 2 of the header row has no name"),
    Case("a name twice", "a,b,\"a\"\n1,2,3\n", "columns 1 and 3 of the header row are both named \"a\""),
    Case("names that differ in case or spelling", "e\u{301},\u{E9},É\n1,2,3\n", "1@2 1|2|3"),
    Case("a stray quote in the header", "\na,b\"\n1,2\n", "2:4: header row: a quote inside an unquoted field"),
    Case("a header in Latin-1", bytes: [0x61, 0x2C, 0xE9, 0x0A], "1:3: header row: bytes that are not UTF-8"),
    Case("a header that never closes", "a,\"b\n1,2\n", "1:3: header row: a quoted field that is never closed"),
    Case("a header over the limit", "a,bbbbbbbbbbbbb\n1,2\n", "1:3: header row: a field of more than 12 bytes"),
]

@Suite("CSV cases")
struct CaseTests {
    private func limits(chunk: Int) -> RowLimits {
        RowLimits(chunkBytes: chunk, fieldBytes: 12, recordBytes: 30)
    }

    private func read(_ test: Case, pieces: [Int], chunk: Int) throws -> [String] {
        let dialect = try CSVDialect(delimiter: test.delimiter)
        return Reading(
            source: ScriptedSource(test.input, pieces: pieces), dialect: dialect, limits: limits(chunk: chunk)
        )
        .lines
    }

    @Test("Each case is read as documented, by the reference too", arguments: cases)
    func asWritten(test: Case) throws {
        #expect(try read(test, pieces: [.max], chunk: 1 << 16) == test.expected)
        let reference = ReferenceReader(delimiter: test.delimiter, fieldBytes: 12, recordBytes: 30)
        #expect(reference.read(test.input).lines == test.expected)
    }

    @Test(
        "Input that is not CSV in UTF-8 is refused by name, however it arrives",
        arguments: [
            ([0xFF, 0xFE, 0x61, 0x00], .utf16), ([0xFE, 0xFF, 0x00, 0x61], .utf16), (Array("a\0b\0\n\0".utf8), .utf16),
            (Array("\0a\0b\0\n".utf8), .utf16), ([0x1F, 0x8B, 0x08, 0x0A, 0x00, 0x00], .gzip),
            ([0x28, 0xB5, 0x2F, 0xFD, 0x0A, 0x00], .zstd), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00], .xz),
            (Array("BZh91AY&SY".utf8), .bzip2), ([0x50, 0x4B, 0x03, 0x04, 0x14, 0x00], .zip),
            ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1], .xls), (Array("sep=;\na;b\n".utf8), .separatorLine(0x3B)),
            (Array("\u{FEFF}sep=\t\r\na\tb\r\n".utf8), .separatorLine(0x09)),
            (Array("PAR1\u{15}\u{04}\u{15}\u{10}".utf8), .parquet), (Array("Obj\u{1}\u{2}\u{16}avro".utf8), .avro),
            (Array("ARROW1\0\0\u{10}".utf8), .arrow), (Array("ORC\u{11}\0\0\n".utf8), .orc),
            (Array("SQLite format 3\0\u{10}\0".utf8), .sqlite), (Array("[{\"token\":1}]".utf8), .jsonArray),
            (Array("\u{FEFF} [\r\n  {\r\n".utf8), .jsonArray), (Array("[]".utf8), .jsonArray),
            (Array("a,b\r1,2\r3,4\r".utf8), .carriageReturns),
            // The text is longer than the limit of a record.
            (Array("a,b\r1,2\r3,4\r1,2\r3,4\r1,2\r3,4\r1,2\r3,4\r1,2\r3,4\r".utf8), .carriageReturns),
        ] as [([UInt8], ForeignFormat)])
    func foreign(input: [UInt8], format: ForeignFormat) {
        for split in 1...input.count {
            for pieces in [[split, .max], [1]] {
                let source = ScriptedSource(input, pieces: pieces)
                #expect(Reading(source: source, limits: limits(chunk: 1)).failure == .foreign(format), "\(split)")
            }
        }
    }

    @Test(
        "Input with only part of a byte order mark is read",
        arguments: [
            "PAR1,a\n1,2\n", "ORC\n1\n", "ORCID\ta\n1\t2\n", "ARROW1\n1\n", "[a],b\n1,2\n", "sep=a\n1\n", "BZ,h\n1,2\n",
            "PK\n1\n", "sep,x\n1,2\n", "\"a\rb\"\n1\n",
        ])
    func notForeign(input: String) {
        let reading = Reading(source: ScriptedSource(Array(input.utf8)), limits: limits(chunk: 1))
        #expect((reading.failure == nil) == !input.hasPrefix("sep=") && reading.rows.count <= 1)
    }

    @Test("Each case gives the same rows at every split point of the reads", arguments: cases)
    func everySplitPoint(test: Case) throws {
        for split in 1...max(test.input.count, 1) {
            #expect(try read(test, pieces: [split, .max], chunk: 1) == test.expected, "split at \(split)")
        }
        #expect(try read(test, pieces: [1], chunk: 1) == test.expected)
        #expect(try read(test, pieces: [1], chunk: 1000) == test.expected)
    }

    @Test("Each case gives the same rows at every chunk size", arguments: cases)
    func everyChunkSize(test: Case) throws {
        for chunk in 1...(test.input.count + 3) {
            #expect(try read(test, pieces: [.max], chunk: chunk) == test.expected, "chunk \(chunk)")
        }
    }

    @Test("Each case gives the same rows at every block alignment", arguments: cases)
    func everyAlignment(test: Case) throws {
        // Valid rows of growing length before it shift the case through the blocks of 64 bytes.
        let start = test.input.firstIndex(of: 10).map { $0 + 1 } ?? 0
        guard test.input.starts(with: Array("a,b\n".utf8)) else { return }
        for shift in 0..<66 {
            let filler = Array("\(String(repeating: "f", count: shift % 11)),\n".utf8)
            let before = Array(repeating: filler, count: 1 + shift / 11).flatMap { $0 }
            let input = test.input[..<start] + before + test.input[start...]
            let reference = ReferenceReader(delimiter: test.delimiter, fieldBytes: 12, recordBytes: 30)
            let reading = Reading(source: ScriptedSource(Array(input)), limits: limits(chunk: 1 << 16))
            #expect(reading == reference.read(Array(input)), "shift \(shift)")
        }
    }
}
