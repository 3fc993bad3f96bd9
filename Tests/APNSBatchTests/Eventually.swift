import APNSBatchBasics
import APNSBatchTransport
import Glibc
import Testing

/// Waits until a condition is true, and then acts, both on its own thread. All tests share a few threads, and a test that checks
/// or acts only when it gets its turn may be seconds late: what must happen before a run ends belongs into `act`.
func eventually(_ isSo: @escaping @Sendable () -> Bool, then act: @escaping @Sendable () -> Void = {}) async {
    do {
        try await NamedThread.value("eventually") {
            while !isSo() { usleep(500) }
            act()
        }
    } catch {
        Issue.record(error)
    }
}

/// Returns the highest value of a number until a condition is true.
func most(_ number: @escaping @Sendable () -> Int, until isSo: @escaping @Sendable () -> Bool) async -> Int {
    let most = Guarded(0)
    await eventually {
        let found = number()
        most.withLock { $0 = max($0, found) }
        return isSo()
    }
    return most.withLock { $0 }
}
