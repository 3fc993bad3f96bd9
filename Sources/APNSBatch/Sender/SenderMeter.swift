import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending
import Synchronization

/// Records the metrics of a sender: each second while its figures change or something is pending, and when it ends. Lanes start
/// this when they have worked; while the sender is idle, nothing wakes.
final class SenderMeter: Sendable {
    fileprivate struct Sources {
        var lanes: [LaneGauges] = []
        var mailboxes: [Mailbox] = []
    }

    private let recorder: MetricsRecorder
    private let sources = Guarded(Sources())
    /// Whether the last figures were recorded; the lock is held while figures are.
    private let hasEnded = Guarded(false)
    private let isTicking = Atomic<Bool>(false)
    /// The number of changes of the lanes' figures when they were last recorded.
    private let recordedChanges = Atomic<UInt64>(0)

    /// Returns nil if the metrics are discarded.
    init?(_ receiver: MetricsReceiver, name: String) {
        let none = Figures(run: RunMeasurements(CampaignProgress()), errors: Mailbox.errorCounts([]))
        guard let recorder = MetricsRecorder(receiver, name: name, start: none) else { return nil }
        self.recorder = recorder
    }

    /// What lanes call when their figures change. It does not keep the meter.
    var onChange: @Sendable () -> Void { { [weak self] in self?.noteChange() } }

    func add(_ engine: SendEngine) {
        sources.withLock { sources in
            sources.lanes += engine.gauges
            sources.mailboxes.append(engine.mailbox)
        }
    }

    /// Whether figures are recorded each second, because the sender works.
    var isAtWork: Bool { isTicking.load(ordering: .sequentiallyConsistent) }

    /// Called by lanes, every few milliseconds while they work.
    private func noteChange() {
        if !isAtWork { begin() }
    }

    private func begin() {
        guard !isTicking.exchange(true, ordering: .sequentiallyConsistent) else { return }
        Task { [weak self] in
            repeat {
                try? await Task.sleep(nanoseconds: 1_000_000_000)
            } while self?.tick() == true
        }
    }

    /// Records the figures. Returns whether to do so again after another second.
    private func tick() -> Bool {
        let (changes, pending) = sources.withLock { ($0.changes, $0.pending) }
        guard record(isFinal: false) else { return false }
        if recordedChanges.exchange(changes, ordering: .relaxed) != changes || pending > 0 { return true }
        isTicking.store(false, ordering: .sequentiallyConsistent)
        // A lane that changed its figures meanwhile may have seen that a task ticks.
        guard sources.withLock({ $0.changes }) != changes else { return false }
        return !isTicking.exchange(true, ordering: .sequentiallyConsistent)
    }

    /// Records the last figures, without connections, after the lanes have ended.
    func end() { _ = record(isFinal: true) }

    /// Returns whether the figures were recorded: not after the last ones.
    private func record(isFinal: Bool) -> Bool {
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return false }
            hasEnded = isFinal
            recorder.record(figures(isFinal: isFinal))
            return true
        }
    }

    private func figures(isFinal: Bool) -> Figures {
        let sources = sources.withLock { $0 }
        var progress = CampaignProgress()
        for lane in sources.lanes { lane.add(to: &progress, withAccount: false) }
        var run = RunMeasurements(progress)
        run.add(sources.lanes)
        run.accepted = progress.accepted
        return Figures(
            run: run, isFinal: isFinal, pending: sources.pending,
            errors: Mailbox.errorCounts(sources.mailboxes))
    }
}

extension SenderMeter.Sources {
    fileprivate var changes: UInt64 { lanes.reduce(0) { $0 &+ $1.changes } }
    fileprivate var pending: Int { mailboxes.reduce(0) { $0 + $1.pending } }
}
