import APNSBatchBasics
import Glibc

/// SIGINT, SIGTERM, SIGQUIT, SIGHUP and SIGUSR1. The first of the former three stops in order, a second one without waiting,
/// and a third ends the process on the spot, as SIGKILL does. One within a second of the last counts as the same: a terminal,
/// a wrapper and `timeout` may each send theirs. The latter two, where somebody asks for them, may come
/// at any time and as often as they like.
///
/// The handler only writes the signal's number into a pipe; a thread of its own reads it and acts. What a SIGHUP asks for
/// reads files, and a disk may hang: it has another thread, so that an end that is asked for is never overlooked.
enum Signals {
    /// Written once, before the handler is installed.
    private nonisolated(unsafe) static var pipeEnd: Int32 = -1

    /// Until `onStop`: a SIGHUP that comes while keys and input are being read asks for nothing that is not done anyway, and
    /// a SIGUSR1 finds nothing to pause.
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
        // A reader of our output that goes away must not end a campaign.
        signal(SIGPIPE, SIG_IGN)
        pipeEnd = ends[1]
        let reader = Reader(
            end: ends[0], body: body, again: again, hangup: hangup.flatMap { Errands($0) }, pause: pause)
        guard NamedThread.tryDetached("signals", { reader.run() }) else { return noThread() }
        let asked = (hangup == nil ? [] : [SIGHUP]) + (pause == nil ? [] : [SIGUSR1])
        for number in [SIGINT, SIGTERM, SIGQUIT] + asked {
            var action = sigaction()
            action.sa_flags = SA_RESTART
            action.__sigaction_handler.sa_handler = { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Signals.pipeEnd, &byte, 1)
            }
            sigaction(number, &action, nil)
        }
    }

    /// Without a thread for them, signals have the actions that they had before.
    private static func noThread() {
        complain("no thread for signals: SIGINT and SIGTERM end the process at once")
    }

    /// Does the same thing again and again, whenever asked, on a thread of its own.
    private final class Errands: Sendable {
        private let end: Int32

        init?(_ body: @escaping @Sendable () -> Void) {
            var ends: [Int32] = [-1, -1]
            // Who asks never waits: when as many are due as the pipe holds, one more changes nothing.
            guard pipe(&ends) == 0, fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 else { return nil }
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

    /// The next byte of a pipe.
    private static func next(_ end: Int32) -> UInt8 {
        var byte: UInt8 = 0
        while read(end, &byte, 1) != 1 {}
        return byte
    }

    /// What one more signal that asks for an end means.
    private struct StopCount {
        enum Meaning {
            case first
            /// It belongs to the one before.
            case same
            case second
            case last
        }

        private var count = 0
        private var last: UInt64 = 0
        /// Nanoseconds.
        private static let apart: UInt64 = 1_000_000_000

        mutating func take(at now: UInt64) -> Meaning {
            if count > 0, now < last + Self.apart { return .same }
            (count, last) = (count + 1, now)
            return count == 1 ? .first : count == 2 ? .second : .last
        }
    }

    private final class Reader: Sendable {
        private let end: Int32
        private let body: @Sendable (String) -> Void
        private let again: @Sendable () -> Void
        private let hangup: Errands?
        private let pause: (@Sendable () -> Void)?

        init(
            end: Int32, body: @escaping @Sendable (String) -> Void, again: @escaping @Sendable () -> Void,
            hangup: Errands?, pause: (@Sendable () -> Void)?
        ) {
            self.end = end
            self.body = body
            self.again = again
            self.hangup = hangup
            self.pause = pause
        }

        func run() -> Never {
            var stops = StopCount()
            while true {
                let name = nextStop()
                switch stops.take(at: SystemClock.monotonic()) {
                case .first: body(name)
                case .same: break
                case .second: again()
                case .last: _exit(130)
                }
            }
        }

        /// The next signal that asks for an end; acts on the others.
        private func nextStop() -> String {
            while true {
                switch Int32(Signals.next(end)) {
                case SIGHUP: hangup?.ask()
                case SIGUSR1: pause?()
                case SIGINT: return "SIGINT"
                case SIGQUIT: return "SIGQUIT"
                default: return "SIGTERM"
                }
            }
        }
    }
}
