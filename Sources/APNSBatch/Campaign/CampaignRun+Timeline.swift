import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

extension CampaignRun {
    /// Calls `body`, which does the work of the session, and records the timeline and the metrics meanwhile. A timeline that
    /// cannot be written causes a warning, and the run continues.
    func recordTimeline(during body: () -> Void) {
        let writer = makeTimeline()
        guard writer != nil || metrics != nil else { return body() }
        let sampler = TimelineSampler(self, writer)
        do throws(ThreadError) {
            let sampling = try NamedThread("timeline") { sampler.sample() }
            body()
            sampler.end()
            sampling.join()
        } catch {
            warnOfTimeline("\(error)")
            body()
        }
    }

    /// Returns nil if the run has no timeline, or none that can be written.
    private func makeTimeline() -> TimelineWriter? {
        do throws(CampaignError) {
            guard let storage = try files.timeline(of: ledger) else { return nil }
            let name = "\(directory)/\(RunDirectory.timeline)"
            return try TimelineWriter(storage, of: past?.header ?? header, name: name)
        } catch {
            warnOfTimeline("\(error)")
            return nil
        }
    }

    /// Logs why the timeline is incomplete.
    func warnOfTimeline(_ cause: String) {
        plan.log.logger.warning("\(cause): the run continues, but its timeline has gaps")
    }
}
