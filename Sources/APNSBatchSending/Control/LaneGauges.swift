import APNSBatchBasics
import APNSBatchModel
import Synchronization

/// The current figures of a lane. The lane writes them while it runs, and reports of progress read them.
package final class LaneGauges: Sendable {
    /// The number of rows, by outcome.
    private let outcomes = PerOutcome<Atomic<UInt64>> { _ in Atomic(0) }
    private let connections = Atomic<Int>(0)
    private let streams = Atomic<Int>(0)
    private let inFlight = Atomic<Int>(0)
    private let opened = Atomic<Int>(0)
    private let goaways = Atomic<Int>(0)
    private let retrying = Atomic<Int>(0)
    private let shown = Guarded(LaneActivity.idle)
    private let requests = Atomic<UInt64>(0)
    /// The code of what holds the lane back; 0 for nothing.
    private let held = Atomic<UInt8>(0)

    private let published = Atomic<UInt64>(0)
    private let changeCount = Atomic<UInt64>(0)
    private let onChange: (@Sendable () -> Void)?

    /// The times of the lane's answers.
    package let answers = AnswerTimeCounters()

    /// The lane's answers other than 200.
    package let refusals = RefusalCounters()

    /// The number of times that the lane has published its figures, which it does every few milliseconds.
    package var turns: UInt64 { published.load(ordering: .relaxed) }

    /// What the lane counts off the path of a row, without the times of answers. A reader must not keep a copy of it, because the lane's next change would
    /// then have to copy it.
    package let account = Guarded(LaneAccount())

    /// The number of requests that were followed by another one for the same row.
    package var retries: UInt64 { account.withLock { $0.retryCount } }

    /// The number of times that figures or activity have changed. It stands still while the lane only looks after its connections.
    package var changes: UInt64 { changeCount.load(ordering: .sequentiallyConsistent) }

    /// - Parameter onChange: Called by the lane after each change of ``changes``, every few milliseconds while it works. It must not
    ///   block.
    package init(onChange: (@Sendable () -> Void)? = nil) { self.onChange = onChange }

    /// Sets what the lane does. Called only when that changes.
    func show(_ activity: LaneActivity) {
        shown.withLock { $0 = activity }
        noteChange()
    }

    private func noteChange() {
        changeCount.store(changeCount.load(ordering: .relaxed) &+ 1, ordering: .sequentiallyConsistent)
        onChange?()
    }

    /// Sets what holds the lane back.
    func show(_ hold: CampaignProgress.Hold?) { held.store(hold?.rawValue ?? 0, ordering: .relaxed) }

    /// What holds the lane back; nil if nothing does.
    package var hold: CampaignProgress.Hold? { .init(rawValue: held.load(ordering: .relaxed)) }

    package var activity: LaneActivity { shown.withLock { $0 } }

    package func publish(
        _ outcomes: OutcomeCounts, connections: Int, streams: Int, inFlight: Int, opened: Int, goaways: Int = 0,
        retrying: Int = 0, requests: UInt64 = 0
    ) {
        var hasChanged = false
        for index in outcomes.counts.indices {
            hasChanged = Self.set(self.outcomes[index], outcomes.counts[index]) || hasChanged
        }
        hasChanged = Self.set(self.connections, connections) || hasChanged
        hasChanged = Self.set(self.streams, streams) || hasChanged
        hasChanged = Self.set(self.inFlight, inFlight) || hasChanged
        hasChanged = Self.set(self.opened, opened) || hasChanged
        hasChanged = Self.set(self.goaways, goaways) || hasChanged
        hasChanged = Self.set(self.retrying, retrying) || hasChanged
        hasChanged = Self.set(self.requests, requests) || hasChanged
        published.store(turns &+ 1, ordering: .relaxed)
        if hasChanged { noteChange() }
    }

    /// Sets a figure, which only the lane writes. Returns whether it was another one before.
    private static func set(_ figure: borrowing Atomic<UInt64>, _ value: UInt64) -> Bool {
        defer { figure.store(value, ordering: .relaxed) }
        return figure.load(ordering: .relaxed) != value
    }

    private static func set(_ figure: borrowing Atomic<Int>, _ value: Int) -> Bool {
        defer { figure.store(value, ordering: .relaxed) }
        return figure.load(ordering: .relaxed) != value
    }

    /// Adds what this lane shows to a snapshot of the run.
    ///
    /// - Parameter withAccount: whether to add the lane's account, which takes longer than the rest.
    package func add(to snapshot: inout CampaignProgress, withAccount: Bool) {
        for outcome in Outcome.allCases {
            snapshot[outcome] += outcomes[Int(outcome.rawValue)].load(ordering: .relaxed)
        }
        let streams = streams.load(ordering: .relaxed)
        snapshot.connections += connections.load(ordering: .relaxed)
        snapshot.streams += streams
        // The two were published at different moments.
        snapshot.inFlight += min(inFlight.load(ordering: .relaxed), streams)
        snapshot.retrying += retrying.load(ordering: .relaxed)
        snapshot.requests += requests.load(ordering: .relaxed)
        snapshot.connectionsOpened += opened.load(ordering: .relaxed)
        snapshot.goaways += goaways.load(ordering: .relaxed)
        guard withAccount else { return }
        var sum = snapshot.account ?? LaneAccount()
        account.withLock { sum.add($0) }
        answers.add(to: &sum.answerTimes)
        snapshot.account = sum
    }
}
