import APNSBatchBasics
import APNSBatchModel
import APNSBatchTransport
import Synchronization

/// The current figures of a lane. The lane writes them while it runs, and reports of progress read them.
package final class LaneGauges: Sendable {
    /// The number of rows, by outcome.
    private let outcomes = InlineArray<7, Atomic<UInt64>> { _ in Atomic(0) }
    private let connections = Atomic<Int>(0)
    private let streams = Atomic<Int>(0)
    private let inFlight = Atomic<Int>(0)
    private let opened = Atomic<Int>(0)
    private let retrying = Atomic<Int>(0)
    private let shown = Guarded(LaneActivity.idle)
    private let requests = Atomic<UInt64>(0)

    private let longestAnswer = Atomic<UInt32>(0)

    /// What the lane counts off the path of a row. A reader must not keep a copy of it, because the lane's next change would
    /// then have to copy it.
    package let account = Guarded(LaneAccount())

    package init() {}

    package struct Reading: Sendable {
        package var outcomes: OutcomeCounts = [:]
        package var connections = 0
        package var streams = 0
        package var inFlight = 0
        /// The number of connections that came up so far.
        package var opened = 0
        /// The number of rows that wait to be sent again.
        package var retrying = 0
        /// The number of requests handed to connections so far, except those that were certainly not sent.
        package var requests: UInt64 = 0
        /// The longest time of any answer, in microseconds.
        package var longestAnswer: UInt32 = 0
    }

    /// Records the time of an answer that was sampled, in microseconds.
    @inline(never)
    func note(answerTime: UInt32) { account.withLock { $0.answerTimes.note(answerTime) } }

    /// Sets what the lane does. Called only when that changes.
    func show(_ activity: LaneActivity) { shown.withLock { $0 = activity } }

    package var activity: LaneActivity { shown.withLock { $0 } }

    package func publish(
        _ outcomes: OutcomeCounts, connections: Int, streams: Int, inFlight: Int, opened: Int, retrying: Int = 0,
        requests: UInt64 = 0, longestAnswer: UInt32 = 0
    ) {
        for index in outcomes.counts.indices {
            self.outcomes[index].store(outcomes.counts[index], ordering: .relaxed)
        }
        self.connections.store(connections, ordering: .relaxed)
        self.streams.store(streams, ordering: .relaxed)
        self.inFlight.store(inFlight, ordering: .relaxed)
        self.opened.store(opened, ordering: .relaxed)
        self.retrying.store(retrying, ordering: .relaxed)
        self.requests.store(requests, ordering: .relaxed)
        self.longestAnswer.store(longestAnswer, ordering: .relaxed)
    }

    package var reading: Reading {
        var outcomes: OutcomeCounts = [:]
        for outcome in Outcome.allCases {
            outcomes[outcome] = self.outcomes[Int(outcome.rawValue)].load(ordering: .relaxed)
        }
        return Reading(
            outcomes: outcomes, connections: connections.load(ordering: .relaxed),
            streams: streams.load(ordering: .relaxed),
            inFlight: inFlight.load(ordering: .relaxed), opened: opened.load(ordering: .relaxed),
            retrying: retrying.load(ordering: .relaxed), requests: requests.load(ordering: .relaxed),
            longestAnswer: longestAnswer.load(ordering: .relaxed))
    }
}
