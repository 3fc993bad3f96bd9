import Glibc
import Testing

@testable import APNSBatchRows

@Suite("Chunk reader")
struct ReaderTests {
    private static let manyRows = (0..<5000).map { "token\($0),\"text \($0)\"" }
    private static let manyBytes = Array(("token,text\n" + manyRows.joined(separator: "\n")).utf8)

    @Test("The reader gives the position of each chunk in the input")
    func places() throws {
        let input = Array("\u{FEFF}a,b\n\n1,2\r\n\"3\n3\",4\n\n\n5,6\n7,8".utf8)
        let reader = ChunkReader(
            source: ScriptedSource(input), limits: .small(field: 6, record: 8), buffers: 1)
        var end: UInt64 = 7
        var places: [[UInt64]] = []
        while let chunk = try reader.next() {
            let bytes = input[Int(chunk.start.offset)..<Int(chunk.start.offset) + chunk.byteCount]
            #expect(Array(chunk.contents) == Array(bytes))
            #expect(input[Int(end)..<Int(chunk.start.offset)].allSatisfy { $0 == 10 || $0 == 13 })
            places.append([chunk.start.row, chunk.start.line, UInt64(chunk.rowCount)])
            end = chunk.start.offset + UInt64(chunk.byteCount)
            chunk.recycle()
        }
        #expect(places == [[1, 2, 1], [2, 4, 1], [3, 8, 2]])
        #expect(reader.storedBytesRead == UInt64(input.count))
    }

    @Test("The bytes and the line of an overlong record are counted", arguments: [15, 30, 31, 32, 33, 100, 1000])
    func placesAfterLongLine(length: Int) throws {
        let input = Array(("a\n" + String(repeating: "x", count: length) + "\n12\n").utf8)
        let reader = ChunkReader(
            source: ScriptedSource(input, pieces: [7]), limits: .small(field: 8, record: 14),
            buffers: 1)
        let first = try #require(try reader.next())
        #expect([first.start.row, first.start.line, first.start.offset] == [1, 2, 2])
        first.recycle()
        let second = try #require(try reader.next())
        #expect([second.start.row, second.start.line, second.start.offset] == [2, 3, UInt64(length + 3)])
        second.recycle()
        #expect(try reader.next() == nil)
    }

    @Test("Repeated calls of the reader give the same result")
    func repeats() throws {
        let reader = ChunkReader(
            source: ScriptedSource(Array("a,b\n".utf8)), limits: .small(), buffers: 1)
        #expect(try reader.readColumns() == ["a", "b"])
        #expect(try reader.readColumns() == ["a", "b"])
        #expect(try reader.next() == nil)
        #expect(try reader.next() == nil)

        let bad = ChunkReader(
            source: ScriptedSource(Array("a,\nb,c\n".utf8)), limits: .small(), buffers: 1)
        for _ in 0..<2 {
            #expect(throws: InputError.emptyColumnName(index: 1)) { try bad.readColumns() }
            #expect(throws: InputError.emptyColumnName(index: 1)) { try bad.next() }
        }
    }

    @Test("Very short records make chunks smaller", arguments: [1, 7, 100])
    func shortRecords(chunk: Int) throws {
        let input = Array(("a\n" + String(repeating: "x\n", count: 2000)).utf8)
        let reading = Reading(source: ScriptedSource(input), limits: .small(chunk: chunk * 40))
        #expect(reading.rows.count == 2000)
        #expect(reading == ReferenceReader(fieldBytes: 40, recordBytes: 60).read(input))
    }

    @Test("The reader reuses a fixed number of buffers, however long the input", arguments: [1, 2, 3])
    func memory(buffers: Int) throws {
        let reader = ChunkReader(
            source: ScriptedSource(Self.manyBytes), limits: .small(), buffers: buffers)
        var addresses: Set<UnsafeRawPointer> = []
        var out: [RowChunk] = []
        var rows = 0
        while let chunk = try reader.next() {
            addresses.insert(chunk.contents.baseAddress!)
            rows += chunk.rowCount
            out.append(chunk)
            if out.count == buffers { out.removeFirst().recycle() }
        }
        #expect(rows == Self.manyRows.count)
        #expect(addresses.count == buffers)
    }

    @Test("Recycling a chunk twice ends the process")
    func recycledTwice() async {
        await #expect(processExitsWith: .failure) {
            let input = Array("a\n1\n".utf8)
            let reader = ChunkReader(source: ScriptedSource(input), buffers: 2)
            let chunk = try reader.next()!
            chunk.recycle()
            chunk.recycle()
        }
    }

    @Test("The complete rows before a failure are delivered", arguments: 1...14)
    func failure(chunk: Int) {
        let failure = InputError.cannotRead(errno: EIO)
        let source = ScriptedSource(Array("a,b\n1,2\n3,4\n5,6".utf8), failure: failure)
        let reading = Reading(source: source, limits: .small(chunk: chunk, field: 4, record: 5))
        #expect(reading.lines == ["1@2 1|2", "2@3 3|4", "the input cannot be read: Input/output error"])
    }

    @Test("A chunk that a failure cut short is not delivered when the input can be read again", arguments: 1...14)
    func failureOfFile(chunk: Int) {
        let failure = InputError.cannotRead(errno: EIO)
        let bytes = Array("a,b\n1,2\n3,4\n5,6".utf8)
        let limits = RowLimits.small(chunk: chunk, field: 4, record: 5)
        let reading = Reading(source: ScriptedSource(bytes, size: 100, failure: failure), limits: limits)
        let whole = Reading(source: ScriptedSource(bytes + Array("\n7,8\n".utf8)), limits: limits)
        #expect(reading.lines.last == "the input cannot be read: Input/output error")
        #expect(reading.lines.count < 4 && whole.lines.starts(with: reading.lines.dropLast()))
    }

    @Test("A failure in the header is reported")
    func failureInHeader() {
        let failure = InputError.cannotRead(errno: EIO)
        let reading = Reading(source: ScriptedSource(Array("a,b".utf8), failure: failure))
        #expect(reading == Reading(failure: failure))
    }

    @Test("The reader names the input in its errors")
    func messages() {
        let error = RowError(line: 2, column: 5, field: 1, cause: .nulByte)
        #expect(InputError.badHeader(error).message(input: "rows.csv") == "rows.csv:2:5: header row: a NUL byte")
        #expect(InputError.noHeader.message(input: "<stdin>") == "<stdin>: the input has no header row")
        #expect(
            InputError.cannotOpen(path: "/x/rows.csv", errno: ENOENT).message(input: "rows.csv")
                == "rows.csv: cannot be opened: No such file or directory")
    }

    @Test("Delimiters with another meaning are refused", arguments: [0, 10, 13, 34, 0x80, 0xC3, 0xFF] as [UInt8])
    func badDelimiter(byte: UInt8) {
        #expect(throws: CSVDialect.BadDelimiter(byte: byte)) { try CSVDialect(delimiter: byte) }
    }

    @Test("Any other byte is accepted as delimiter")
    func everyDelimiter() throws {
        for byte in UInt8(1)..<0x80 where ![10, 13, 34].contains(byte) {
            let names = ["a", "b"].map { byte == $0.utf8.first ? "c" : $0 }
            let input = Array(names[0].utf8) + [byte] + Array(names[1].utf8) + [10, 34, byte, 34, byte, 10]
            let reading = Reading(source: ScriptedSource(input), dialect: try CSVDialect(delimiter: byte))
            #expect(reading.rows.map(\.fields) == [[[byte], []]])
        }
    }
}
