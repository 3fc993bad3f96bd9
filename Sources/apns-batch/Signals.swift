import APNSBatchBasics
import Glibc

/// Signals that a command acts on, each on a thread of this program and not in the handler:
///
/// - SIGINT, SIGTERM and SIGQUIT ask for an end: the first one in order, the second one without waiting, and the third one
///   ends the process on the spot, as SIGKILL does. One within a second of the last counts as the same: a terminal, a wrapper
///   and `timeout` may each send theirs.
/// - SIGHUP and SIGUSR1, where the command has something to do for them, may come at any time and as often as they like.
///
/// The handler only writes the signal's number into a pipe, which a thread reads. What a SIGHUP asks for reads files, and a
/// disk may hang: it has a second thread, so that a request to end is never overlooked.
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
        let source = ends[0]
        let errands = hangup.flatMap { Errands($0) }
        let isStarted = NamedThread.tryDetached("signals") {
            var stops = StopCount()
            while true {
                let number = Int32(next(source))
                switch number {
                case SIGHUP: errands?.ask()
                case SIGUSR1: pause?()
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
        // Without a thread for them, signals have the actions that they had before.
        guard isStarted else { return complain("no thread for signals: SIGINT and SIGTERM end the process at once") }
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

}
