import APNSBatchBasics
import APNSBatchModel
import APNSBatchTransport
import Synchronization

/// How the threads of a run learn that it ends early. Lanes look at one atomic; the cause stands behind a lock.
package final class RunControl: Sendable {
    /// Why a run ends before its input does.
    package enum Stop: Sendable, Equatable {
        /// Somebody asked: take no more rows, wait for answers.
        case interrupted
        case failure(CampaignError)
    }

    private let isStopping = Atomic<Bool>(false)
    private let cause = Guarded<Stop?>(nil)
    private let onStop = Guarded<(@Sendable () -> Void)?>(nil)

    private let isUrgent = Atomic<Bool>(false)

    /// Whether answers are not to be waited for any longer.
    package var urgent: Bool { isUrgent.load(ordering: .relaxed) }

    /// Stops, and has answers waited for no longer: what is under way stays without an outcome.
    package func stopAtOnce() {
        isUrgent.store(true, ordering: .releasing)
        stop(.interrupted)
    }

    private let isPausing = Atomic<Bool>(false)
    private let hasCanary: Atomic<Bool>

    /// - Parameter canary: whether the first rows go alone.
    package init(canary: Bool = false) { hasCanary = Atomic(canary) }

    /// Whether nothing may be sent for now.
    package var paused: Bool { isPausing.load(ordering: .relaxed) }

    package func pause(_ paused: Bool) { isPausing.store(paused, ordering: .relaxed) }

    /// Whether the first rows are under way, alone.
    package var isCanary: Bool { hasCanary.load(ordering: .acquiring) }

    func endCanary() { hasCanary.store(false, ordering: .releasing) }

    /// Whether no further row may be taken.
    package var stopping: Bool { isStopping.load(ordering: .relaxed) }

    package var stopCause: Stop? { cause.withLock { $0 } }

    /// The first cause stays, except that a failure is worth more than an interruption.
    package func stop(_ stop: Stop) {
        cause.withLock { cause in
            switch (cause, stop) {
            case (nil, _), (.interrupted, .failure): cause = stop
            default: break
            }
        }
        isStopping.store(true, ordering: .releasing)
        onStop.withLock { $0 }?()
    }

    /// What to wake when the run stops; at once if it already has.
    package func notify(_ body: @escaping @Sendable () -> Void) {
        onStop.withLock { $0 = body }
        if stopping { body() }
    }

    /// Forgets what to wake: whom it woke has ended, and may hold this.
    package func notifyNobody() {
        onStop.withLock { $0 = nil }
    }
}
