import APNSBatchBasics
import Glibc
import Synchronization

/// The signals that a command reacts to:
///
/// - The first SIGINT, SIGTERM or SIGQUIT ends the command in order, the second one without waiting for answers, and the
///   third one at once, as SIGKILL does. Signals within one second count as one, because a terminal, a wrapper and `timeout`
///   may each send theirs.
/// - SIGHUP and SIGUSR1 may arrive at any time and any number of times, if the command handles them.
///
/// The signal handler only writes the signal's number into a pipe; a thread reads it and reacts. SIGHUP reads files, and
/// reading may block. It therefore has a thread of its own, so that it cannot delay a SIGINT or SIGTERM.
enum Signals {
    /// The writing end of the pipe, or -1 before the handler is installed.
    private static let pipeEnd = Atomic<Int32>(-1)

    /// What is written into the pipe besides signals, after the supervisor has ended.
    enum Supervisor: UInt8 {
        /// Acts as the first SIGTERM, if no signal came before.
        case isGone = 0x80
        /// Acts as the second one, if there was none.
        case isGoneForLong
    }

    /// Ends the run in order, as after SIGTERM, or without waiting for answers. Without a run, ends the process.
    static func end(because supervisor: Supervisor) {
        let end = pipeEnd.load(ordering: .acquiring)
        guard end >= 0 else {
            kill(getpid(), SIGTERM)
            return
        }
        var byte = supervisor.rawValue
        _ = write(end, &byte, 1)
    }

    /// Ignores SIGHUP and SIGUSR1 until `onStop` is called. Until then, keys are about to be read anyway, and there is no run
    /// to pause.
    static func ignoreHangup() {
        signal(SIGHUP, SIG_IGN)
        signal(SIGUSR1, SIG_IGN)
    }

    static func onStop(
        _ body: @escaping @Sendable (_ name: String) -> Void, again: @escaping @Sendable () -> Void = {},
        hangup: (@Sendable () -> Void)? = nil, pause: (@Sendable () -> Void)? = nil
    ) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        closeOnExec(ends)
        // A campaign must not end because the reader of its output is gone.
        signal(SIGPIPE, SIG_IGN)
        let source = ends[0]
        let errands = hangup.flatMap { Errands($0) }
        let isStarted = NamedThread.tryDetached("signals") {
            var stops = StopCount()
            while true {
                let number = Int32(next(source))
                switch number {
                case SIGHUP: errands?.ask()
                case SIGUSR1: pause?()
                case Int32(Supervisor.isGone.rawValue):
                    if stops.reach(1, at: SystemClock.monotonic()) { body("end of the supervisor") }
                case Int32(Supervisor.isGoneForLong.rawValue):
                    if stops.reach(2, at: SystemClock.monotonic()) { again() }
                default:
                    switch stops.take(at: SystemClock.monotonic()) {
                    case .first: body(number == SIGINT ? "SIGINT" : number == SIGQUIT ? "SIGQUIT" : "SIGTERM")
                    case .same: break
                    case .second: again()
                    case .last: _exit(130)
                    }
                }
            }
        }
        // If the thread cannot be started, the signals keep their previous actions.
        guard isStarted else {
            return complain("cannot start a thread for signals: SIGINT and SIGTERM end the process at once")
        }
        pipeEnd.store(ends[1], ordering: .releasing)
        let asked = (hangup == nil ? [] : [SIGHUP]) + (pause == nil ? [] : [SIGUSR1])
        for number in [SIGINT, SIGTERM, SIGQUIT] + asked {
            var action = sigaction()
            action.sa_flags = SA_RESTART
            action.__sigaction_handler.sa_handler = { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Signals.pipeEnd.load(ordering: .relaxed), &byte, 1)
            }
            sigaction(number, &action, nil)
        }
    }

    /// Repeats a task on a thread of its own whenever it is asked to.
    private final class Errands: Sendable {
        private let end: Int32

        init?(_ body: @escaping @Sendable () -> Void) {
            var ends: [Int32] = [-1, -1]
            // `ask` never blocks: if the pipe is full, the task is due anyway.
            guard pipe(&ends) == 0, fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 else { return nil }
            Signals.closeOnExec(ends)
            end = ends[1]
            let source = ends[0]
            let isStarted = NamedThread.tryDetached("hangup") {
                while true {
                    _ = Signals.next(source)
                    body()
                }
            }
            guard isStarted else { return nil }
        }

        func ask() {
            var byte: UInt8 = 0
            _ = write(end, &byte, 1)
        }
    }

    /// Keeps the ends of a pipe from programs that this process starts.
    private static func closeOnExec(_ ends: [Int32]) {
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// Reads the next byte of a pipe.
    private static func next(_ end: Int32) -> UInt8 {
        var byte: UInt8 = 0
        while read(end, &byte, 1) != 1 {}
        return byte
    }

    /// Counts the signals that ask for an end.
    private struct StopCount {
        enum Meaning {
            case first
            /// The signal counts as one with the previous signal.
            case same
            case second
            case last
        }

        private var count = 0
        private var last: UInt64 = 0
        /// In nanoseconds.
        private static let apart: UInt64 = 1_000_000_000

        mutating func take(at now: UInt64) -> Meaning {
            if count > 0, now < last + Self.apart { return .same }
            (count, last) = (count + 1, now)
            return count == 1 ? .first : count == 2 ? .second : .last
        }

        /// Counts as many as if signals had come, and returns false if as many came before.
        mutating func reach(_ wanted: Int, at now: UInt64) -> Bool {
            guard count < wanted else { return false }
            (count, last) = (wanted, now)
            return true
        }
    }

}
