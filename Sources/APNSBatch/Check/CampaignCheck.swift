import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows
import APNSBatchSending
import APNSBatchTransport
import Glibc

/// Checks a whole campaign without sending: every row is prepared by the code that sends, and checked against every rule.
///
/// The initializer compiles the templates and reads the header row of the CSV file. ``run()`` reads the input to its end.
/// Memory does not grow with the input.
public final class CampaignCheck: Sendable {
    private let plan: CampaignPlan
    /// Nil if there is none, or if it was met before the check began.
    private let requirement: RowRequirement?
    private let providers: ProviderDirectory
    private let reader: InputReader
    private let chunks: BoundedQueue<InputChunk>
    private let control = RunControl()
    private let gauges: [LaneGauges]
    private let limit: Campaign.RateLimit
    private let file: FindingsFile?
    private let started = Guarded<Double?>(nil)
    private let tokens = SharedTokens()
    /// Judges the rows as a run does before its first push; nil if it does not. Used by the reader's thread, and after its end.
    private let judge: Guarded<InputJudge?>
    private let life = Life()

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - campaign: The campaign as it would be sent. Credentials may be missing. Its number of lanes is the number of
    ///     threads; nil for one per core.
    ///   - input: The source of the rows.
    ///   - findingsPath: The path of a file for all findings, which replaces an earlier one; nil for none.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input` or `results`.
    public init(
        _ campaign: Campaign, input: CampaignInput, findingsPath: String? = nil
    ) throws(CampaignError) {
        let threads = try RunTerms.lanes(of: campaign, spare: 0)
        let input = try RunInput(input)
        let expectations = try ExpectationJudge(campaign)
        let requirement = RowRequirement(campaign, of: input, expectations)
        reader = try InputReader(campaign, input: input, lanes: threads)
        if let requirement, input.isFile {
            guard reader.isRepeatable else { throw requirement.uncountable }
            var questions = InputSurvey.Questions()
            questions.requirement = requirement
            _ = try InputSurvey(of: reader, questions)
        }
        self.requirement = input.isFile ? nil : requirement
        chunks = BoundedQueue(capacity: reader.reader.bufferCount)
        plan = try CampaignPlan(campaign, input: reader.facts, logger: CampaignTrial.silent)
        let scope = InputJudge.Scope(campaign, plan, expectations)
        if let scope {
            judge = Guarded(InputJudge(plan, scope, expectations, cursor: reader.makeCursor()))
        } else {
            judge = Guarded(nil)
        }
        providers = try ProviderDirectory(campaign, plan: plan)
        gauges = (0..<threads).map { _ in LaneGauges() }
        limit = campaign.rateLimit
        file = try findingsPath.map { (path) throws(CampaignError) in try FindingsFile(path: path) }
    }

    /// Stops the check: no more rows are read, and ``run()`` returns what was found until then.
    public func stop() { control.stop(.interrupted) }

    /// The progress of the check. Rows that were checked count as `accepted` or `invalid`, and those that are not selected as `suppressed`.
    public var progress: CampaignProgress {
        CampaignProgress(gauges, reader, started: started.withLock { $0 })
    }

    /// Checks the input to its end. Call it once. When the task is cancelled, the check ends as by ``stop()``.
    ///
    /// - Throws: ``CampaignError`` with the code `input` if the input cannot be read, `results` if the findings cannot be
    ///   written, `system` if threads cannot be started, and `alreadyRun` if it was called before.
    public func run() async throws(CampaignError) -> CheckReport {
        try life.begin("the check: run() was called before on this object")
        return try await withTaskCancellationHandler {
            await report()
        } onCancel: {
            stop()
        }.get()
    }

    private func report() async -> Result<CheckReport, CampaignError> {
        do throws(ThreadError) {
            return try await NamedThread.value("check") { [self] in runToEnd() }
        } catch {
            return .failure(CampaignError(.system, "\(error)", cause: error))
        }
    }

    private func runToEnd() -> Result<CheckReport, CampaignError> {
        started.withLock { $0 = SystemClock.monotonicSeconds() }
        var report = CheckReport()
        report.campaign = plan.findings + providers.findings
        report.findingsPath = file?.path
        writeCampaignFindings(report.campaign)
        control.notify { [reader, chunks] in
            reader.cancel()
            chunks.close()
        }
        let findings = Guarded(report)
        do throws(ThreadError) {
            let reading = try NamedThread("reader") { [self] in
                let feed = ChunkFeed(reader, to: chunks) { [judge] group, _ in
                    judge.withLock { $0?.note(group) }
                    return nil
                }
                feed.run(control: control, wake: {})
            }
            NamedThread.together("check", count: gauges.count, failed: fail) { [self] in work($0, into: findings) }
            reader.cancel()
            chunks.close()
            reading.join()
        } catch {
            fail(error)
        }
        report = findings.withLock { $0 }
        control.notifyNobody()
        report.duplicateTokens = tokens.duplicates
        report.sort()
        if let finding = deadlineFinding(rows: report.rows - report.rowsWithErrors - report.rowsNotSelected) {
            report.campaign.append(finding)
            writeCampaignFindings([finding])
        }
        file?.finish()
        // The rows of an input that can be read only once are counted while they are checked.
        if control.stopCause == nil, let unmet = requirement?.unmet(rows: report.rows) { return .failure(unmet) }
        if let error = file?.error { return .failure(error) }
        switch control.stopCause {
        case .failure(let error): return .failure(error)
        case .interrupted: report.isComplete = false
        case nil: report.refusal = judge.withLock { $0?.error }
        }
        return .success(report)
    }

    /// Returns a finding if this many rows cannot be sent before the deadline by a campaign that begins now.
    private func deadlineFinding(rows: UInt64) -> CampaignFinding? {
        plan.deadline.flatMap { CampaignFinding(rows: rows, from: plan.start, until: $0, limit) }
    }

    private func writeCampaignFindings(_ findings: [CampaignFinding]) {
        var lines: [UInt8] = []
        for finding in findings { FindingsFile.append(finding, to: &lines) }
        if !lines.isEmpty { file?.write(lines) }
    }

    private func work(_ number: Int, into shared: Guarded<CheckReport>) {
        var worker = CheckWorker(
            plan, chunks: chunks, cursor: reader.makeCursor(), control: control, gauges: gauges[number], tokens: tokens,
            file: file)
        worker.run()
        shared.withLock { worker.finish(into: &$0) }
    }

    private func fail(_ error: ThreadError) {
        control.stop(.failure(CampaignError(.system, "\(error)", cause: error)))
    }
}
