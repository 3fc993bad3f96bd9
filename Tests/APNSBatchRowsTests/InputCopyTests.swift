import APNSBatchBasics
import Testing

@testable import APNSBatchRows

/// Copies of inputs, and the places that are found in them.
@Suite("Copies of inputs") struct InputCopyTests {
    /// Returns a copy of bytes, in a file.
    private static func copied(_ bytes: [UInt8]) throws -> TemporaryFile {
        let (input, file) = (TemporaryFile(bytes), TemporaryFile(""))
        let copy = InputCopy(of: .file(input.path))
        try copy.write(to: try FileStorage(file.path, .existing))
        return file
    }

    private static func rows(_ count: Int) -> [UInt8] {
        Array(("token,name\n" + (1...count).map { "\($0 &* 7919),somebody \($0 ^ 0x5555)\n" }.joined()).utf8)
    }

    @Test(arguments: [0, 1, ZstdPacker.frameBytes - 1, ZstdPacker.frameBytes, ZstdPacker.frameBytes + 1, 5_000_000])
    func `a copy has the bytes of the input, and its table their places`(count: Int) throws {
        let bytes = Array(Self.rows(count / 15 + 1).prefix(count))
        let file = try Self.copied(bytes)
        let source = try InputLocation.file(file.path).open(limit: nil)
        #expect(source.packing == nil && source.canReadAgain)
        var room = [UInt8](repeating: 0, count: 1000)
        for offset in [0, 1, count / 3, count - 1000, 17, count / 2] where offset >= 0 && offset + 1000 <= count {
            let isRead = try room.withUnsafeMutableBytes { try source.read(at: UInt64(offset), into: $0) }
            #expect(isRead && room.elementsEqual(bytes[offset..<offset + 1000]), "\(offset)")
        }
        var (made, piece) = ([UInt8](), [UInt8](repeating: 0, count: 70_000))
        while case let got = try piece.withUnsafeMutableBytes({ try source.read(into: $0) }), got > 0 {
            made += piece[..<got]
        }
        #expect(made == bytes && source.packing == .zstd)
    }

    @Test func `a place is found without unpacking what is before it`() throws {
        let bytes = Self.rows(400_000)
        let file = try Self.copied(bytes)
        let source = try #require(try InputLocation.file(file.path).open(limit: nil) as? PackedSource)
        var room = [UInt8](repeating: 0, count: 100)
        _ = try room.withUnsafeMutableBytes { try source.read(into: $0) }
        try source.seek(to: UInt64(bytes.count - 200))
        let counted = CountedSource(file.path)
        let stream = UnpackedStream(counted, windowLog: 25)
        _ = try room.withUnsafeMutableBytes { try stream.read(into: $0) }
        let before = counted.bytesRead
        try stream.move(to: UInt64(bytes.count - 200)) { false }
        #expect(try room.withUnsafeMutableBytes { try stream.fill($0) })
        #expect(room.elementsEqual(bytes[(bytes.count - 200)..<(bytes.count - 100)]))
        // The last frame and the headers of the others, and not the rest.
        #expect(counted.bytesRead - before < counted.size! / 3, "\(counted.bytesRead - before)")
    }

