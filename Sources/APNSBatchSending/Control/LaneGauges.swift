import APNSBatchBasics
import APNSBatchModel
import APNSBatchTransport
import Synchronization

/// What a lane shows while it runs: written by the lane once a turn, read by whoever reports progress.
package final class LaneGauges: Sendable {
    /// Rows by outcome.
    private let outcomes = InlineArray<7, Atomic<UInt64>> { _ in Atomic(0) }
    private let connections = Atomic<Int>(0)
    private let streams = Atomic<Int>(0)
    private let inFlight = Atomic<Int>(0)
    private let opened = Atomic<Int>(0)
    private let retrying = Atomic<Int>(0)
    private let shown = Guarded(LaneActivity.idle)
    private let requests = Atomic<UInt64>(0)

    private let longestAnswer = Atomic<UInt32>(0)

    /// What the lane counts off the way of a row. Whoever reads it must not keep it: the lane would have to copy it.
    package let account = Guarded(LaneAccount())

    package init() {}

    package struct Reading: Sendable {
        package var outcomes: OutcomeCounts = [:]
        package var connections = 0
        package var streams = 0
        package var inFlight = 0
        /// Connections that came up so far.
        package var opened = 0
        /// Rows that wait to be sent again.
        package var retrying = 0
        /// Requests handed to connections so far.
        package var requests: UInt64 = 0
        /// Microseconds, of all answers.
        package var longestAnswer: UInt32 = 0
    }

    /// Takes one of the answers that are noted.
    @inline(never)
    func note(answerTime: UInt32) { account.withLock { $0.answerTimes.note(answerTime) } }

    /// What the lane does; called only when that changes.
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
