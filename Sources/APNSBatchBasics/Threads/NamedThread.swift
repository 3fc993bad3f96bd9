import CAPNSCommon
import Glibc

/// The system refused to start a thread.
package struct ThreadError: Error, CustomStringConvertible, Sendable {
    package let name: String
    package let code: Int32

    package var description: String {
        "cannot start a thread for \(name): \(systemMessage(code));"
            + " raise the limit of processes (ulimit -u, or pids.max of the container)"
    }
}

/// A thread with a name of at most 15 bytes, which `top -H` shows. It blocks all signals except those that a fault of
/// the thread itself raises.
package struct NamedThread: ~Copyable {
    private let thread: pthread_t

    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    package init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadError) {
        thread = try Self.start(name, body)
    }

    fileprivate static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadError)
        -> pthread_t
    {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var (blocked, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP] { unsafe sigdelset(&blocked, fault) }
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
        var made = pthread_t()
        let status = unsafe pthread_create(
            &made, nil,
            { argument in
                let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                unsafe apns_thread_name(start.name)
                start.body()
                return nil
            }, unsafe start.toOpaque())
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        if status == 0 { return made }
        unsafe start.release()
        throw ThreadError(name: name, code: status)
    }

    /// Runs `body` on a new thread and returns its result after the thread has ended, so that thread-local state of
    /// libraries has been released.
    package static func value<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Value
    ) async throws(ThreadError) -> Value {
        let started = Guarded<pthread_t?>(nil)
        let result: Result<Value, ThreadError> = await withCheckedContinuation { continuation in
            started.withLock { thread in
                do throws(ThreadError) {
                    thread = try start(name) { continuation.resume(returning: .success(body())) }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        if let thread = started.withLock({ $0 }) { pthread_join(thread, nil) }
        return try result.get()
    }

    /// Starts `count` threads, each with its number, and waits until all have ended; see ``ThreadGroup``.
    package static func together(
        _ name: String, count: Int, failed: (ThreadError) -> Void, _ body: @escaping @Sendable (_ number: Int) -> Void
    ) {
        ThreadGroup(name, count: count, failed: failed, body).join()
    }

    /// Starts a detached thread. Returns false if the system refuses it.
    package static func tryDetached(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = try? start(name, body) else { return false }
        pthread_detach(thread)
        return true
    }

    /// Waits until the thread has ended.
    package consuming func join() { pthread_join(thread, nil) }
}

/// Threads that do the same work, each with its number.
package struct ThreadGroup: ~Copyable {
    private let threads: [pthread_t]

    /// Creates a group without threads.
    package init() { threads = [] }

    /// Starts `count` threads. If the system refuses one, `failed` is called at once, and no further thread is started; those
    /// that run are still in the group.
    package init(
        _ name: String, count: Int, failed: (ThreadError) -> Void, _ body: @escaping @Sendable (_ number: Int) -> Void
    ) {
        var threads: [pthread_t] = []
        do throws(ThreadError) {
            for number in 0..<count {
                threads.append(try NamedThread.start("\(name) \(number)") { body(number) })
            }
        } catch {
            failed(error)
        }
        self.threads = threads
    }

    /// The number of threads that were started.
    package var count: Int { threads.count }

    /// Waits until all threads have ended.
    package consuming func join() { for thread in threads { pthread_join(thread, nil) } }
}
