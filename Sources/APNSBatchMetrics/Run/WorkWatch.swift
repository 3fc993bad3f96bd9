import APNSBatchModel

/// Tells from measurements whether a run moves. A lane publishes its figures every few milliseconds even while it waits for
/// an answer, a connection or the rate, so that only a process that hangs looks still.
package struct WorkWatch: Sendable {
    /// How long nothing may change, in seconds. Opening the files of a large run, or a slow disk, takes some time.
    package static let patience = 30.0

    private var seen: [UInt64] = []
    private var movedAt: Double

    /// - Parameter now: Seconds on a clock that is never set; likewise below.
    package init(now: Double) { movedAt = now }

    package mutating func note(_ measurements: RunMeasurements, now: Double) {
        let progress = measurements.progress
        let figures = [
            measurements.turns, progress.rows, progress.requests, progress.bytesRead, measurements.answers.total,
        ]
        if figures != seen { movedAt = now }
        seen = figures
    }

    package func isMoving(now: Double) -> Bool { now < movedAt + Self.patience }
}
