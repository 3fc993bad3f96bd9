import APNSBatchModel
import APNSBatchSending

extension CampaignRun {
    /// What is measured of the run at this moment. It takes some ten microseconds for each lane.
    public var measurements: RunMeasurements {
        var measurements = RunMeasurements(progress)
        measurements.add(gauges)
        measurements.accepted = measurements.progress.accepted - outcomesBefore[.accepted]
        measurements.certificateEnds = providers.certificateEnds
        (measurements.cpuSeconds, measurements.rssBytes) = (ProcessUsage.cpuSeconds, ProcessUsage.rssBytes)
        return measurements
    }

    /// What is recorded of this session.
    ///
    /// - Parameter isFinal: Whether the lanes have ended, so that there are no connections.
    func figures(isFinal: Bool) -> Figures {
        var run = RunMeasurements(look(withAccount: false))
        run.add(gauges)
        run.accepted = run.progress.accepted - outcomesBefore[.accepted]
        return Figures(run: run, isFinal: isFinal, pending: Int(clamping: run.progress.rowsLeft ?? 0))
    }
}
