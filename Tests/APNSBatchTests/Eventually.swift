import APNSBatchBasics
import APNSBatchTransport
import Glibc
import Testing

/// Waits until a condition is true, and then acts, both on its own thread. All tests share a few threads, and a test that checks
/// or acts only when it gets its turn may be seconds late: what must happen before a run ends belongs into `act`.
///
/// After five minutes it records an issue and acts all the same, so that a test whose run has ended otherwise fails and ends.
func eventually(
    _ isSo: @escaping @Sendable () -> Bool, sourceLocation: SourceLocation = #_sourceLocation,
    then act: @escaping @Sendable () -> Void = {}
) async {
    do {
        let became = try await NamedThread.value("eventually") {
            let patience = ContinuousClock.now + .seconds(300)
            var became = isSo()
            while !became && ContinuousClock.now < patience {
                usleep(500)
                became = isSo()
            }
            act()
            return became
        }
        if !became { Issue.record("it did not become so within five minutes", sourceLocation: sourceLocation) }
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
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
