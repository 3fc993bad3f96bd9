import Glibc

/// A stream of bytes from a pipe, a FIFO, a device, or a file whose size is not known.
final class StreamSource: ByteSource {
    private let descriptor: InputDescriptor
    /// The ends of a pipe to which only `cancel` writes.
    private let wakeReader: InputDescriptor
    private let wakeWriter: InputDescriptor

    /// Returns nil, with `errno` set, if no pipe can be created.
    init?(_ descriptor: consuming InputDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.descriptor = descriptor
        wakeReader = InputDescriptor(owned: ends[0])
        wakeWriter = InputDescriptor(owned: ends[1])
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while true {
            guard try waitForBytes(milliseconds: -1) else { continue }
            let got = unsafe Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
            if got >= 0 { return got }
            guard errno == EINTR || errno == EAGAIN else { throw .cannotRead(errno: errno) }
        }
    }

    func isFlowing() -> Bool { (try? waitForBytes(milliseconds: 100)) ?? true }

    /// Returns false if nothing arrived in that time; -1 is for ever.
    private func waitForBytes(milliseconds: Int32) throws(InputError) -> Bool {
        var polled = [descriptor.number, wakeReader.number].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = unsafe poll(&polled, 2, milliseconds)
        if count < 0, errno != EINTR { throw .cannotRead(errno: errno) }
        if polled[1].revents != 0 { throw .cancelled }
        return count > 0
    }

    func cancel() {
        var byte: UInt8 = 0
        _ = unsafe write(wakeWriter.number, &byte, 1)
    }
}
