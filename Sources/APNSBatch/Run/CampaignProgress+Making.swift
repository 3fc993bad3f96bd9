import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

extension CampaignProgress {
    /// The sum of what the lanes and the reader show.
    ///
    /// - Parameter before: the rows that ended in earlier sessions.
    init(
        _ gauges: [LaneGauges], _ reader: InputReader, started: Double?, before: OutcomeCounts = [:],
        withAccount: Bool = false
    ) {
        self.init()
        totals = RunTotals(before)
        for lane in gauges { lane.add(to: &self, withAccount: withAccount) }
        waiting = LaneActivity.waiting(gauges.map(\.activity))
        heldBackBy = Hold.ofMost(gauges.map(\.hold))
        rowsTotal = reader.rowsTotal
        bytesRead = reader.bytesRead
        bytesTotal = reader.bytesTotal
        elapsedSeconds = started.map { SystemClock.monotonicSeconds() - $0 } ?? 0
    }
}
