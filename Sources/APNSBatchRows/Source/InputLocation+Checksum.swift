import APNSBatchBasics
import Glibc

extension InputLocation {
    /// Reads the input to its end, and returns the number of its bytes and their CRC-32C, both unpacked.
    ///
    /// - Parameter windowLog: The binary logarithm of the largest window, in bytes, that a zstd frame may need; nil for the default.
    /// - Throws: As ``open(limit:windowLog:format:)``, and `InputError.cannotRead`.
    package func checksum(windowLog: Int?) throws(InputError) -> (bytes: UInt64, sum: UInt32) {
        let source = try open(limit: nil, windowLog: windowLog ?? RowLimits.standard.zstdWindowLog)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { unsafe room.deallocate() }
        var (bytes, sum): (UInt64, UInt32) = (0, 0)
        while true {
            let count = try unsafe source.read(into: room)
            if count == 0 { return (bytes, sum) }
            sum = unsafe CRC32C.of(UnsafeRawBufferPointer(rebasing: room[..<count]), after: sum)
            bytes += UInt64(count)
        }
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
