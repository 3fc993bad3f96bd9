import APNSBatchModel
import APNSBatchSending
import Logging

extension CampaignRun {
    /// Creates a run, or resumes one, and sets where its input is kept.
    ///
    /// - Parameters:
    ///   - campaign: The settings.
    ///   - input: The source of the rows. It is not read if the run is resumed and its input was kept.
    ///   - spool: Whether the input is read to its end before the first push, and kept in the run directory; nil to do so with inputs that can
    ///     be read only once. With ``Spool/none``, such an input is sent while it is read, and the run cannot be resumed.
    ///   - resuming: Whether to continue the run in ``Campaign/runDirectory``.
    ///   - logger: Receives messages about connections, retries and failures. Tokens are shortened in them, and secrets never
    ///     appear. It also receives what a program of ``CampaignInput/program(_:environment:patience:)`` writes to standard error.
    ///   - onSpooling: Is called once, on the calling thread, before an input is read to its end, which may take long.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input`, `results`, or `busy` if another
    ///   process is working on the run.
    public convenience init(
        _ campaign: Campaign, input: CampaignInput, spool: Spool?, resuming: Resuming = .never,
        logger: Logger = .current, onSpooling: @escaping (InputSpooling) -> Void = { _ in }
    ) throws(CampaignError) {
        try self.init(
            campaign, input: try RunInput(input, logger: logger), spooling: InputKeeping(spool, tell: onSpooling),
            resuming: try resuming.resumes(campaign), logger: logger)
    }
}
