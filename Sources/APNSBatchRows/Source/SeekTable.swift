import CAPNSZstd

/// The sizes of the frames of a zstd file, in its last, skippable frame ("Zstandard Seekable Format", version 0.1.0, in zstd's
/// `contrib/seekable_format`):
///
///     magic (4) │ size of what follows (4) │ a frame's packed and unpacked size (4 + 4), for each │
///     the number of frames (4) │ descriptor (1) │ magic of the table (4)
///
/// All numbers are little-endian. Bit 7 of the descriptor means that each frame has a checksum (4) after its sizes, and bits 2 to 6 are 0.
struct SeekTable: Equatable {
    struct Frame: Equatable {
        var packed: UInt32
        var unpacked: UInt32
    }

    var frames: [Frame] = []

    static let footerBytes = 9
    private static let skippableMagic: UInt32 = 0x184D_2A5E
    private static let tableMagic: UInt32 = 0x8F92_EAB1
    private static let headerBytes = 8
    /// A larger table is not used, because a file may claim anything.
    private static let framesMax = 1 << 21

    /// The skippable frame.
    var bytes: [UInt8] {
        var bytes = Self.bytes(of: Self.skippableMagic)
        bytes += Self.bytes(of: UInt32(frames.count * 8 + Self.footerBytes))
        for frame in frames { bytes += Self.bytes(of: frame.packed) + Self.bytes(of: frame.unpacked) }
        return bytes + Self.bytes(of: UInt32(frames.count)) + [0] + Self.bytes(of: Self.tableMagic)
    }

    private static func bytes(of number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * $1) }
    }

    /// Reads the table of a file. It is not trusted: see ``place(of:in:)``.
    ///
    /// - Returns: Nil if the file does not end with a table, or with one that cannot belong to it.
    init?(_ file: any ByteSource) throws(InputError) {
        guard let size = file.size, let footer = try Self.read(file, last: Self.footerBytes, of: size),
            Self.number(footer, 5) == Self.tableMagic, footer[4] & 0x7C == 0
        else { return nil }
        let (count, each) = (Int(Self.number(footer, 0)), footer[4] & 0x80 == 0 ? 8 : 12)
        guard count <= Self.framesMax else { return nil }
        let length = Self.headerBytes + count * each + Self.footerBytes
        guard let bytes = try Self.read(file, last: length, of: size), Self.number(bytes, 0) == Self.skippableMagic,
            Int(Self.number(bytes, 4)) == length - Self.headerBytes
        else { return nil }
        frames = (0..<count).map { index in
            let offset = Self.headerBytes + index * each
            return Frame(packed: Self.number(bytes, offset), unpacked: Self.number(bytes, offset + 4))
        }
        guard frames.reduce(UInt64(length), { $0 + UInt64($1.packed) }) == size else { return nil }
    }

    init() {}

    private static func read(_ file: any ByteSource, last count: Int, of size: UInt64) throws(InputError) -> [UInt8]? {
        guard size >= UInt64(count) else { return nil }
        return try bytes(of: file, at: size - UInt64(count), count: count)
    }

    private static func bytes(of file: any ByteSource, at offset: UInt64, count: Int) throws(InputError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let isRead = try unsafe bytes.withUnsafeMutableBufferPointer { (room) throws(InputError) in
            try unsafe file.read(at: offset, into: UnsafeMutableRawBufferPointer(room))
        }
        return isRead ? bytes : nil
    }

    /// Where a frame begins: in the packed bytes, and in the unpacked ones.
    struct Place: Equatable {
        var packed: UInt64 = 0
        var unpacked: UInt64 = 0
    }

    /// Returns the beginning of the last frame that begins at a place of the unpacked bytes or before it, as far as the frames agree with
    /// the table: the header of each must have the same size. The header of a frame is verified when it is unpacked.
    func place(of target: UInt64, in file: any ByteSource) throws(InputError) -> Place {
        var place = Place()
        for frame in frames {
            let next = Place(
                packed: place.packed + UInt64(frame.packed), unpacked: place.unpacked + UInt64(frame.unpacked))
            guard next.unpacked <= target,
                try Self.size(ofFrameAt: place.packed, in: file, within: frame) == UInt64(frame.unpacked)
            else { break }
            place = next
        }
        return place
    }

    private static func size(ofFrameAt offset: UInt64, in file: any ByteSource, within frame: Frame) throws(InputError)
        -> UInt64?
    {
        // The longest header (RFC 8878, section 3.1.1.1).
        guard let header = try bytes(of: file, at: offset, count: Int(min(frame.packed, 18))) else { return nil }
        let size = unsafe header.withUnsafeBytes { unsafe ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
        return size >= UInt64.max - 1 ? nil : size
    }
}
