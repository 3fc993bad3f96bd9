import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending

/// Shows how far a session is. Any thread may use it.
package final class RunMeter: Sendable {
    /// What the lanes show.
    package let gauges: [LaneGauges]
    private let facts: RunFacts
    private let panel: RunPanel
    private let started = Guarded<Double?>(nil)

    init(_ facts: RunFacts, _ panel: RunPanel) {
        (self.facts, self.panel) = (facts, panel)
        gauges = (0..<facts.lanes).map { _ in LaneGauges() }
    }

    /// Notes that the session begins.
    func start() { started.withLock { $0 = SystemClock.monotonicSeconds() } }

    /// What the lanes and the reader show.
    ///
    /// - Parameter withAccount: Whether to include the accounts of the lanes.
    func look(withAccount: Bool = false) -> CampaignProgress {
        CampaignProgress(
            gauges, facts.reader, started: started.withLock { $0 }, before: facts.outcomesBefore,
            withAccount: withAccount)
    }

    /// The same, and what operators have set.
    var progress: CampaignProgress {
        var progress = look()
        progress.isPaused = panel.control.paused
        if panel.control.paused { progress.waiting = .paused }
        progress.isCanary = panel.control.isCanary
        progress.rateLimit = panel.rate.inForce(now: SystemClock.monotonic())?.perSecond
        return progress
    }

    /// The figures of this session until now.
    ///
    /// - Parameter withLanes: Whether to include the accounts of the lanes.
    func figures(withLanes: Bool) -> SessionFigures { SessionFigures(look(withAccount: withLanes)) }

    /// What is measured at this moment.
    var measurements: RunMeasurements {
        var measurements = measurements(at: progress)
        measurements.certificateEnds = facts.providers.certificateEnds
        (measurements.cpuSeconds, measurements.rssBytes) = (ProcessUsage.cpuSeconds, ProcessUsage.rssBytes)
        return measurements
    }

    /// What is recorded of this session.
    ///
    /// - Parameter isFinal: Whether the lanes have ended, so that there are no connections.
    func figures(isFinal: Bool) -> Figures {
        let run = measurements(at: look())
        return Figures(run: run, isFinal: isFinal, pending: Int(clamping: run.progress.rowsLeft ?? 0))
    }

    /// Adds to a snapshot what the lanes have counted.
    private func measurements(at progress: CampaignProgress) -> RunMeasurements {
        var measurements = RunMeasurements(progress)
        measurements.add(gauges)
        measurements.accepted = progress.accepted - facts.outcomesBefore[.accepted]
        return measurements
    }
}
