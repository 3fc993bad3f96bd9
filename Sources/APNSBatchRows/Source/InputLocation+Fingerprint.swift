import APNSBatchBasics
import Glibc

extension InputFingerprint {
    /// Reads a source from where it is.
    ///
    /// - Parameter most: How many unpacked bytes to read; all if they are fewer.
    /// - Throws: `InputError.cannotRead`.
    init(of source: any ByteSource, most: UInt64) throws(InputError) {
        self.init()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { unsafe room.deallocate() }
        while bytes < most {
            let wanted = unsafe UnsafeMutableRawBufferPointer(
                rebasing: room.prefix(Int(clamping: min(UInt64(room.count), most - bytes))))
            let count = try unsafe source.read(into: wanted)
            if count == 0 { break }
            unsafe add(UnsafeRawBufferPointer(rebasing: wanted.prefix(count)))
        }
        isPacked = source.packing != nil
    }
}

extension InputLocation {
    /// Reads the input from its first byte.
    ///
    /// - Parameters:
    ///   - most: How many unpacked bytes to read; all if they are fewer.
    ///   - windowLog: The binary logarithm of the largest window, in bytes, that a zstd frame may need; nil for the default.
    ///   - format: The format, which determines whether each of several files has a header row.
    /// - Throws: As ``open(limit:windowLog:format:)``, and `InputError.cannotRead`.
    package func fingerprint(
        most: UInt64 = .max, windowLog: Int?, format: FormatChoice = .csv(.comma)
    ) throws(InputError) -> InputFingerprint {
        let source = try open(limit: nil, windowLog: windowLog ?? RowLimits.standard.zstdWindowLog, format: format)
        return try InputFingerprint(of: source, most: most)
    }

    /// Returns the CRC-32C of some of its unpacked bytes; nil if it ends before they do, or is no file.
    ///
    /// - Throws: As ``open(limit:windowLog:format:)``, and `InputError.cannotRead`.
    package func checksum(of range: Range<UInt64>) throws(InputError) -> UInt32? {
        let source = try open(limit: nil)
        guard source.canReadAgain else { return nil }
        return try source.checksum(of: range)
    }

    /// Why a file cannot be found although it may be there later: the error code; nil if it can be found, or if a person must act.
    package static func absence(of path: String) -> Int32? {
        var facts = stat()
        guard unsafe stat(path, &facts) != 0 else { return nil }
        return passing.contains(errno) ? errno : nil
    }

    /// Errors of a path that is not there yet, or of a file system that is not there at the moment.
    private static let passing: Set<Int32> = [
        ENOENT, ENOTCONN, ESTALE, EIO, ENXIO, ENODEV, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH,
    ]
}
