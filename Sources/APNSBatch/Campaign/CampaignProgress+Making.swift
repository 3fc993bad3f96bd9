import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

extension CampaignProgress {
    /// Creates the sum of the gauges of all lanes.
    package init(_ gauges: [LaneGauges], _ reader: InputReader, started: Double?, before: OutcomeCounts = [:]) {
        self.init()
        outcomes = before
        for gauge in gauges {
            let reading = gauge.reading
            outcomes += reading.outcomes
            connections += reading.connections
            streams += reading.streams
            // The two numbers are of slightly different moments.
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
