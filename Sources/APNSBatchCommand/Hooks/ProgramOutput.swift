import APNSBatchBasics
import Glibc

/// What a program writes to standard output and standard error, which becomes lines of standard error of this process.
final class ProgramOutput {
    /// Where the program writes; -1 if there is no descriptor left.
    private(set) var writer: Int32
    private let reader: Int32
    private let tell: (String) -> Void
    private var lines = LineSplitter()

    init(_ tell: @escaping (String) -> Void) {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer) = (ends[0], ends[1])
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
        self.tell = tell
    }

    deinit {
        closeWriter()
        close(reader)
    }

    /// Call it when the program has its own descriptor.
    func closeWriter() {
        close(writer)
        writer = -1
    }

    /// Tells of the lines that are there.
    func pass() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(reader, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            lines.add(bytes[..<count], tell)
        }
    }

    /// Tells of the last lines. What the program has started may still write, so nothing is waited for.
    func finish() {
        pass()
        lines.finish(tell)
    }
}
