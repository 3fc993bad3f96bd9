import Glibc
import Testing

@testable import APNSBatchRows

@Suite("File source")
struct FileTests {
    private let limits = RowLimits.small(chunk: 1, field: 4, record: 6)

    private func reader(_ file: TemporaryFile) throws -> ChunkReader {
        try ChunkReader(input: .file(file.path), limits: limits, buffers: 1)
    }

    @Test("A file is read to its end, and its size is known")
    func plain() throws {
        let file = TemporaryFile("a,b\n1,2\n3,4\n")
        let reader = try reader(file)
        #expect(reader.storedBytes == 12)
        #expect(Reading(reader).lines == ["1@2 1|2", "2@3 3|4"])
        #expect(reader.storedBytesRead == 12)
    }

    @Test("A descriptor is read from its current offset and stays open")
    func descriptor() throws {
        let file = TemporaryFile("skipped\na,b\n1,2\n")
        let descriptor = file.descriptor(at: 8)
        defer { close(descriptor) }
        do {
            let reader = try ChunkReader(input: .descriptor(descriptor), buffers: 1)
            #expect(reader.storedBytes == 8)
            #expect(Reading(reader).lines == ["1@2 1|2"])
        }
        #expect(fcntl(descriptor, F_GETFD) >= 0)
    }

    @Test("A file that grows ends at its size when opened, and the added bytes are reported")
    func grows() throws {
        for added in ["3,4\n", "3,4\n5,"] {
            let file = TemporaryFile("a,b\n1,2\n")
            let reader = try reader(file)
            _ = try reader.readColumns()
            file.append(added)
            #expect(Reading(reader).lines == ["1@2 1|2"])
            #expect(reader.addition == InputAddition(bytes: UInt64(added.utf8.count), lineCut: nil))
            #expect(reader.storedBytesRead == 8)
        }
    }

