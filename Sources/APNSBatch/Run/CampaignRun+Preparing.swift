import APNSBatchBasics
import APNSBatchModel
import Logging

extension CampaignRun {
    /// Makes a run on a thread of its own. The initializers read the beginning of the input and write to the run directory, and
    /// wait for them; this function suspends meanwhile.
    ///
    /// ```swift
    /// let run = try await CampaignRun.prepare { [campaign] in try CampaignRun(campaign, rows: users) }
    /// ```
    ///
    /// - Throws: The error of the closure, and a ``CampaignError`` with the code ``CampaignError/Code-swift.enum/system`` if there can be
    ///   no further thread.
    public static func prepare(_ make: @escaping @Sendable () throws -> CampaignRun) async throws -> CampaignRun {
        let (logger, metrics) = (Logger.current, MetricsReceiver.current)
        let made: Result<CampaignRun, any Error>
        do throws(ThreadError) {
            made = try await NamedThread.value("prepare") {
                // The defaults of a run are those of the task, which this thread does not have.
                withLogger(logger) { _ in
                    metrics.whileCurrent { Result(catching: make) }
                }
            }
        } catch {
            throw CampaignError(.system, "\(error)", cause: error)
        }
        return try made.get()
    }
}
