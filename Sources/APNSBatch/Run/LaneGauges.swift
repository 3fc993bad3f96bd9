import APNSBatchBasics
import LaneTransport
import Synchronization

/// What a lane shows while it runs: written by the lane once a turn, read by whoever reports progress.
final class LaneGauges: Sendable {
    private let accepted = Atomic<UInt64>(0)
    private let rejected = Atomic<UInt64>(0)
    private let unavailable = Atomic<UInt64>(0)
    private let invalid = Atomic<UInt64>(0)
    private let other = Atomic<UInt64>(0)
    private let connections = Atomic<Int>(0)
    private let streams = Atomic<Int>(0)
    private let inFlight = Atomic<Int>(0)
    private let opened = Atomic<Int>(0)
    private let retrying = Atomic<Int>(0)
    private let shown = Guarded(LaneActivity.idle)
    private let requests = Atomic<UInt64>(0)

    private let longestAnswer = Atomic<UInt32>(0)

    /// What the lane counts off the way of a row. Whoever reads it must not keep it: the lane would have to copy it.
    let account = Guarded(LaneAccount())

    struct Reading: Sendable {
        var accepted: UInt64 = 0
        var rejected: UInt64 = 0
        var unavailable: UInt64 = 0
        var invalid: UInt64 = 0
        var other: UInt64 = 0
        var connections = 0
        var streams = 0
        var inFlight = 0
        /// Connections that came up so far.
        var opened = 0
        /// Rows that wait to be sent again.
        var retrying = 0
        /// Requests handed to connections so far.
        var requests: UInt64 = 0
        /// Microseconds, of all answers.
        var longestAnswer: UInt32 = 0
    }

    /// Takes one of the answers that are noted.
    @inline(never)
    func note(answerTime: UInt32) { account.withLock { $0.answerTimes.note(answerTime) } }

    /// What the lane does; called only when that changes.
    func show(_ activity: LaneActivity) { shown.withLock { $0 = activity } }

    var activity: LaneActivity { shown.withLock { $0 } }

    func publish(
        _ tally: Tally, connections: Int, streams: Int, inFlight: Int, opened: Int, retrying: Int = 0,
        requests: UInt64 = 0, longestAnswer: UInt32 = 0
    ) {
        accepted.store(tally.accepted, ordering: .relaxed)
        rejected.store(tally.rejected, ordering: .relaxed)
        unavailable.store(tally.unavailable, ordering: .relaxed)
        invalid.store(tally.invalid, ordering: .relaxed)
        other.store(tally.unknown + tally.expired + tally.suppressed, ordering: .relaxed)
        self.connections.store(connections, ordering: .relaxed)
        self.streams.store(streams, ordering: .relaxed)
        self.inFlight.store(inFlight, ordering: .relaxed)
        self.opened.store(opened, ordering: .relaxed)
        self.retrying.store(retrying, ordering: .relaxed)
        self.requests.store(requests, ordering: .relaxed)
        self.longestAnswer.store(longestAnswer, ordering: .relaxed)
    }

    var reading: Reading {
        Reading(
            accepted: accepted.load(ordering: .relaxed), rejected: rejected.load(ordering: .relaxed),
            unavailable: unavailable.load(ordering: .relaxed), invalid: invalid.load(ordering: .relaxed),
            other: other.load(ordering: .relaxed),
            connections: connections.load(ordering: .relaxed), streams: streams.load(ordering: .relaxed),
            inFlight: inFlight.load(ordering: .relaxed), opened: opened.load(ordering: .relaxed),
            retrying: retrying.load(ordering: .relaxed), requests: requests.load(ordering: .relaxed),
            longestAnswer: longestAnswer.load(ordering: .relaxed))
    }
}

extension CampaignProgress {
    /// The sum of what the threads show.
    init(_ gauges: [LaneGauges], _ reader: InputReader, started: Double?, before: Tally = Tally()) {
        self.init()
        accepted = before.accepted
        rejected = before.rejected
        unavailable = before.unavailable
        invalid = before.invalid
        other = before.unknown + before.expired + before.suppressed
        for gauge in gauges {
            let reading = gauge.reading
            accepted += reading.accepted
            rejected += reading.rejected
            unavailable += reading.unavailable
            invalid += reading.invalid
            other += reading.other
            connections += reading.connections
            streams += reading.streams
            // The two are of different moments.
            inFlight += min(reading.inFlight, reading.streams)
            retrying += reading.retrying
        }
        waiting = LaneActivity.waiting(gauges.map(\.activity))
        rowsTotal = reader.rowsTotal
        bytesRead = reader.bytesRead
        bytesTotal = reader.bytesTotal
        elapsedSeconds = started.map { SystemClock.monotonicSeconds() - $0 } ?? 0
    }
}
