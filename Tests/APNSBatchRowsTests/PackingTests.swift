import Testing

@testable import APNSBatchRows

@Suite("Packed inputs") struct PackingTests {
    private static let rows: [UInt8] = Array(
        ("token,name\n" + (1...200).map { "\($0 * 7919),\"somebody, \($0)\"\n" }.joined()).utf8)

    private static func unpacked(_ packing: Packing, _ packed: [UInt8]) -> ([UInt8], PackingFault?) {
        packing.unpack(packed, pieces: .max / 2, room: 1 << 20, atMost: .max)
    }

    /// Where `Self.rows` is cut into members.
    private static let cuts = [[], [0], [1], [100, 100], Array(0..<60), [2000, 2001, 2002]]

    @Test(arguments: Packing.allCases, cuts)
    func `members and frames follow each other, however the bytes come`(packing: Packing, cuts: [Int]) {
        let packed = Self.parts(cuts).flatMap { packing.pack($0) }
        for (pieces, room) in [(1, 1), (1, 1000), (7, 13), (packed.count, 1), (packed.count, 1 << 20)] {
            let (made, fault) = packing.unpack(packed, pieces: pieces, room: room, atMost: .max)
            #expect(fault == nil && made == Self.rows, "\(pieces) \(room)")
        }
    }

    private static func parts(_ cuts: [Int]) -> [[UInt8]] {
        zip([0] + cuts, cuts + [rows.count]).map { Array(rows[$0..<$1]) }
    }

    @Test(arguments: Packing.allCases)
    func `an input that is cut off anywhere but behind a member is an error`(packing: Packing) {
        let first = packing.pack(Array(Self.rows[..<100]))
        let packed = first + packing.pack(Array(Self.rows[100...]))
        for count in 1..<packed.count {
            let (made, fault) = Self.unpacked(packing, Array(packed[..<count]))
            #expect(made.elementsEqual(Self.rows.prefix(made.count)))
            #expect(fault == (count == first.count ? nil : .truncated), "\(count) of \(packed.count)")
        }
    }

    @Test(arguments: Packing.allCases)
    func `a byte that was changed is found by the checksum or the format`(packing: Packing) {
        let packed = packing.pack(Self.rows)
        for index in packed.indices {
            // Time of modification, level and system of a gzip member have no checksum.
            if packing == .gzip, 4..<10 ~= index { continue }
            var changed = packed
            changed[index] ^= 0x10
            let (made, fault) = Self.unpacked(packing, changed)
            #expect(fault != nil || made == Self.rows, "byte \(index)")
        }
    }

    @Test func `zero bytes behind the last gzip member are padding, and anything else is not`() {
        let packed = Packing.gzip.pack(Self.rows)
        #expect(Self.unpacked(.gzip, packed + [0, 0, 0]) == (Self.rows, nil))
        #expect(Self.unpacked(.gzip, packed + [0, 1]).1 == .trailing)
        #expect(Self.unpacked(.gzip, packed + [0] + packed).1 == .trailing)
        #expect(Self.unpacked(.gzip, packed + Array("token".utf8)).1 == .trailing)
    }

    @Test func `skippable zstd frames are skipped, and anything but a frame behind the last one is an error`() {
        let packed = Packing.zstd.pack(Self.rows)
        let skippable: [UInt8] = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
        #expect(Self.unpacked(.zstd, skippable + packed + skippable) == (Self.rows, nil))
        #expect(Self.unpacked(.zstd, packed + Array("token".utf8)).1 == .trailing)
        #expect(Packing.guess(skippable, isWhole: false) == .packed(.zstd))
    }

    @Test func `a window that is larger than allowed is refused, with its size`() {
        // A frame of one empty block, with a window of 2^26 bytes.
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x80, 0x01, 0x00, 0x00]
        #expect(
            Packing.zstd.unpack(frame, pieces: 100, room: 10, atMost: 10, windowLog: 25).1
                == .window(log: 26, allowed: 25))
        #expect(Packing.zstd.unpack(frame, pieces: 100, room: 10, atMost: 10, windowLog: 26).1 == nil)
        let message = "\(InputError.cannotUnpack(.zstd, .window(log: 26, allowed: 25), at: 0))"
        #expect(message.contains("--zstd-window 26"))
    }

    @Test(arguments: Packing.allCases)
    func `rows, lines and places are those of the unpacked file, read again from any place`(packing: Packing) throws {
        let plain = TemporaryFile(Self.rows)
        let bytes = Self.parts([900, 901]).flatMap { packing.pack($0) }
        let packed = TemporaryFile(bytes)
        let limits = RowLimits(chunkBytes: 300, fieldBytes: 100, recordBytes: 200)
        func reader(_ file: TemporaryFile) throws -> ChunkReader {
            try ChunkReader(input: .file(file.path), limits: limits, buffers: 1)
        }
        let (one, other) = (try reader(plain), try reader(packed))
        #expect(Reading(one) == Reading(other))
        #expect(other.packing == packing && one.packing == nil)
        #expect(other.size == one.size && other.canReadAgain)
        #expect(other.storedBytes == UInt64(bytes.count) && other.storedBytesRead == UInt64(bytes.count))
        for range in [0..<11, 950..<2000, 5..<4000, 0..<UInt64(Self.rows.count)] as [Range<UInt64>] {
            #expect(try other.checksum(of: range) == one.checksum(of: range))
        }
        #expect(try other.checksum(of: 0..<UInt64(Self.rows.count + 1)) == nil)
        for row in [150, 3, 150] {
            let offset = UInt64(Self.rows.count) - UInt64(Self.parts([])[0].suffix(row).count)
            let position = RowPosition(row: 1, line: 1, offset: offset)
            try one.seek(to: position)
            try other.seek(to: position)
            #expect(Self.rest(one) == Self.rest(other))
        }
    }

    private static func rest(_ reader: ChunkReader) -> [[UInt8]] {
        var chunks: [[UInt8]] = []
        while let chunk = try? reader.next() {
            chunks.append(Array(chunk.contents))
            chunk.recycle()
        }
        return chunks
    }

    @Test(arguments: [nil] + Packing.allCases)
    func `what comes through a pipe is unpacked, too`(packing: Packing?) {
        let bytes = packing?.pack(Self.rows) ?? Self.rows
        for pieces in [[1], [1, 2, 50], [.max]] {
            let source = PackedSource(ScriptedSource(bytes, pieces: pieces), windowLog: 25)
            #expect(Reading(source: source) == Reading(source: ScriptedSource(Self.rows)))
            #expect(source.packing == packing)
        }
    }

    @Test(arguments: Packing.allCases)
    func `rows before the place where a file is cut off are read, and the error has the place`(packing: Packing) throws
    {
        let packed = packing.pack(Array(Self.rows[..<900])) + packing.pack(Array(Self.rows[900...])).dropLast(20)
        let file = TemporaryFile(packed)
        let limits = RowLimits(chunkBytes: 100, fieldBytes: 50, recordBytes: 60)
        let reading = Reading(try ChunkReader(input: .file(file.path), limits: limits, buffers: 1))
        #expect(reading.failure == .cannotUnpack(packing, .truncated, at: UInt64(packed.count)))
        #expect(reading.rows.count > 10)
    }

    @Test(arguments: Packing.allCases)
    func `a file that begins with a few bytes of a magic number is no packed file`(packing: Packing) throws {
        let start = packing.pack([]).prefix(2)
        #expect(Packing.guess(Array(start), isWhole: true) == .plain)
        #expect(Packing.guess(Array(start), isWhole: false) == .open)
        #expect(Packing.guess([start[0], 0x20], isWhole: false) == .plain)
    }
}
