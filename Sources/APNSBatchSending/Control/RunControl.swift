import APNSBatchBasics
import APNSBatchModel
import Synchronization

/// Tells the threads of a run to stop or to pause, and when the canary ends. Lanes read atomics; the cause of a stop is
/// behind a lock.
package final class RunControl: Sendable {
    /// Why a run ends before its input does.
    package enum Stop: Sendable, Equatable {
        /// A stop was requested: lanes take no more rows, and wait for answers.
        case interrupted
        case failure(CampaignError)
    }

    private let isStopping = Atomic<Bool>(false)
    private let cause = Guarded<Stop?>(nil)
    private let listener = Guarded<Listener?>(nil)

    /// What is called when the run stops.
    private struct Listener {
        let runStops: @Sendable () -> Void
    }

    private let isUrgent = Atomic<Bool>(false)

    /// Whether a stopping run does not wait for answers any longer.
    package var urgent: Bool { isUrgent.load(ordering: .relaxed) }

    /// Stops without waiting for answers. Rows in flight stay without an outcome.
    package func stopAtOnce() {
        isUrgent.store(true, ordering: .releasing)
        stop(.interrupted)
    }

    private let isPausing = Atomic<Bool>(false)
    private let hasCanary: Atomic<Bool>

    private let lastSecond: Atomic<UInt64>

    /// - Parameters:
    ///   - canary: Whether the run begins with a canary.
    ///   - deadline: See ``deadline``.
    package init(canary: Bool = false, deadline: UInt64 = .max) {
        hasCanary = Atomic(canary)
        lastSecond = Atomic(deadline)
    }

    /// The time from which on nothing more is sent, in seconds since 1970-01-01 00:00 UTC; `UInt64.max` for none. It has passed for a
    /// run that is abandoned.
    package var deadline: UInt64 {
        get { isAbandoned ? 0 : lastSecond.load(ordering: .relaxed) }
        set { lastSecond.store(newValue, ordering: .relaxed) }
    }

    private let isGivenUp = Atomic<Bool>(false)

    /// Whether the rows that are left end without being sent.
    package var isAbandoned: Bool { isGivenUp.load(ordering: .relaxed) }

    /// Ends the rows that are left without sending them.
    package func abandon() { isGivenUp.store(true, ordering: .relaxed) }

    /// Whether nothing may be sent for now.
    package var paused: Bool { isPausing.load(ordering: .relaxed) }

    /// Returns false if the run was already paused, or already going on.
    package func pause(_ paused: Bool) -> Bool { isPausing.exchange(paused, ordering: .relaxed) != paused }

    /// Whether the canary runs, so that only the first lane may send.
    package var isCanary: Bool { hasCanary.load(ordering: .acquiring) }

    func endCanary() { hasCanary.store(false, ordering: .releasing) }

    /// Whether no further row may be taken.
    package var stopping: Bool { isStopping.load(ordering: .relaxed) }

    package var stopCause: Stop? { cause.withLock { $0 } }

    /// Stops the run. The first cause is kept, except that a failure replaces an interruption.
    package func stop(_ stop: Stop) {
        cause.withLock { cause in
            switch (cause, stop) {
            case (nil, _), (.interrupted, .failure): cause = stop
            default: break
            }
        }
        isStopping.store(true, ordering: .releasing)
        listener.withLock { $0 }?.runStops()
    }

    /// Sets the function that is called when the run stops. It is called at once if the run has stopped already.
    package func notify(_ body: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = Listener(runStops: body) }
        if stopping { body() }
    }

    /// Forgets the function to call. What it wakes has ended, and it may hold a reference to this object.
    package func notifyNobody() {
        listener.withLock { $0 = nil }
    }
}
