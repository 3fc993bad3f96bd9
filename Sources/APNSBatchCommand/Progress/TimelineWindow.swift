import APNSBatch

/// The latest points of a timeline, and the rates that follow from them.
struct TimelineWindow {
    private var points: [TimelinePoint] = []

    /// The number of points that are kept: ten minutes.
    static let capacity = 600

    var latest: TimelinePoint? { points.last }

    mutating func add(_ more: [TimelinePoint]) {
        points = (points + more).suffix(Self.capacity)
    }

    /// Returns by how much a count grew per second over about the last `seconds` of the session; nil without two points.
    func perSecond(_ count: KeyPath<TimelinePoint, UInt64>, over seconds: UInt64) -> Double? {
        guard let latest else { return nil }
        let since = latest.elapsedMilliseconds - min(latest.elapsedMilliseconds, seconds * 1000)
        let earlier = points.dropLast().filter { $0.session == latest.session }
        // Points are some milliseconds late.
        guard let first = earlier.last(where: { $0.elapsedMilliseconds <= since + 100 }) ?? earlier.first else {
            return nil
        }
        return latest.perSecond(count, since: first)
    }

    /// The seconds until all rows have ended at the rate of the last minute; nil while that cannot be estimated.
    var secondsLeft: Double? {
        guard let latest, let total = latest.rowsTotal, total > latest.rows, !latest.isPaused, !latest.isWaiting,
            let rate = perSecond(\.rows, over: 60), rate >= 0.1
        else { return nil }
        return Double(total - latest.rows) / rate
    }

    /// Returns the rows that ended per second in each of the latest intervals, the last one at the end; nil for an interval
    /// without points.
    ///
    /// - Parameter seconds: The length of an interval.
    func rates(intervals: Int, seconds: Int64) -> [Double?] {
        guard let latest else { return [] }
        var sums = [(rows: Double, milliseconds: Double)](repeating: (0, 0), count: max(0, intervals))
        for (before, after) in zip(points, points.dropFirst()) where after.session == before.session {
            let age = Int((latest.unixMilliseconds - after.unixMilliseconds) / (seconds * 1000))
            guard sums.indices.contains(sums.count - 1 - age), after.rows >= before.rows else { continue }
            sums[sums.count - 1 - age].rows += Double(after.rows - before.rows)
            sums[sums.count - 1 - age].milliseconds += Double(after.elapsedMilliseconds - before.elapsedMilliseconds)
        }
        return sums.map { $0.milliseconds > 0 ? $0.rows / $0.milliseconds * 1000 : nil }
    }
}
