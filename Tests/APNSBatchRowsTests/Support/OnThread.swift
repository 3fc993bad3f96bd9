import Glibc

/// Runs a body that may block on a thread of its own, and waits for the thread's end: the thread sanitizer sees the order in
/// that, and not always in a continuation.
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
