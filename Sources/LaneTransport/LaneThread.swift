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

    /// Starts a thread; `name` (at most 15 bytes) shows in `top -H`. Signals are left to the threads of the caller, but for
    /// those of a fault of the thread's own.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(TransportError) {
        thread = try Self.start(name, body)
    }

    private static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(TransportError)
        -> pthread_t
    {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var blocked = sigset_t()
        var before = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP] { sigdelset(&blocked, fault) }
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        var made = pthread_t()
        let status = pthread_create(
            &made, nil,
            { argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                apns_transport_thread_name(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        if status == 0 { return made }
        start.release()
        throw TransportError(noThread: name, error: status)
    }

    /// What a thread of its own comes to. Its end is waited for: what the libraries keep for a thread goes with it, and not
    /// while the process ends.
    package static func value<Value: Sendable>(
        name: String, _ body: @escaping @Sendable () -> Value
    ) async throws(TransportError) -> Value {
        let started = Guarded<pthread_t?>(nil)
        let result: Result<Value, TransportError> = await withCheckedContinuation { continuation in
            started.withLock { thread in
                do throws(TransportError) {
                    thread = try start(name) { continuation.resume(returning: .success(body())) }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        if let thread = started.withLock({ $0 }) { pthread_join(thread, nil) }
        return try result.get()
    }

    /// Starts a thread that nobody waits for, where it can be done without; false when the system has none to give.
    package static func tryDetached(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = try? start(name, body) else { return false }
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

    /// The transport calls this as it goes.
    package func detach() { handle.withLock { $0.pointer = nil } }

    package func wake() {
        handle.withLock { handle in
            if let pointer = handle.pointer { apns_transport_wake(pointer) }
        }
    }
}
