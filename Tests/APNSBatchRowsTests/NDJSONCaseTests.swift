import Testing

@testable import APNSBatchRows

/// The columns are `a` and `b`, the limits 12 bytes for fields and 40 bytes for records.
private let cases: [Case] = [
    // Good rows.
    Case("lines", #"{"a":"1","b":"2"}"# + "\n" + #"{"a":"3","b":"4"}"# + "\n", "1@1 1|2", "2@2 3|4"),
    Case("a last line without its end", #"{"a":"1","b":"2"}"#, "1@1 1|2"),
    Case("CR LF", #"{"a":"1"}"# + "\r\n" + #"{"a":"3"}"# + "\r\n", "1@1 1|", "2@2 3|"),
    Case("an input that ends in CR", #"{"a":"1"}"# + "\r", "1@1 1|"),
    Case("blank lines are no rows", "\n\r\n{\"a\":1}\n\n\r\n{\"a\":2}\n\r", "1@3 1|", "2@6 2|"),
    Case("a byte order mark", "\u{FEFF}{\"a\":1}\n", "1@1 1|"),
    Case("keys in any order", #"{"b":"2","a":"1"}"#, "1@1 1|2"),
    Case("a key that is no column", #"{"c":[1,{"a":2}],"b":"2"}"#, "1@1 |2"),
    Case("no key that is a column", "{}\n{\"c\":1}", "1@1 |", "2@2 |"),
    Case("blanks", " { \"a\" :\t\"1\" , \"b\": 2 } \n", "1@1 1|2"),
    Case("null", #"{"a":null,"b":"null"}"#, "1@1 |null"),
    Case(
        "values keep their text", #"{"a":-0.5e+7,"b":true}"# + "\n" + #"{"a":false,"b":0}"#, "1@1 -0.5e+7|true",
        "2@2 false|0"),
    Case("an object and an array keep their text", #"{"a":{"x": [ ]},"b":[ 1,"]"]}"#, #"1@1 {"x": [ ]}|[ 1,"]"]"#),
    Case("escapes", #"{"a":"\"\\\/\u00e9","b":"\ud83c\udf89"}"#, #"1@1 "\/é|🎉"#),
    Case("escapes of control characters", #"{"a":"\b\f\n\r\t|"}"#, "1@1 \u{8}\u{C}\\n\\r\t||"),
    Case("an escaped key", #"{"\u0061":"1"}"#, "1@1 1|"),
    Case("a key that only looks like a column", #"{"\\u0061":"1","aa":2,"":3}"#, "1@1 |"),
    Case("text of every width", #"{"a":"é中🎉"}"#, "1@1 é中🎉|"),
    Case("an empty text", #"{"a":"","b":""}"#, "1@1 |"),
    Case(
        "the same shape with other kinds of values", "{\"a\":\"1\"}\n{\"a\":2}\n{\"a\":null}\n{\"a\":[]}\n",
        "1@1 1|", "2@2 2|", "3@3 |", "4@4 []|"),
    Case(
        "another shape and back", "{\"a\":1}\n{\"a\":1,\"b\":2}\n{\"b\":3}\n{\"a\":4}\n", "1@1 1|", "2@2 1|2", "3@3 |3",
        "4@4 4|"),
    Case(
        "the shape of the last row, and more", "{\"a\":1}\n{\"a\":1}x\n", "1@1 1|",
        "2@2 1|! 2:8:2 text after the end of the object"),
    // Bad rows, which spoil no other.
    Case(
        "a bad line between good ones", "{\"a\":1}\n{\"a\"\n{\"a\":2}\n",
        "1@1 1|", "2@2 |! 2:5:2 expected \":\" after the key", "3@3 2|"),
    Case(
        "no object", "[1]\n\"a\"\nx\n", "1@1 |! 1:1:2 expected a JSON object in braces",
        "2@2 |! 2:1:2 expected a JSON object in braces", "3@3 |! 3:1:2 expected a JSON object in braces"),
    Case("a line of blanks", "  \n", "1@1 |! 1:3:2 expected a JSON object in braces"),
    Case("two objects", #"{"a":1} {"a":2}"#, "1@1 1|! 1:9:2 text after the end of the object"),
    Case(
        "an object that goes on in the next line", "{\"a\":1,\n\"b\":2}\n",
        "1@1 1|! 1:8:2 expected a key in quotes", "2@2 |! 2:1:2 expected a JSON object in braces"),
    Case("a key without quotes", #"{"b":1,a:2}"#, "1@1 |1! 1:8:2 expected a key in quotes"),
    Case("no comma", #"{"a":1 "b":2}"#, "1@1 1|! 1:8:2 expected \",\", or the end of the object or array"),
    Case("a comma before the end", #"{"a":1,}"#, "1@1 1|! 1:8:2 expected a key in quotes"),
    Case("a comma before the end of an array", #"{"a":[1,]}"#, "1@1 |! 1:9:2 expected a JSON value"),
    Case("the wrong bracket", #"{"a":[1}}"#, "1@1 |! 1:8:2 expected \",\", or the end of the object or array"),
    Case("no value", #"{"a":}"#, "1@1 |! 1:6:2 expected a JSON value"),
    Case(
        "words", "{\"a\":True}\n{\"a\":nulls}\n{\"a\":NaN}\n", "1@1 |! 1:6:2 expected a JSON value",
        "2@2 |! 2:6:2 expected a JSON value", "3@3 |! 3:6:2 expected a JSON value"),
    Case(
        "numbers", "{\"a\":01}\n{\"a\":1.}\n{\"a\":-}\n{\"a\":1e}\n{\"a\":1x}\n{\"a\":+1}\n",
        "1@1 |! 1:6:2 not a JSON number",
        "2@2 |! 2:6:2 not a JSON number", "3@3 |! 3:6:2 not a JSON number", "4@4 |! 4:6:2 not a JSON number",
        "5@5 |! 5:6:2 not a JSON number", "6@6 |! 6:6:2 expected a JSON value"),
    Case(
        "a string that is never closed", "{\"a\":\"1}\n{\"a\":2}\n",
        "1@1 |! 1:6:2 a string that is never closed", "2@2 2|"),
    Case("a tab in a string", "{\"a\":\"1\t2\"}\n", "1@1 |! 1:8:2 a control character inside a string"),
    Case(
        "escapes that are none", "{\"a\":\"\\x\"}\n{\"a\":\"\\u12G4\"}\n{\"a\":\"\\\n",
        "1@1 |! 1:7:2 not a JSON escape",
        "2@2 |! 2:7:2 not a JSON escape", "3@3 |! 3:7:2 not a JSON escape"),
    Case(
        "half of a pair", "{\"a\":\"\\ud83c\"}\n{\"a\":\"\\udf89\"}\n{\"a\":\"\\ud83c\\u0061\"}\n",
        "1@1 |! 1:7:2 half of a surrogate pair", "2@2 |! 2:7:2 half of a surrogate pair",
        "3@3 |! 3:7:2 half of a surrogate pair"),
    Case("an escaped NUL", #"{"a":"\u0000"}"#, "1@1 |! 1:7:2 a NUL character"),
    Case("a key that occurs twice", #"{"a":1,"b":2,"a":3}"#, "1@1 1|2! 1:14:2 a key that occurs twice"),
    Case("a key that occurs twice, once as null", #"{"a":null,"\u0061":3}"#, "1@1 |! 1:11:2 a key that occurs twice"),
    Case("a key of no column may occur twice", #"{"c":1,"c":2,"a":3}"#, "1@1 3|"),
    Case(
        "bytes that are not UTF-8", bytes: Array("{\"a\":1,\"b\":\"".utf8) + [0xFF] + Array("\"}\n{\"a\":2}".utf8),
        "1@1 1|! 1:13:2 bytes that are not UTF-8", "2@2 2|"),
    Case("a NUL byte", "{\"a\":\"\0\"}\n", "1@1 |! 1:7:2 a NUL byte"),
    // Limits.
    Case("a field of the limit", #"{"a":"123456789012"}"#, "1@1 123456789012|"),
    Case("a field over the limit", #"{"b":2,"a":"1234567890123"}"#, "1@1 |2! 1:12:2 a field of more than 12 bytes"),
    Case("an object over the limit", #"{"a":[1,2,3,4,5,6]}"#, "1@1 |! 1:6:2 a field of more than 12 bytes"),
    Case("a record of the limit", #"{"a":1,"c":"12345678901234567890123456"}"#, "1@1 1|"),
    Case(
        "a record over the limit", "{\"a\":1,\"c\":\"123456789012345678901234567\"}\n{\"a\":2}",
        "1@1 |! 1:1:2 a record of more than 40 bytes", "2@2 2|"),
]

@Suite("Lines of JSON") struct NDJSONCaseTests {
    @Test(arguments: cases) func `a line is a row`(test: Case) {
        for chunk in [1, 7, 64, 4096] {
            for pieces in [[1], [3, 5, .max], [.max]] {
                let reading = Reading(
                    ndjson: ScriptedSource(test.input, pieces: pieces), columns: ["a", "b"],
                    limits: .small(chunk: chunk, field: 12, record: 40))
                #expect(reading.lines == test.expected, "chunks of \(chunk), pieces of \(pieces)")
                #expect(reading.columns == ["a", "b"].map { Array($0.utf8) })
            }
        }
    }

    @Test func `a field has the place of its content`() {
        let reading = Reading(
            ndjson: ScriptedSource(Array("{\"a\":\"1\", \"b\":{}}\n{\"b\": 2}\n".utf8)), columns: ["a", "b"])
        #expect(reading.rows.map(\.places) == [[[1, 7], [1, 15]], [[2, 1], [2, 7]]])
    }

    @Test func `an object may be as deep as the limit`() {
        let line = { (depth: Int) in
            Array("{\"a\":\(String(repeating: "[", count: depth))\(String(repeating: "]", count: depth))}\n".utf8)
        }
        let reading = Reading(ndjson: ScriptedSource(line(63) + line(64) + line(1)), columns: ["a"])
        #expect(reading.rows.map { $0.error?.cause } == [nil, .json(.tooDeep), nil])
    }

    @Test func `many members are read, if not learned`() {
        let members = (0..<300).map { "\"k\($0)\":\"\($0)\"" }.joined(separator: ",")
        let input = "{\(members)}\n{\(members),\"k7\":1}\n{\(members)}\n"
        let reading = Reading(ndjson: ScriptedSource(Array(input.utf8)), columns: ["k299", "k7"])
        #expect(
            reading.rows.map { $0.fields.map { String(decoding: $0, as: UTF8.self) } } == [
                ["299", "7"], ["299", "7"], ["299", "7"],
            ])
        #expect(reading.rows.map { $0.error?.cause } == [nil, .json(.duplicateKey), nil])
    }

    @Test(arguments: [
        ("rows.ndjson", "token\n", true), ("rows.jsonl.gz", "", true), ("rows.jsonl.zst", "x", true),
        ("rows.csv", "{\"a\":1}\n", true), ("<stdin>", "\n {\"a\":1}", true), ("rows.csv", "a,b\n", false),
        ("rows.ndjson.txt", "a\n", false), ("<stdin>", "\u{FEFF}{\"a\":1}\n", true),
    ])
    func `name and first byte tell the format`(name: String, text: String, isNDJSON: Bool) throws {
        let choice = FormatChoice(of: name, orCSV: .comma, columns: ["a"])
        let reader = ChunkReader(source: ScriptedSource(Array(text.utf8)), format: choice, buffers: 1)
        _ = try reader.readColumns()
        #expect((reader.format == .ndjson) == isNDJSON)
    }

    @Test func `the first byte may come late`() throws {
        let choice = FormatChoice(of: "<stdin>", orCSV: .comma, columns: ["a"])
        for (text, isNDJSON) in [("\n\r\n \n\t{\"a\":1}\n", true), ("\n\n\n\na\n{\n", false)] {
            for piece in 1...text.utf8.count {
                let source = ScriptedSource(Array(text.utf8), pieces: [piece])
                let reader = ChunkReader(source: source, format: choice, buffers: 1)
                _ = try reader.readColumns()
                #expect((reader.format == .ndjson) == isNDJSON, "pieces of \(piece)")
            }
        }
    }

    @Test func `several files have one format`() throws {
        let files = [
            TemporaryFile("{\"a\":1}"), TemporaryFile("\u{FEFF}{\"a\":2}\n{\"a\":3}\n"),
            TemporaryFile(Packing.gzip.pack(Array("\n{\"a\":4}".utf8))),
        ]
        let parts = InputParts()
        let choice = FormatChoice(of: "rows", orCSV: .comma, columns: ["a"])
        let reading = Reading(
            try ChunkReader(input: .files(files.map(\.path), parts), format: choice, buffers: 1))
        #expect(reading.lines == ["1@1 1", "2@2 2", "3@3 3", "4@5 4"])
        let places = reading.rows.compactMap { parts.place(ofLine: $0.line) }
        #expect(places.map(\.file) == [0, 1, 1, 2].map { files[$0].path })
        #expect(places.map(\.line) == [1, 1, 2, 2])
        let other = TemporaryFile("a\n1\n")
        for paths in [[files[0].path, other.path], [other.path, files[0].path]] {
            #expect(throws: InputError.self) {
                try ChunkReader(input: .files(paths, InputParts()), format: choice, buffers: 1)
            }
        }
    }
}
