import Glibc

/// Runs a body that may block on its own thread, and waits for the end of the thread. The thread sanitizer recognizes
/// the order that this establishes, but not always that of a continuation.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    var thread = pthread_t()
    let value = await withCheckedContinuation { continuation in
        let start = Unmanaged.passRetained(ThreadStart { continuation.resume(returning: body()) })
        let code = pthread_create(&thread, nil, runThread, start.toOpaque())
        precondition(code == 0)
    }
    pthread_join(thread, nil)
    return value
}

private final class ThreadStart: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue().body()
    return nil
}
