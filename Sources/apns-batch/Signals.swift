import Glibc

/// SIGINT, SIGTERM, SIGHUP and SIGUSR1. The first of the former two stops in order, a second one without waiting; a third ends
/// the process on the spot, and what was under way then stands nowhere. The latter two, where somebody asks for them, may come
/// at any time and as often as they like.
///
/// The handler only writes the signal's number into a pipe; a thread of its own reads it and acts.
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
        startReader(Reader(end: ends[0], body: body, again: again, hangup: hangup, pause: pause))
        let asked = (hangup == nil ? [] : [SIGHUP]) + (pause == nil ? [] : [SIGUSR1])
        for number in [SIGINT, SIGTERM] + asked {
            var action = sigaction()
            action.sa_flags = SA_RESTART
            action.__sigaction_handler.sa_handler = { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Signals.pipeEnd, &byte, 1)
            }
            sigaction(number, &action, nil)
        }
    }

    private static func startReader(_ reader: Reader) {
        let start = Unmanaged.passRetained(reader)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in Unmanaged<Reader>.fromOpaque(argument!).takeRetainedValue().run() }, start.toOpaque())
        pthread_detach(thread)
    }

    private final class Reader: Sendable {
        private let end: Int32
        private let body: @Sendable (String) -> Void
        private let again: @Sendable () -> Void
        private let hangup: (@Sendable () -> Void)?
        private let pause: (@Sendable () -> Void)?

        init(
            end: Int32, body: @escaping @Sendable (String) -> Void, again: @escaping @Sendable () -> Void,
            hangup: (@Sendable () -> Void)?, pause: (@Sendable () -> Void)?
        ) {
            self.end = end
            self.body = body
            self.again = again
            self.hangup = hangup
            self.pause = pause
        }

        func run() -> Never {
            body(nextStop())
            _ = nextStop()
            again()
            _ = nextStop()
            _exit(130)
        }

        /// The next signal that asks for an end; acts on the others.
        private func nextStop() -> String {
            while true {
                switch Int32(next()) {
                case SIGHUP: hangup?()
                case SIGUSR1: pause?()
                case SIGINT: return "SIGINT"
                default: return "SIGTERM"
                }
            }
        }

        /// The next signal's number.
        private func next() -> UInt8 {
            var byte: UInt8 = 0
            while read(end, &byte, 1) != 1 {}
            return byte
        }
    }
}
