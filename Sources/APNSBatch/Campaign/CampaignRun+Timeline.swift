import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

extension CampaignRun {
    /// Calls `body`, which does the work of the session, and records the timeline meanwhile. A timeline that cannot be
    /// written causes a warning, and the run goes on.
    func recordTimeline(during body: () -> Void) {
        guard let sampler = makeSampler() else { return body() }
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
    private func makeSampler() -> TimelineSampler? {
        do throws(CampaignError) {
            guard let storage = try files.timeline() else { return nil }
            let name = "\(directory)/\(RunDirectory.timeline)"
            return TimelineSampler(self, try TimelineWriter(storage, of: past?.header ?? header, name: name))
        } catch {
            warnOfTimeline("\(error)")
            return nil
        }
    }

    /// Logs why the timeline is incomplete.
    func warnOfTimeline(_ cause: String) {
        plan.log.logger.warning("\(cause): the run goes on, but its timeline has gaps")
    }
}
