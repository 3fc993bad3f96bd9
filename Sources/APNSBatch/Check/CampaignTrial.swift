import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Logging

/// Tries what a ``CampaignRun`` needs before its first push, part by part, with the code of the run itself. Nothing is sent and nothing is
/// left behind: what is missing is made under another name, and removed again. Each function throws the ``CampaignError`` that the run
/// would throw.
///
/// ```swift
/// let trial = CampaignTrial(campaign)
/// try trial.runDirectory()
/// let rows = try trial.rows(of: .file("rows.csv"))
/// if let rows { print(try trial.room(for: rows.count, of: .file("rows.csv"))?.needed ?? 0) }
/// ```
public struct CampaignTrial: Sendable {
    /// The number of rows of an input.
    public struct Rows: Sendable, Equatable {
        /// The number.
        public let count: UInt64
        /// Whether it was estimated, from the length of the first rows.
        public let isEstimate: Bool
    }

    /// The room on the disk of the run directory, in bytes.
    public struct Room: Sendable, Equatable {
        /// What this many rows need at least.
        public let needed: UInt64
        /// What this user may still write.
        public let free: UInt64
    }

    let campaign: Campaign
    private let surroundings: Surroundings

    /// Creates a trial of a campaign. Nothing is read.
    public init(_ campaign: Campaign) { self.init(campaign, .system) }

    init(_ campaign: Campaign, _ surroundings: Surroundings) {
        (self.campaign, self.surroundings) = (campaign, surroundings)
    }

    /// Tries whether the history can be written, and whether the expectations can be judged by it: ``Campaign/stateDirectory``, or the
    /// directory of ``Campaign/book``.
    ///
    /// - Throws: ``CampaignError``.
    public func history() throws(CampaignError) {
        try HistoryPlace(campaign)?.history.tryPreparing()
        _ = try ExpectationJudge(campaign)
    }

    /// Tries whether ``Campaign/runDirectory`` can be made for a new run, and files in it.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `results`, or `busy` if another process has the
    ///   directory.
    public func runDirectory() throws(CampaignError) { try RunDirectory.tryTaking(campaign.runDirectory) }

    /// Tries whether this process could resume the run in ``Campaign/runDirectory``: whether it may write to its ledger, no other
    /// process does, and no setting has changed that must not.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``, `busy` or ``CampaignError/Code/configuration``.
    public func resumption() throws(CampaignError) {
        try RunDirectory.tryResuming(campaign, campaign.runDirectory ?? "")
    }

    /// Tries whether ``Campaign/sharedRatePath`` can be used.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``.
    public func sharedRate() throws(CampaignError) { try RunRate.attempt(campaign) }

    /// Throws if the input is older than ``Campaign/inputAgeLimit``.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` or `input`.
    public func freshness(of input: CampaignInput) throws(CampaignError) {
        let input = try RunInput(input)
        guard let requirement = try AgeRequirement(campaign, of: input) else { return }
        let opened = try OpenedInput(campaign, input: input, lanes: 1)
        try requirement.check(opened.modified, now: surroundings.seconds())
    }

    /// Opens the input, and tries all that does not depend on single rows: its columns, the templates, the credentials, and the number of
    /// rows where that is required. A program is not started, and nothing is read of what can be read only once.
    ///
    /// - Returns: The number of rows; nil if it is not known before they are read.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` or `input`.
    public func rows(of input: CampaignInput) throws(CampaignError) -> Rows? {
        let input = try RunInput(input)
        guard input.isFile else { return nil }
        let requirement = RowRequirement(campaign, of: input, try ExpectationJudge(campaign))
        let (reader, plan) = try opened(input)
        if let requirement, !reader.isRepeatable { throw requirement.uncountable }
        try plan.refuseBrokenTemplates()
        var questions = InputSurvey.Questions()
        (questions.requirement, questions.needsEnd, questions.counts) = (requirement, true, { _ in false })
        let size = reader.isRepeatable ? try InputSurvey(of: reader, questions).size : nil
        _ = try ProviderDirectory(campaign, plan: plan)
        return size.map { Rows(count: $0.rows, isEstimate: !$0.isCounted) }
    }

    /// Whether the expectations of the campaign about invalid rows hold if this many rows are invalid, as they are judged at the end of a run.
    ///
    /// - Throws: ``CampaignError`` if the expectations cannot be judged.
    public func allows(invalid: UInt64, of rows: UInt64, suppressed: UInt64) throws(CampaignError) -> Bool {
        try ExpectationJudge(campaign).allows(invalid: invalid, of: rows, suppressed: suppressed)
    }

    private func opened(_ input: RunInput) throws(CampaignError) -> (InputReader, CampaignPlan) {
        let reader = try InputReader(campaign, input: input, lanes: try RunTerms.lanes(of: campaign))
        return (reader, try CampaignPlan(campaign, input: reader.facts, logger: Self.silent))
    }

    static let silent = Logger(label: "check") { _ in SwiftLogNoOpLogHandler() }

    /// Compares the room on the disk of ``Campaign/runDirectory`` with what this many rows need. A run does the same before its first push.
    ///
    /// - Parameters:
    ///   - rows: The number of rows.
    ///   - input: Their source, which has their length.
    /// - Returns: The room; nil if the free space is unknown.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results`` and both numbers if it does not suffice.
    public func room(for rows: UInt64, of input: CampaignInput) throws(CampaignError) -> Room? {
        let directory = campaign.runDirectory ?? RunDirectory.folder
        guard let free = surroundings.freeBytes(directory) else { return nil }
        let first = InputSize(campaign, of: try RunInput(input))
        let size = InputSize(rows: rows, isCounted: true, rowsOfChunk: first?.rowsOfChunk ?? Self.rowsOfUnknownChunk)
        let room = DiskRoom(campaign, in: directory, size, chunks: try RunTerms.chunks(of: campaign), free: free)
        try room.require()
        return Room(needed: room.needed, free: room.free)
    }

    /// Rows of 2 KiB: with shorter ones, more is reserved.
    private static let rowsOfUnknownChunk: UInt64 = 128

    /// The time that this many rows take at least by ``Campaign/rateLimit``, if every row takes one request; nil without a limit.
    public func time(for rows: UInt64) -> Duration? {
        campaign.rateLimit.secondsAtLeast(for: rows).map { .seconds($0) }
    }

    /// The finding about a campaign that begins now and cannot send this many rows before ``Campaign/notAfter``; nil if it can.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if the deadline is 0.
    public func lateness(of rows: UInt64) throws(CampaignError) -> CampaignFinding? {
        guard let given = campaign.notAfter else { return nil }
        let start = surroundings.seconds()
        let deadline = try CampaignDeadline(given, start: start)
        return CampaignFinding(rows: rows, from: start, until: deadline, campaign.rateLimit)
    }
}

extension CampaignFinding {
    /// A finding if this many rows cannot be sent before a deadline; nil if they can.
    ///
    /// - Parameter start: When the campaign begins, in seconds since 1970-01-01 00:00 UTC.
    init?(rows: UInt64, from start: UInt64, until deadline: CampaignDeadline, _ limit: Campaign.RateLimit) {
        let most = limit.rowsAtMost(in: Double(deadline.seconds - min(deadline.seconds, start)), of: rows)
        guard most < Double(rows) else { return nil }
        let time = CampaignSummary.Identity.time(deadline.seconds)
        self.init(
            .deadlineTooEarly,
            "not_after: a campaign that begins now can send at most \(UInt64(most).grouped) of \(rows.grouped) rows before "
                + "\(time), by \(limit); the others would expire")
    }
}
