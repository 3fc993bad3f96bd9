import APNSBatchBasics
import APNSBatchTransport
import Glibc
import Testing

/// Waits until something is so, on a thread of its own: all tests share two, and whoever looks only when it is its turn
/// there may look too late.
func eventually(_ isSo: @escaping @Sendable () -> Bool) async {
    do {
        try await NamedThread.value("eventually") {
            while !isSo() { usleep(500) }
        }
    } catch {
        Issue.record(error)
    }
}

/// The most that a number was until something is so.
func most(_ number: @escaping @Sendable () -> Int, until isSo: @escaping @Sendable () -> Bool) async -> Int {
    let most = Guarded(0)
    await eventually {
        let found = number()
        most.withLock { $0 = max($0, found) }
        return isSo()
    }
    return most.withLock { $0 }
}
