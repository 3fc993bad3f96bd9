import Testing

@testable import APNSBatchRows

@Suite("Rows that are looked at before they are read") struct RewindTests {
    private static let text = "\u{FEFF}a,b\n" + (0..<3000).map { "\($0),x\n" }.joined()

    /// The file of the text, and how its bytes are packed.
    private static func files() -> [(TemporaryFile, Packing?)] {
        [(TemporaryFile(text), nil)]
            + Packing.allCases.map { (TemporaryFile($0.pack(Array(text.utf8))), $0) }
    }

    private func rows(_ reader: ChunkReader, atMost most: Int = .max) throws -> Int {
        var rows = 0
        while rows < most, let chunk = try reader.next() {
            rows += chunk.rowCount
            chunk.recycle()
        }
        return rows
    }

    @Test("An input begins again at its first row, wherever a look has ended")
    func again() throws {
        for (file, packing) in Self.files() {
            let whole = Reading(try ChunkReader(input: .file(file.path), buffers: 1))
            try #require(whole.rows.count == 3000)
            for most in [0, 1, .max] {
                let reader = try ChunkReader(
                    input: .file(file.path), limits: .small(chunk: 500, field: 100, record: 200), buffers: 1)
                _ = try rows(reader, atMost: most)
                try reader.rewind()
                #expect(Reading(reader).rows == whole.rows, "\(String(describing: packing)) \(most)")
            }
        }
    }

    @Test("Bytes that nobody splits, and the first ones by themselves, change nothing of what is read")
    func bytes() throws {
        for (file, packing) in Self.files() {
            let reader = try ChunkReader(input: .file(file.path), buffers: 1)
            let head = try reader.head(most: 100)
            #expect(head?.bytes == 100 && head?.isPacked == (packing != nil))
            #expect(try reader.head(most: .max)?.bytes == UInt64(Self.text.utf8.count))
            try reader.readToEnd()
            try reader.rewind()
            #expect(try rows(reader) == 3000)
        }
    }

    @Test("A look that fails leads back to the first row, too")
    func failedLook() throws {
        let source = FailingOnce(Array(Self.text.utf8))
        let reader = ChunkReader(source: source, format: .csv(.comma), limits: .standard, buffers: 1)
        _ = try rows(reader)
        try reader.rewind()
        source.fails = true
        #expect(try reader.head(most: 100) == nil && !source.fails)
        #expect(try rows(reader) == 3000 && reader.storedBytesRead == UInt64(Self.text.utf8.count))
    }

    @Test("What is known at the end of the input is not known while it is read again")
    func forgets() throws {
        for (file, packing) in Self.files() {
            let reader = try ChunkReader(
                input: .file(file.path), limits: .small(chunk: 500, field: 100, record: 200), buffers: 1)
            _ = try reader.readColumns()
            if packing == nil { file.append("4,") }
            #expect(try rows(reader) == 3000)
            #expect(reader.size == UInt64(Self.text.utf8.count) && (packing == nil) == (reader.addition != nil))
            try reader.rewind()
            #expect((reader.size == nil) == (packing != nil) && reader.addition == nil)
            if packing == nil { #expect(reader.storedBytesRead < 1000) }
            #expect(try rows(reader) == 3000)
            #expect(reader.size == UInt64(Self.text.utf8.count))
        }
    }
}

/// A file of which one read fails.
private final class FailingOnce: ByteSource, @unchecked Sendable {
    private let bytes: [UInt8]
    private var position = 0
    /// Whether the next read fails.
    var fails = false
    let canReadAgain = true
    var size: UInt64? { UInt64(bytes.count) }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func seek(to offset: UInt64) throws(InputError) { position = Int(offset) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        if fails {
            fails = false
            throw .cannotRead(errno: 5)
        }
        let count = min(buffer.count, bytes.count - position)
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return count
    }
}
