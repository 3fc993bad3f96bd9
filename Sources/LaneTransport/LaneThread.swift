import CTransport
import Glibc

/// A thread of its own for a lane, the reader or the writer.
package struct LaneThread: ~Copyable {
    private let thread: pthread_t

    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a thread; `name` (at most 15 bytes) shows in `top -H`. Signals are left to the threads of the caller.
    package init(name: String, _ body: @escaping @Sendable () -> Void) {
        guard let made = Self.start(name, body) else { preconditionFailure("the system has no thread for \(name)") }
        thread = made
    }

    private static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> pthread_t? {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        var made = pthread_t()
        let status = pthread_create(
            &made, nil,
            { argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                transport_thread_name(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        if status == 0 { return made }
        start.release()
        return nil
    }

    /// What a thread of its own comes to. Its end is waited for: what the libraries keep for a thread goes with it, and not
    /// while the process ends.
    package static func value<Value: Sendable>(
        name: String, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        let started = Guarded<pthread_t?>(nil)
        let value = await withCheckedContinuation { continuation in
            started.withLock { $0 = LaneThread(name: name) { continuation.resume(returning: body()) }.thread }
        }
        if let thread = started.withLock({ $0 }) { pthread_join(thread, nil) }
        return value
    }

    /// Starts a thread that nobody waits for, where it can be done without; false when the system has none to give.
    package static func tryDetached(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = start(name, body) else { return false }
        pthread_detach(thread)
        return true
    }

    /// Waits for the thread's end.
    package consuming func join() { pthread_join(thread, nil) }
}

/// Ends a lane's wait from any thread, also before the lane has begun and after it has ended (then it does nothing).
package final class LaneWaker: Sendable {
    private struct Handle: @unchecked Sendable { var pointer: OpaquePointer? }
    private let handle = Guarded(Handle(pointer: nil))

    package init() {}

    func attach(_ pointer: OpaquePointer) { handle.withLock { $0.pointer = pointer } }

    /// The lane calls this before its transport goes.
    package func detach() { handle.withLock { $0.pointer = nil } }

    package func wake() {
        handle.withLock { handle in
            if let pointer = handle.pointer { transport_wake(pointer) }
        }
    }
}
