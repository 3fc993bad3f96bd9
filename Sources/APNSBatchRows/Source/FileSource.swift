import APNSBatchBasics
import Glibc

/// A regular file, from the position of its descriptor to the end that the file had when it was opened.
final class FileSource: ByteSource {
    let size: UInt64?
    let canReadAgain = true
    private let descriptor: InputDescriptor
    /// The position of the descriptor when the source was created.
    private let start: UInt64

    init(_ descriptor: consuming InputDescriptor, start: UInt64, size: UInt64) {
        _ = posix_fadvise(descriptor.number, 0, 0, POSIX_FADV_SEQUENTIAL)
        self.descriptor = descriptor
        self.start = start
        self.size = size
    }

    /// Whether the others are packed, judged by the first bytes.
    func isPacked() throws(InputError) -> Bool {
        var start = [UInt8](repeating: 0, count: Int(min(UInt64(Packing.bytesWanted), size ?? 0)))
        let isRead = try unsafe start.withUnsafeMutableBufferPointer { (room) throws(InputError) in
            try unsafe read(at: 0, into: UnsafeMutableRawBufferPointer(room))
        }
        guard isRead, case .packed = Packing.guess(start, isWhole: true) else { return false }
        return true
    }

    var modified: UInt64? {
        var status = stat()
        return unsafe fstat(descriptor.number, &status) == 0 ? status.modifiedNanoseconds : nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while true {
            let got = unsafe Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
            if got >= 0 { return got }
            guard errno == EINTR else { throw .cannotRead(errno: errno) }
        }
    }

    func bytesBehind() -> (count: UInt64, first: UInt8)? {
        var status = stat()
        guard let size, unsafe fstat(descriptor.number, &status) == 0 else { return nil }
        let (end, sizeNow) = (start + size, UInt64(max(0, status.st_size)))
        var first: UInt8 = 0
        guard sizeNow > end, unsafe pread(descriptor.number, &first, 1, off_t(end)) == 1 else { return nil }
        return (sizeNow - end, first)
    }

    func seek(to offset: UInt64) throws(InputError) {
        guard lseek(descriptor.number, off_t(start + offset), SEEK_SET) >= 0 else { throw .cannotRead(errno: errno) }
    }

    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let got = unsafe pread(descriptor.number, rest.baseAddress, rest.count, off_t(start + offset) + done)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .cannotRead(errno: errno) }
            if got == 0 { return false }
            done += got
        }
        return true
    }
}
