import Glibc

/// A separate thread, not one of the pool. It may block, and changes to it, such as a signal mask, end with it.
final class Worker {
    private final class Box {
        let body: () -> Void

        init(_ body: @escaping () -> Void) {
            self.body = body
        }
    }

    private var thread = pthread_t()
    private var joined = false

    init(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let status = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
                return nil
            }, box)
        precondition(status == 0)
    }

    func join() {
        guard !joined else { return }
        joined = true
        pthread_join(thread, nil)
    }

    deinit {
        join()
    }

    /// Runs `body` on a separate thread and waits for it.
    static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
        let outcome = Outcome<R>()
        Worker { outcome.value = Result { try body() } }.join()
        return try outcome.value!.get()
    }

    /// A result that the thread writes, and that is read after the thread was joined.
    private final class Outcome<R>: @unchecked Sendable {
        var value: Result<R, any Error>?
    }
}
