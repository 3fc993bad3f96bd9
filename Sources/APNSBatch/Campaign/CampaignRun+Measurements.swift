import APNSBatchModel
import APNSBatchSending

extension CampaignRun {
    /// What is measured of the run at this moment. It takes some ten microseconds for each lane.
    public var measurements: RunMeasurements {
        var measurements = measurements(at: progress)
        measurements.certificateEnds = providers.certificateEnds
        (measurements.cpuSeconds, measurements.rssBytes) = (ProcessUsage.cpuSeconds, ProcessUsage.rssBytes)
        return measurements
    }

    /// What is recorded of this session.
    ///
    /// - Parameter isFinal: Whether the lanes have ended, so that there are no connections.
    func figures(isFinal: Bool) -> Figures {
        let run = measurements(at: look(withAccount: false))
        return Figures(run: run, isFinal: isFinal, pending: Int(clamping: run.progress.rowsLeft ?? 0))
    }

    /// Adds to a snapshot what the lanes have counted.
    private func measurements(at progress: CampaignProgress) -> RunMeasurements {
        var measurements = RunMeasurements(progress)
        measurements.add(gauges)
        measurements.accepted = progress.accepted - outcomesBefore[.accepted]
        return measurements
    }
}