    @Test func `a table that does not agree with its frames is not believed`() throws {
        let bytes = Self.rows(300_000)
        let file = try Self.copied(bytes)
        let packed = try Self.bytes(of: file.path)
        let table = try #require(try SeekTable(ScriptedFile(packed)))
        #expect(table.frames.count > 3)
        let place = try table.place(of: UInt64(bytes.count), in: ScriptedFile(packed))
        #expect(place.unpacked == UInt64(bytes.count))
        // It says that the second frame has one byte less, and so the third begins elsewhere.
        var lying = table
        lying.frames[1].unpacked -= 1
        #expect(try lying.place(of: UInt64(bytes.count), in: ScriptedFile(packed)) == first(of: table))
        // It says that the frames begin elsewhere.
        lying = table
        lying.frames[0].packed += 1
        lying.frames[1].packed -= 1
        #expect(try lying.place(of: UInt64(bytes.count), in: ScriptedFile(packed)) == first(of: lying))
        // It does not fit the file.
        let end = packed.count - table.bytes.count
        #expect(try SeekTable(ScriptedFile(Array(packed[1...]))) == nil)
        for cut in [1, 5, 9, 17] { #expect(try SeekTable(ScriptedFile(Array(packed.dropLast(cut)))) == nil) }
        var changed = packed
        for index in end..<packed.count {
            changed[index] ^= 0x81
            if let other = try SeekTable(ScriptedFile(changed)) {
                let place = try other.place(of: UInt64(bytes.count), in: ScriptedFile(changed))
                #expect(place.unpacked == 0 || isBeginning(place, of: table), "byte \(index - end)")
            }
            changed[index] ^= 0x81
        }
    }

    /// The first frame is believed as far as its header says the same.
    private func first(of table: SeekTable) -> SeekTable.Place {
        SeekTable.Place(packed: UInt64(table.frames[0].packed), unpacked: UInt64(table.frames[0].unpacked))
    }

    /// Whether a frame begins at a place, or the place is behind one whose header has the size of the table; what is there is verified when
    /// it is unpacked.
    private func isBeginning(_ place: SeekTable.Place, of table: SeekTable) -> Bool {
        var unpacked: UInt64 = 0
        for frame in table.frames {
            unpacked += UInt64(frame.unpacked)
            if unpacked == place.unpacked { return true }
        }
        return false
    }

    @Test func `of a copy that nobody needs any more the header row stays`() throws {
        let file = TemporaryFile("")
        try InputCopy.write(
            RowFormat.csv(.comma).beginning(columns: ["token", "a, b"]), to: try FileStorage(file.path, .existing))
        let reader = try ChunkReader(input: .file(file.path), buffers: 1)
        #expect(try reader.readColumns() == ["token", "a, b"])
        #expect(try reader.next() == nil)
    }

    @Test func `what stays of a copy in NDJSON is recognised as that`() throws {
        let file = TemporaryFile("")
        try InputCopy.write(
            RowFormat.ndjson.beginning(columns: ["token"]), to: try FileStorage(file.path, .existing))
        let choice = FormatChoice(of: "<stdin>", orCSV: .comma, columns: ["token"])
        let reader = try ChunkReader(input: .file(file.path), format: choice, buffers: 1)
        #expect(try reader.readColumns() == ["token"])
        #expect(reader.format == .ndjson)
    }

    @Test func `a copy that is cancelled before it begins does not begin`() throws {
        let file = TemporaryFile("")
        let copy = InputCopy(of: .producer(Producer(["sleep", "1000"], patience: .seconds(1000))))
        copy.cancel()
        #expect(throws: InputError.cancelled) { try copy.write(to: try FileStorage(file.path, .existing)) }
    }

    @Test func `an input that cannot be unpacked to its end is not copied`() throws {
        let packed = Packing.gzip.pack(Self.rows(10_000))
        let (input, file) = (TemporaryFile(Array(packed.dropLast(5))), TemporaryFile(""))
        let copy = InputCopy(of: .file(input.path))
        #expect(throws: InputError.cannotUnpack(.gzip, .truncated, at: UInt64(packed.count - 5))) {
            try copy.write(to: try FileStorage(file.path, .existing))
        }
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let file = try FileStorage(path, .readOnly)
        var bytes = [UInt8](repeating: 0, count: Int(file.length))
        _ = try bytes.withUnsafeMutableBytes { try file.read(at: 0, into: $0) }
        return bytes
    }
}

/// Bytes in memory that can be read at any place.
private final class ScriptedFile: ByteSource {
    private let bytes: [UInt8]
    let canReadAgain = true
    var size: UInt64? { UInt64(bytes.count) }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int { 0 }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool {
        guard offset + UInt64(buffer.count) <= UInt64(bytes.count) else { return false }
        buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + buffer.count])
        return true
    }
}

/// A file that counts how many of its bytes were read.
private final class CountedSource: ByteSource, @unchecked Sendable {
    private let file: any ByteSource
    private(set) var bytesRead: UInt64 = 0
    let canReadAgain = true
    var size: UInt64? { file.size }

    init(_ path: String) {
        let descriptor = try! InputDescriptor(path: path)
        let size = try! FileStorage(path, .readOnly).length
        file = FileSource(descriptor, start: 0, size: size)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        let count = try file.read(into: buffer)
        bytesRead += UInt64(count)
        return count
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool {
        bytesRead += UInt64(buffer.count)
        return try file.read(at: offset, into: buffer)
    }
}
