import Glibc

/// Bytes of a file descriptor, by read(2).
final class DescriptorSource: ByteSource {
    let byteCount: UInt64?

    private let descriptor: Int32
    private let isOwned: Bool
    /// Where the descriptor stood when it was opened.
    private let start: UInt64
    /// A pipe whose writing end is closed by nobody and written to by `cancel`. -1 where reads do not wait: regular
    /// files.
    private let wakeReader: Int32
    private let wakeWriter: Int32

    /// - Parameter limit: no more bytes than that are read of a file that has more.
    init(_ input: CSVInput, limit: UInt64? = nil) throws(CSVError) {
        let path: String
        switch input {
        case .file(let name):
            path = name
            // Opening a FIFO must not wait for its writer, where nobody could cancel it.
            descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            isOwned = true
        case .descriptor(let number):
            path = number == 0 ? "standard input" : "descriptor \(number)"
            descriptor = number
            isOwned = false
        }
        let size: UInt64?
        (wakeReader, wakeWriter, size) = try Self.prepare(descriptor, path: path, isOwned: isOwned)
        byteCount = size.map { min($0, limit ?? .max) }
        start = byteCount == nil ? 0 : UInt64(max(0, lseek(descriptor, 0, SEEK_CUR)))
    }

    private static func prepare(
        _ descriptor: Int32, path: String, isOwned: Bool
    ) throws(CSVError) -> (Int32, Int32, UInt64?) {
        var status = stat()
        var code = descriptor < 0 || fstat(descriptor, &status) != 0 ? errno : 0
        let kind = status.st_mode & S_IFMT
        if code == 0, kind == S_IFDIR { code = EISDIR }
        if code == 0, kind == S_IFREG {
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
            return (-1, -1, remainingBytes(descriptor, size: status.st_size))
        }
        var ends: [Int32] = [-1, -1]
        if code == 0 { code = pipe(&ends) == 0 ? 0 : errno }
        guard code == 0 else {
            if isOwned, descriptor >= 0 { close(descriptor) }
            throw .cannotOpen(path: path, errno: code)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1], nil)
    }

    /// Files of /proc and the like say that they are empty and are not.
    private static func remainingBytes(_ descriptor: Int32, size: Int) -> UInt64? {
        let offset = lseek(descriptor, 0, SEEK_CUR)
        return size > 0 && offset >= 0 && offset <= size ? UInt64(size - offset) : nil
    }

    deinit {
        if isOwned { close(descriptor) }
        if wakeReader >= 0 {
            close(wakeReader)
            close(wakeWriter)
        }
    }

    func read(into buffer: UnsafeMutableRawPointer, count: Int) throws(CSVError) -> Int {
        while true {
            if wakeReader >= 0 { try waitForBytes() }
            let got = Glibc.read(descriptor, buffer, count)
            if got >= 0 { return got }
            guard errno == EINTR || (errno == EAGAIN && wakeReader >= 0) else { throw .cannotRead(errno: errno) }
        }
    }

    func bytesBehind() -> (count: UInt64, first: UInt8)? {
        var facts = stat()
        guard let byteCount, fstat(descriptor, &facts) == 0 else { return nil }
        let (end, size) = (start + byteCount, UInt64(max(0, facts.st_size)))
        var first: UInt8 = 0
        guard size > end, pread(descriptor, &first, 1, off_t(end)) == 1 else { return nil }
        return (size - end, first)
    }

    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let got = pread(descriptor, rest.baseAddress, rest.count, off_t(start + offset) + done)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return false }
            done += got
        }
        return true
    }

    func seek(to offset: UInt64) throws(CSVError) {
        guard lseek(descriptor, off_t(start + offset), SEEK_SET) >= 0 else { throw .cannotRead(errno: errno) }
    }

    private func waitForBytes() throws(CSVError) {
        var polled = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0)
        )
        while true {
            let ready = withUnsafeMutableBytes(of: &polled) {
                poll($0.baseAddress!.assumingMemoryBound(to: pollfd.self), 2, -1)
            }
            guard ready > 0 else {
                if errno == EINTR { continue }
                throw .cannotRead(errno: errno)
            }
            if polled.1.revents != 0 { throw .cancelled }
            return
        }
    }

    func cancel() {
        guard wakeWriter >= 0 else { return }
        var byte: UInt8 = 0
        _ = write(wakeWriter, &byte, 1)
    }
}
