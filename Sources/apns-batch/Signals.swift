import Glibc

/// SIGINT and SIGTERM. The first stops in order, a second one without waiting; a third ends the process on the spot, and
/// what was under way then stands nowhere.
///
/// The handler only writes the signal's number into a pipe; a thread of its own reads it and acts.
enum Signals {
    /// Written once, before the handler is installed.
    private nonisolated(unsafe) static var pipeEnd: Int32 = -1

    static func onStop(
        _ body: @escaping @Sendable (_ name: String) -> Void, again: @escaping @Sendable () -> Void = {}
    ) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        // A reader of our output that goes away must not end a campaign.
        signal(SIGPIPE, SIG_IGN)
        pipeEnd = ends[1]
        startReader(of: ends[0], body, again)
        for number in [SIGINT, SIGTERM] {
            var action = sigaction()
            action.sa_flags = SA_RESTART
            action.__sigaction_handler.sa_handler = { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Signals.pipeEnd, &byte, 1)
            }
            sigaction(number, &action, nil)
        }
    }

    private static func startReader(
        of end: Int32, _ body: @escaping @Sendable (String) -> Void, _ again: @escaping @Sendable () -> Void
    ) {
        let start = Unmanaged.passRetained(Reader(end: end, body: body, again: again))
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                let reader = Unmanaged<Reader>.fromOpaque(argument!).takeRetainedValue()
                reader.body(reader.next() == UInt8(SIGINT) ? "SIGINT" : "SIGTERM")
                _ = reader.next()
                reader.again()
                _ = reader.next()
                _exit(130)
            }, start.toOpaque())
        pthread_detach(thread)
    }

    private final class Reader: Sendable {
        let end: Int32
        let body: @Sendable (String) -> Void
        let again: @Sendable () -> Void

        init(end: Int32, body: @escaping @Sendable (String) -> Void, again: @escaping @Sendable () -> Void) {
            self.end = end
            self.body = body
            self.again = again
        }

        /// The next signal's number.
        func next() -> UInt8 {
            var byte: UInt8 = 0
            while read(end, &byte, 1) != 1 {}
            return byte
        }
    }
}
