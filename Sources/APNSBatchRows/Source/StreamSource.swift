import Glibc

/// A stream of bytes from a pipe, a FIFO, a device, or a file whose size is not known.
final class StreamSource: ByteSource {
    private let descriptor: InputDescriptor
    /// A pipe to which only `cancel` writes.
    private let wake: Pipe

    /// Returns nil, with `errno` set, if no pipe can be created.
    init?(_ descriptor: consuming InputDescriptor) {
        guard let wake = Pipe() else { return nil }
        self.descriptor = descriptor
        self.wake = wake
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
        var polled = [descriptor.number, wake.reader.number].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = unsafe poll(&polled, 2, milliseconds)
        if count < 0, errno != EINTR { throw .cannotRead(errno: errno) }
        if polled[1].revents != 0 { throw .cancelled }
        return count > 0
    }

    func cancel() {
        var byte: UInt8 = 0
        _ = unsafe write(wake.writer.number, &byte, 1)
    }
}
