import APNSBatchBasics
import ArgumentParser
import CAPNSProcess
import Glibc

/// Ties the process to a supervisor, so that no run continues after the supervisor has died. Without these flags a run outlives
/// its parent, as a job of nohup or cron must.
struct Leash: ParsableArguments {
    @Option(help: "Descriptor of a pipe or socket. Its end of file acts as SIGTERM, and 2 s later as a second one.")
    var leash: Int32?

    @Flag(help: "Act as after SIGTERM when the thread that started this process ends.")
    var dieWithParent = false

    /// Begins to watch. Call it before keys are read: until a run begins, an end of the supervisor ends the process at once.
    func hold() throws {
        if let leash { try Self.check(leash) }
        if dieWithParent {
            try Self.start("parent") {
                // The kernel sends the signal because of this thread, which therefore never ends.
                if !apns_process_die_with_parent() { complain("warning: --die-with-parent has no effect here") }
                while true { pause() }
            }
        }
        guard let leash else { return }
        try Self.start("leash") {
            Self.waitForEnd(of: leash)
            Signals.end(because: .isGone)
            sleep(2)
            Signals.end(because: .isGoneForLong)
        }
    }

    /// A file or a terminal has no writer whose death could be noticed.
    private static func check(_ descriptor: Int32) throws {
        var facts = stat()
        guard descriptor >= 0, fstat(descriptor, &facts) == 0 else {
            throw UsageError("--leash: descriptor \(descriptor) is not open")
        }
        guard [S_IFIFO, S_IFSOCK].contains(facts.st_mode & S_IFMT) else {
            throw UsageError("--leash: descriptor \(descriptor) is neither a pipe nor a socket")
        }
    }

    private static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws {
        guard NamedThread.tryDetached(name, body) else { throw SystemError("cannot start a thread for --leash") }
    }

    /// Returns when every process has closed the other end. Bytes are read and ignored.
    private static func waitForEnd(of descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 64)
        while true {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waited, 1, -1) > 0 else { continue }
            let count = read(descriptor, &bytes, bytes.count)
            if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { return }
        }
    }
}
