import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending

/// Records the timeline of a session on a thread of its own, and its metrics: a point when it begins, one at each whole second
/// after that, and one when it ends. While the process does not run there are no points, and none are made up for that time.
final class TimelineSampler: Sendable {
    private let meter: RunMeter
    /// The number of the session.
    private let session: UInt32
    /// Nil if there is no timeline.
    private let writer: TimelineWriter?
    /// Nil if metrics are discarded.
    private let metrics: MetricsRecorder?
    /// Receives messages for the operator.
    private let warn: @Sendable (String) -> Void
    private let isEnding = Guarded(false)

    /// In nanoseconds.
    private static let second: UInt64 = 1_000_000_000

    init(
        _ meter: RunMeter, session: UInt32, _ writer: TimelineWriter?, _ metrics: MetricsRecorder?,
        warn: @escaping @Sendable (String) -> Void
    ) {
        (self.meter, self.session, self.writer) = (meter, session, writer)
        (self.metrics, self.warn) = (metrics, warn)
    }

    /// Whether anybody receives points.
    var hasReceivers: Bool { writer != nil || metrics != nil }

    /// Records points until `end` is called.
    func sample() {
        var last = Sample()
        let start = SystemClock.monotonic()
        record(.begin, &last)
        while !isOver(at: Self.nextSecond(after: SystemClock.monotonic(), since: start)) { record(.second, &last) }
        record(.end, &last)
    }

    /// Ends `sample`, which records the figures of this moment first.
    func end() { isEnding.change { $0 = true } }

    /// Waits until a time on the monotonic clock, or until the session ends; returns whether it does.
    private func isOver(at time: UInt64) -> Bool { isEnding.wait(until: time) { $0 ? true : nil } ?? false }

    /// Returns the next time that is whole seconds after the start. All are times on the monotonic clock in nanoseconds.
    static func nextSecond(after now: UInt64, since start: UInt64) -> UInt64 {
        start + ((now - start) / second + 1) * second
    }

    /// What was recorded last.
    private struct Sample {
        var answers = AnswerTimeCounts()
        /// Whether it was logged that the timeline cannot be written.
        var hasWarned = false
    }

    private func record(_ kind: TimelinePoint.Kind, _ last: inout Sample) {
        if let metrics { metrics.record(meter.figures(isFinal: kind == .end)) }
        guard let writer else { return }
        var point = TimelinePoint(kind, meter.progress)
        point.session = session
        point.retries = meter.gauges.reduce(0) { $0 + $1.retries }
        let answers = meter.gauges.reduce(into: AnswerTimeCounts()) { $1.answers.add(to: &$0) }
        (point.answers, point.answerTimes) = (answers.total, .init(answers.since(last.answers)))
        last.answers = answers
        do throws(StorageError) {
            try writer.append(point)
        } catch {
            if !last.hasWarned { warn("\(error)") }
            last.hasWarned = true
        }
    }
}

extension TimelinePoint {
    /// Creates a point of this moment, from a snapshot of the run and the usage of the process.
    init(_ kind: Kind, _ progress: CampaignProgress) {
        self.init(kind)
        unixMilliseconds = SystemClock.milliseconds()
        elapsedMilliseconds = UInt64(max(0, progress.elapsedSeconds) * 1000)
        (isPaused, isCanary, isWaiting) = (progress.isPaused, progress.isCanary, progress.waiting != nil)
        (heldBackBy, rateLimit) = (progress.heldBackBy, progress.rateLimit)
        (totals, rowsTotal, requests) = (progress.totals, progress.rowsTotal, progress.requests)
        bytesRead = progress.bytesRead
        cpuMicroseconds = UInt64(max(0, ProcessUsage.cpuSeconds) * 1e6)
        rssBytes = ProcessUsage.rssBytes
        connectionsOpened = UInt32(clamping: progress.connectionsOpened)
        connections = UInt32(clamping: progress.connections)
        streams = UInt32(clamping: progress.streams)
        inFlight = UInt32(clamping: progress.inFlight)
        retrying = UInt32(clamping: progress.retrying)
    }
}

extension TimelinePoint.AnswerMicroseconds {
    /// Returns nil if there are no answers.
    init?(_ answers: AnswerTimeCounts) {
        guard let p50 = answers.quantile(0.5), let p90 = answers.quantile(0.9), let p99 = answers.quantile(0.99) else {
            return nil
        }
        self.init(p50: p50, p90: p90, p99: p99, max: answers.longest)
    }
}