    @Test("A last line that is still being written is read only if it was complete when the file was opened")
    func growsUnfinished() throws {
        let cases: [(start: String, added: String, last: [String], lineCut: UInt64?)] = [
            ("3,4", "44\n", [], 3), ("3,", "4\n", [], 3), ("3,4", "\n", ["2@3 3|4"], nil),
            ("3,4", "\r\n5,6", ["2@3 3|4"], nil), ("3,\"4\"", "\n", ["2@3 3|4"], nil), ("3,\"4\"", "\"4\"\n", [], 3),
            ("3,4\n5", ",6\n", ["2@3 3|4"], 4),
        ]
        for (start, added, last, lineCut) in cases {
            let file = TemporaryFile("a,b\n1,2\n" + start)
            let reader = try reader(file)
            _ = try reader.readColumns()
            file.append(added)
            #expect(Reading(reader).lines == ["1@2 1|2"] + last, "\(start) \(added)")
            #expect(
                reader.addition == InputAddition(bytes: UInt64(added.utf8.count), lineCut: lineCut), "\(start) \(added)"
            )
        }
        // A quoted field that is not closed at the end of the file makes its row invalid, and no other row.
        let file = TemporaryFile("a,b\n1,2\n3,\"4\n5,6\n7")
        let reader = try reader(file)
        _ = try reader.readColumns()
        file.append("\"\n")
        let lines = Reading(reader).lines
        #expect(lines.count == 3 && lines[0] == "1@2 1|2" && lines[2] == "3@4 5|6", "\(lines)")
        #expect(reader.addition?.lineCut == 5)
    }

    @Test("A file that is read again ends at its first extent, with the same last record")
    func extent() throws {
        let file = TemporaryFile("a,b\n1,2\n3,4567\n")
        for (endsWhole, lines) in [(true, ["1@2 1|2", "2@3 3|4"]), (false, ["1@2 1|2"])] {
            let reader = try ChunkReader(
                input: .file(file.path), limits: limits, buffers: 1,
                extent: InputExtent(bytes: 11, endsWhole: endsWhole))
            #expect(reader.storedBytes == 11)
            #expect(Reading(reader).lines == lines)
            #expect(reader.addition?.bytes == 4)
        }
        let whole = try ChunkReader(
            input: .file(file.path), limits: limits, buffers: 1, extent: InputExtent(bytes: 100, endsWhole: false))
        #expect(whole.storedBytes == 15)
        #expect(Reading(whole).lines == ["1@2 1|2", "2@3 3|4567"])
    }

    @Test("A file that shrinks is refused, without its last line", arguments: [20, 21, 22, 23])
    func shrinks(size: Int) throws {
        let file = TemporaryFile("a,b\n1,2\n3,4\n5,6\n7,8\n9,0\n")
        let reader = try reader(file)
        _ = try reader.readColumns()
        file.truncate(to: size)
        let failure = InputError.changedWhileRead(bytesAtOpen: 24, bytesRead: UInt64(size))
        #expect(Reading(reader).lines == ["1@2 1|2", "2@3 3|4", "3@4 5|6", "4@5 7|8", "\(failure)"])
    }

    @Test("A file that is emptied is refused and not read beyond its end")
    func emptied() throws {
        let file = TemporaryFile("a,b\n" + String(repeating: "1,2\n", count: 100_000))
        let reader = try ChunkReader(input: .file(file.path), buffers: 2)
        let first = try reader.next()
        file.truncate(to: 0)
        let bytesRead = reader.storedBytesRead
        let failure = InputError.changedWhileRead(bytesAtOpen: 400_004, bytesRead: bytesRead)
        first?.recycle()
        #expect(throws: failure) {
            while let chunk = try reader.next() { chunk.recycle() }
        }
    }

    @Test("A missing file or a directory cannot be opened")
    func unreadable() {
        #expect(throws: InputError.cannotOpen(path: "/nowhere/rows.csv", errno: ENOENT)) {
            try ChunkReader(input: .file("/nowhere/rows.csv"), buffers: 1)
        }
        #expect(throws: InputError.cannotOpen(path: "/tmp", errno: EISDIR)) {
            try ChunkReader(input: .file("/tmp"), buffers: 1)
        }
        #expect(throws: InputError.cannotOpen(path: "descriptor 987654", errno: EBADF)) {
            try ChunkReader(input: .descriptor(987_654), buffers: 1)
        }
    }

    @Test("A kernel file of unknown size is read")
    func ofTheKernel() throws {
        let reader = try ChunkReader(input: .file("/proc/self/limits"), buffers: 1)
        #expect(reader.storedBytes == nil)
        #expect(try reader.readColumns().count == 1)
    }

    @Test("An empty device has no header")
    func empty() throws {
        #expect(Reading(try ChunkReader(input: .file("/dev/null"), buffers: 1)) == Reading(failure: .noHeader))
    }

    @Test("A FIFO waits for its writer and is read as bytes arrive")
    func fifo() async throws {
        let file = TemporaryFile("")
        let path = file.path + ".fifo"
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let reader = try ChunkReader(input: .file(path), limits: limits, buffers: 1)
        async let reading = onThread { Reading(reader) }
        await onThread {
            let writer = open(path, O_WRONLY)
            for byte in "a,b\n1,2\n\"3\n\",4".utf8 { _ = [byte].withUnsafeBytes { write(writer, $0.baseAddress!, 1) } }
            close(writer)
        }
        #expect(await reading.lines == ["1@2 1|2", "2@3 3\\n|4"])
    }

    @Test("Rows of a pipe are delivered although its writer pauses in the middle of the next one")
    func slowPipe() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        func send(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { write(ends[1], $0.baseAddress!, $0.count) } }
        let reader = try ChunkReader(input: .descriptor(ends[0]), buffers: 1)
        var rows: [Int] = []
        for text in ["a,b\n1,2\n3,4\n5,", "6\n7,", "8\n"] {
            send(text)
            let chunk = try #require(try reader.next())
            rows.append(chunk.rowCount)
            chunk.recycle()
        }
        close(ends[1])
        #expect(try reader.next() == nil && rows == [2, 1, 1])
    }
}
