import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Logging

/// One run of a campaign.
///
/// The initializer compiles the template, reads the credentials and the header row of the CSV file, and creates the run
/// directory. It throws if the campaign itself is wrong, before anything is sent. ``send()`` then sends the campaign, and
/// returns when every row that was taken has its line in `results.csv`, or when the run was stopped; rows without a line are
/// then left to a resumed run. A ledger in the run directory records the progress, so that a run that was interrupted or
/// killed can be resumed at any time.
///
/// Threads: a run has one reader, its lanes, one writer, and one that records its timeline and its metrics. ``progress``, ``pause()``, ``stop()`` and
/// ``replaceCredentials(_:)`` may be called from any thread at any time.
public final class CampaignRun: Sendable {
    /// The path of the run directory.
    public let directory: String

    package let session: RunSession
    private let life = Life()

    /// Creates a run, or resumes one.
    ///
    /// - Parameters:
    ///   - campaign: The settings.
    ///   - input: The source of the rows.
    ///   - resuming: Whether to continue the run in ``Campaign/runDirectory``.
    ///   - logger: Receives messages about connections, retries and failures. Tokens are shortened in them, and secrets
    ///     never appear.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input`, `results`, or `busy` if another
    ///   process is working on the run.
    ///
    /// With the trait `Metrics`, the factory of the current task receives the metrics of the run, or else that of the process.
    public convenience init(
        _ campaign: Campaign, input: CampaignInput, resuming: Resuming = .never,
        logger: Logger = .current
    ) throws(CampaignError) {
        try self.init(
            campaign, input: try RunInput(input, logger: logger), resuming: try resuming.resumes(campaign), files: nil,
            logger: logger)
    }

    /// - Parameters: As those of ``RunRequest``.
    package convenience init(
        _ campaign: Campaign, input: RunInput, spooling: InputKeeping = InputKeeping(),
        production: RowProduction? = nil, resuming: Bool = false,
        files: (any RunFiles)? = nil, logger: Logger, metrics: MetricsReceiver = .current,
        surroundings: Surroundings = .system
    ) throws(CampaignError) {
        try self.init(
            RunRequest(
                campaign: campaign, input: input, keeping: spooling, production: production, isResuming: resuming,
                files: files, logger: logger, metrics: metrics, surroundings: surroundings))
    }

    private init(_ request: RunRequest) throws(CampaignError) {
        session = try RunSession(RunPlan(request), request)
        directory = session.place.directory
    }

    /// The warnings about the campaign that do not depend on its rows. The initializer throws errors.
    public var warnings: [CampaignFinding] {
        (session.facts.plan.findings + session.facts.providers.findings).filter { $0.severity == .warning }
    }

    /// Whether a resumed run had ended before, so that ``send()`` sends nothing and returns its summary.
    public var wasComplete: Bool { session.facts.wasComplete }

    /// Sends the campaign as a service does, and returns when it has ended. Call this or ``send()``, once.
    ///
    /// - Throws: ``failure``, if the run failed. A run that was stopped did not. Another call on this object throws what that of
    ///   ``send()`` throws.
    public func run() async throws {
        _ = try await send()
        if let failure { throw failure }
    }

    /// Sends the campaign, and returns its summary. Call it once: a run that ended early is resumed by another object
    /// (``Resuming``), because others may work on its files as soon as this one has ended. When the task is cancelled, the run ends as by
    /// ``stopAtOnce()``, and when its service group shuts down in order, as by ``stop()``.
    ///
    /// Failures during the run (such as a fatal answer, APNs out of reach or a full disk) end it in order, and are in the
    /// summary and in ``failure``. The summary is also written to the run directory, as `summary.json`.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code-swift.enum/alreadyRun`` if ``send()`` or ``run()`` was called on this object
    ///   before, whether that call has returned or not. Nothing is sent or written then.
    public func send() async throws(CampaignError) -> CampaignSummary {
        try life.begin("the run: send() or run() was called before on this object; resume the run with another one")
        return await session.send()
    }

    /// The current state of the run.
    public var progress: CampaignProgress { session.meter.progress }

    /// What is measured of the run at this moment. It takes some ten microseconds for each lane.
    public var measurements: RunMeasurements { session.meter.measurements }

    /// Why the run failed; nil while it runs, and if it was completed or interrupted.
    public var failure: CampaignError? { session.panel.failure }
}
