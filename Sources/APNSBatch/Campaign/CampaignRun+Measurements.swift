import APNSBatchModel
import APNSBatchSending

extension CampaignRun {
    /// What is measured of the run at this moment. It takes some ten microseconds for each lane.
    public var measurements: RunMeasurements {
        var measurements = RunMeasurements(progress)
        var account = LaneAccount()
        for lane in gauges {
            lane.account.withLock { account.add($0) }
            lane.answers.add(to: &measurements.answers)
            lane.refusals.add(to: &measurements.refusals)
            measurements.turns &+= lane.turns
        }
        measurements.progress.account = account
        let before = past?.reading.history.tally.outcomes[.accepted] ?? 0
        measurements.accepted = measurements.progress.accepted - before
        measurements.certificateEnds = providers.certificateEnds
        (measurements.cpuSeconds, measurements.rssBytes) = (ProcessUsage.cpuSeconds, ProcessUsage.rssBytes)
        return measurements
    }
}
