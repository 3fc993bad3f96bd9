import Glibc
import Testing

@testable import CSVReader

/// A file of its own, removed afterwards.
private final class TemporaryFile {
    let path: String
    private let descriptor: Int32

    init(_ text: String) {
        var template = Array("/tmp/csv-reader-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        append(text)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    func append(_ text: String) {
        let bytes = Array(text.utf8)
        precondition(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    func truncate(to size: Int) {
        precondition(ftruncate(descriptor, size) == 0)
    }

    func descriptor(at offset: Int) -> Int32 {
        let copy = open(path, O_RDONLY)
        lseek(copy, offset, SEEK_SET)
        return copy
    }
}

@Suite("A file")
struct FileTests {
    private let limits = CSVLimits.small(chunk: 1, field: 4, record: 6)

    private func reader(_ file: TemporaryFile) throws -> CSVChunkReader {
        try CSVChunkReader(input: .file(file.path), limits: limits, buffers: 1)
    }

    @Test("is read to its end, with its size known")
    func plain() throws {
        let file = TemporaryFile("a,b\n1,2\n3,4\n")
        let reader = try reader(file)
        #expect(reader.bytesTotal == 12)
        #expect(Reading(reader).lines == ["1@2 1|2", "2@3 3|4"])
        #expect(reader.bytesRead == 12)
    }

    @Test("behind a descriptor is read from where the descriptor stands, and stays open")
    func descriptor() throws {
        let file = TemporaryFile("skipped\na,b\n1,2\n")
        let descriptor = file.descriptor(at: 8)
        defer { close(descriptor) }
        do {
            let reader = try CSVChunkReader(input: .descriptor(descriptor), buffers: 1)
            #expect(reader.bytesTotal == 8)
            #expect(Reading(reader).lines == ["1@2 1|2"])
        }
        #expect(fcntl(descriptor, F_GETFD) >= 0)
    }

    @Test("that grows by whole lines is read with what was appended")
    func grows() throws {
        let file = TemporaryFile("a,b\n1,2\n")
        let reader = try reader(file)
        _ = try reader.readHeader()
        file.append("3,4\n")
        #expect(Reading(reader).lines == ["1@2 1|2", "2@3 3|4"])
    }

    @Test("that grows and ends in the middle of a line is refused, without that line")
    func growsUnfinished() throws {
        let file = TemporaryFile("a,b\n1,2\n")
        let reader = try reader(file)
        _ = try reader.readHeader()
        file.append("3,4\n5,")
        let failure = CSVError.changedWhileRead(bytesAtOpen: 8, bytesRead: 14)
        #expect(Reading(reader).lines == ["1@2 1|2", "2@3 3|4", "\(failure)"])
    }

    @Test("that is cut short is refused, without its last line", arguments: [20, 21, 22, 23])
    func shrinks(size: Int) throws {
        let file = TemporaryFile("a,b\n1,2\n3,4\n5,6\n7,8\n9,0\n")
        let reader = try reader(file)
        _ = try reader.readHeader()
        file.truncate(to: size)
        let failure = CSVError.changedWhileRead(bytesAtOpen: 24, bytesRead: UInt64(size))
        #expect(Reading(reader).lines == ["1@2 1|2", "2@3 3|4", "3@4 5|6", "4@5 7|8", "\(failure)"])
    }

    @Test("that is emptied is refused, not read beyond its end")
    func emptied() throws {
        let file = TemporaryFile("a,b\n" + String(repeating: "1,2\n", count: 100_000))
        let reader = try CSVChunkReader(input: .file(file.path), buffers: 2)
        let first = try reader.next()
        file.truncate(to: 0)
        let bytesRead = reader.bytesRead
        let failure = CSVError.changedWhileRead(bytesAtOpen: 400_004, bytesRead: bytesRead)
        first?.recycle()
        #expect(throws: failure) {
            while let chunk = try reader.next() { chunk.recycle() }
        }
    }

    @Test("that is not there, or is a directory, cannot be opened")
    func unreadable() {
        #expect(throws: CSVError.cannotOpen(path: "/nowhere/rows.csv", errno: ENOENT)) {
            try CSVChunkReader(input: .file("/nowhere/rows.csv"), buffers: 1)
        }
        #expect(throws: CSVError.cannotOpen(path: "/tmp", errno: EISDIR)) {
            try CSVChunkReader(input: .file("/tmp"), buffers: 1)
        }
        #expect(throws: CSVError.cannotOpen(path: "descriptor 987654", errno: EBADF)) {
            try CSVChunkReader(input: .descriptor(987_654), buffers: 1)
        }
    }

    @Test("of the kernel's, whose size is not known, is read")
    func ofTheKernel() throws {
        let reader = try CSVChunkReader(input: .file("/proc/self/limits"), buffers: 1)
        #expect(reader.bytesTotal == nil)
        #expect(try reader.readHeader().count == 1)
    }

    @Test("that is a device without bytes has no header")
    func empty() throws {
        #expect(Reading(try CSVChunkReader(input: .file("/dev/null"), buffers: 1)) == Reading(failure: .noHeader))
    }

    @Test("that is a FIFO waits for its writer, and is read as it comes")
    func fifo() async throws {
        let file = TemporaryFile("")
        let path = file.path + ".fifo"
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let reader = try CSVChunkReader(input: .file(path), limits: limits, buffers: 1)
        async let reading = onThread { Reading(reader) }
        await onThread {
            let writer = open(path, O_WRONLY)
            for byte in "a,b\n1,2\n\"3\n\",4".utf8 { _ = [byte].withUnsafeBytes { write(writer, $0.baseAddress!, 1) } }
            close(writer)
        }
        #expect(await reading.lines == ["1@2 1|2", "2@3 3\\n|4"])
    }
}
