import Testing

@testable import APNSBatchRows

/// Columns within the values of lines of JSON.
@Suite("Paths in lines of JSON") struct NDJSONPathTests {
    private static let columns = [
        JSONColumn("token", path: ["Address"]), JSONColumn("id", path: ["User", "UserId"]),
        JSONColumn("team", path: ["Attributes", "team", "0"]), JSONColumn("zone", path: ["User", "Zone", "Name"]),
    ]

    private func read(_ input: String, pieces: [Int] = [.max], copies: [Int] = []) throws -> [ReadRow] {
        let reader = ChunkReader(
            source: ScriptedSource(Array(input.utf8), pieces: pieces),
            format: FormatChoice(.ndjson, wanted: Self.columns), buffers: 1)
        #expect(try reader.readColumns() == Self.columns.map(\.name))
        var cursor = reader.makeCursor(copies: copies)
        var rows: [ReadRow] = []
        while let chunk = try reader.next() {
            Reading.append(chunk, &cursor, to: &rows)
            chunk.recycle()
        }
        return rows
    }

    private func texts(_ rows: [ReadRow]) -> [[String]] {
        rows.map { $0.fields.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test func `keys that are equal in Unicode but not in their bytes are different ones`() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let columns = [JSONColumn("a", path: [composed, "x"]), JSONColumn("b", path: [decomposed, "y"])]
        let input = #"{"\#(composed)":{"x":"1","y":"wrong"},"\#(decomposed)":{"x":"wrong","y":"2"}}"# + "\n"
        let reader = ChunkReader(
            source: ScriptedSource(Array(input.utf8), pieces: [.max]), format: FormatChoice(.ndjson, wanted: columns),
            buffers: 1)
        #expect(try reader.readColumns() == ["a", "b"])
        var cursor = reader.makeCursor(copies: [])
        var rows: [ReadRow] = []
        while let chunk = try reader.next() {
            Reading.append(chunk, &cursor, to: &rows)
            chunk.recycle()
        }
        #expect(texts(rows) == [["1", "2"]])
    }

    @Test func `values are found by their keys, and a key that a row lacks is empty`() throws {
        let rows = try read(
            """
            {"Address":"a","User":{"UserId":"u1","Zone":{"Name":"X"}},"Attributes":{"team":["r","s"]}}
            {"Address":"b","User":{"Zone":{}},"Attributes":{"team":[]}}
            {"Address":"c","User":{"UserId":7},"Attributes":{"team":[ {"k":[1]} , 2]}}
            {"Address":"d","User":null,"Attributes":[1]}
            { "Attributes" : { "other" : [ "x" ] , "team" : { "0" : true } } , "User" : { } , "Address" : "e" }
            {"Address":"f","User":{"Zone":{"Name":"\\u0059","n":1},"UserId":"q\\"\\\\"},"x":{"UserId":"no"},"Attributes":{}}
            """)
        #expect(
            texts(rows) == [
                ["a", "u1", "r", "X"], ["b", "", "", ""], ["c", "7", #"{"k":[1]}"#, ""], ["d", "", "", ""],
                ["e", "", "true", ""], ["f", #"q"\"#, "", "Y"],
            ])
        #expect(rows.allSatisfy { $0.error == nil })
        // The place of a field within a value.
        #expect(rows[0].places[1] == [1, 34])
    }

    @Test func `a value that a row has twice is a fault of the row, and of no other`() throws {
        let rows = try read(
            """
            {"Address":"a","User":{"UserId":1,"UserId":2}}
            {"Address":"a","User":{"UserId":1},"User":{"UserId":2}}
            {"Address":"a","User":{"UserId":1}}
            {"Address":"a","User":{"UserId":1]}
            {"Address":"a","User":{"UserId":1,}}
            {"Address":"a","Attributes":{"team":[1 2]}}
            {"Address":"a","User":{"UserId":2}}
            """)
        #expect(rows.map { $0.error != nil } == [true, true, false, true, true, true, false])
        #expect(rows[0].error?.cause == .json(.duplicateKey) && rows[0].error?.column == 35)
        #expect(rows[1].error?.cause == .json(.duplicateKey) && rows[1].error?.column == 36)
        #expect(texts([rows[6]]) == [["a", "2", "", ""]])
    }

    @Test func `objects around a column count as levels`() throws {
        func line(_ levels: Int) -> String {
            let (open, close) = (String(repeating: "[", count: levels), String(repeating: "]", count: levels))
            return "{\"User\":{\"x\":\(open)\(close)}}\n"
        }
        let plain = ChunkReader(
            source: ScriptedSource(Array((line(62) + line(63)).utf8)), format: FormatChoice(.ndjson, columns: ["a"]),
            buffers: 1)
        let faults = Reading(plain).rows.map { $0.error?.cause }
        #expect(try read(line(62) + line(63)).map { $0.error?.cause } == faults)
        #expect(faults == [nil, .json(.tooDeep)])
    }

    @Test func `a further field is that of its column, with its place`() throws {
        let rows = try read(
            "{\"Address\":\"a\\u0062\"}\n{\"Address\":\"c\",\"User\":{\"UserId\":1}}\nx\n", copies: [0, 1])
        #expect(texts(Array(rows[..<2])) == [["ab", "", "", "", "ab", ""], ["c", "1", "", "", "c", "1"]])
        #expect(rows[1].places[4] == rows[1].places[0] && rows[2].error != nil)
        let reader = ChunkReader(
            source: ScriptedSource(Array("a,b\n1,\"x\"\"y\"\n,2\n3\n".utf8)), format: .csv(.comma), buffers: 1)
        _ = try reader.readColumns()
        var cursor = reader.makeCursor(copies: [1, 0])
        var csv: [ReadRow] = []
        let chunk = try #require(try reader.next())
        Reading.append(chunk, &cursor, to: &csv)
        chunk.recycle()
        #expect(texts(Array(csv[..<2])) == [["1", "x\"y", "x\"y", "1"], ["", "2", "2", ""]])
        #expect(
            csv[0].places == [[2, 1], [2, 4], [2, 4], [2, 1]] && csv[1].places == [[3, 1], [3, 2], [3, 2], [3, 1]])
        #expect(csv[2].error != nil && csv[2].fields.count == 1)
    }

    // MARK: First rows

    private func look(_ input: String, pieces: [Int] = [.max], needed: [String]) throws -> (FirstRows?, Reading) {
        let columns = needed.map { JSONColumn($0, isNeeded: true) } + [JSONColumn("in", path: ["o", "k"])]
        let reader = ChunkReader(
            source: ScriptedSource(Array(input.utf8), pieces: pieces), format: FormatChoice(.ndjson, wanted: columns),
            buffers: 1)
        let found = try reader.lookAtFirstRows()
        return (found, Reading(reader))
    }

    @Test(arguments: [Int.max, 1, 7]) func `the first rows are shown, and stay`(piece: Int) throws {
        let input = """
            {"a":"\\u0041","o":{"k":1,"l":{"m":2}}}
            no object
            {"\\u0062":2,"o":[3],"A":null}

            """
        let (found, reading) = try look(input, pieces: [piece], needed: ["a", "none"])
        let first = try #require(found)
        #expect(first.rows == 2 && first.has == [true, false, true])
        #expect(first.keys == ["a", "o", "b", "A"])
        #expect(first.paths.contains(["o", "k"]) && !first.paths.contains(["o", "l", "m"]))
        #expect(texts(reading.rows).map(\.first) == ["A", "", ""] && reading.rows.map(\.line) == [1, 2, 3])
        #expect(reading.failure == nil)
    }

    @Test func `it waits for no more rows than it needs`() throws {
        let rows = (0..<2000).map { "{\"a\":\($0)}\n" }.joined()
        // A peer that has sent one row has said all that is needed.
        #expect(try look(rows, pieces: [8, 0], needed: ["a"]).0?.rows == 1)
        #expect(try look(rows, needed: ["a", "b"]).0?.rows == 1000)
        let (none, reading) = try look("", needed: ["a"])
        #expect(none?.rows == 0 && reading.rows.isEmpty)
    }
}
