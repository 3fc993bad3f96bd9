import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending

/// A run whose input is open, and whose settings are compiled for its columns. The input stays open: whoever looks at its rows, and the
/// lanes, use this opening.
struct RunDraft {
    private let terms: RunTerms
    private let source: RunSource
    private let reader: InputReader
    private let plan: CampaignPlan
    private let header: LedgerHeader
    /// What is required of the number of rows; nil for nothing, and for a run that is resumed.
    private let requirement: RowRequirement?

    /// Opens the input, and tries all that does not depend on single rows.
    init(_ terms: RunTerms, _ source: RunSource, _ request: RunRequest) throws(CampaignError) {
        let (campaign, past) = (terms.campaign, terms.past)
        (self.terms, self.source) = (terms, source)
        requirement = past == nil ? RowRequirement(campaign, of: source.input, terms.judge) : nil
        reader = try Self.reader(terms, source, requirement, request.surroundings)
        plan = try CampaignPlan(
            campaign, input: reader.facts, logger: request.logger, start: past?.header.start,
            surroundings: request.surroundings)
        if past?.isReopening == true { try plan.refuseLateRetry() }
        header = LedgerHeader(
            identity: plan.identity, start: plan.start, digest: try CampaignDigest.of(campaign),
            inputBytes: reader.isRepeatable ? reader.bytesTotal : nil, packing: reader.reader.packing,
            isSpooled: source.input.spooled != nil, isCopied: source.input.isCopy,
            columnsSum: reader.columnsSum, inputName: reader.name, resultColumns: campaign.resultColumns,
            note: campaign.note)
        try past?.check(header, input: reader.reader)
        try plan.refuseBrokenTemplates()
        if past == nil { try plan.refuseReturnedRows(campaign) }
    }

    /// Opens the input, if it is not too old, and reads the names of its columns.
    private static func reader(
        _ terms: RunTerms, _ source: RunSource, _ requirement: RowRequirement?, _ surroundings: Surroundings
    ) throws(CampaignError) -> InputReader {
        let campaign = terms.campaign
        // The age of an input that was copied was looked at before.
        let isNew = terms.past == nil && source.kept == nil
        let age = isNew ? try AgeRequirement(campaign, of: source.input) : nil
        if let requirement, !source.input.isFile { throw requirement.uncountable }
        let opened = try OpenedInput(
            campaign, input: source.input, lanes: terms.lanes, group: ChunkFeed.group, limits: surroundings.rowLimits,
            extent: terms.past?.extent)
        try age?.check(opened.modified, now: surroundings.seconds())
        let reader = try InputReader(campaign, opened)
        if let requirement, !reader.isRepeatable { throw requirement.uncountable }
        for range in terms.past?.reading.history.ranges ?? [] { reader.note(range.facts) }
        return reader
    }

    /// What was found out about the rows.
    struct Surveyed {
        /// Which rows were judged; nil for none.
        var judged: InputJudge.Scope?
        /// Nil if the room is not known, or does not matter.
        var room: DiskRoom?
    }

    /// Reads the rows of a new run as far as its settings ask for it. An input that can be read only once is judged while it is sent.
    ///
    /// - Throws: `configuration` or `input` if nothing of the input is to be sent.
    func survey() throws(CampaignError) -> Surveyed {
        guard terms.past == nil, reader.isRepeatable else { return Surveyed() }
        let room = RoomQuestion(terms, source, plan.surroundings)
        let scope = InputJudge.Scope(terms.campaign, plan, terms.judge)
        var questions = InputSurvey.Questions()
        questions.requirement = requirement
        questions.judge = scope.map { InputJudge(plan, $0, terms.judge, cursor: reader.makeCursor()) }
        questions.needsEnd = !source.input.isCopy
        if let room { questions.counts = { room.room(for: $0).isTight } }
        let survey = try InputSurvey(of: reader, questions)
        // To read all rows may have taken long.
        try plan.refusePassed(now: plan.surroundings.seconds())
        return Surveyed(judged: scope, room: survey.size.flatMap { room?.room(for: $0) })
    }

    func facts(_ surveyed: Surveyed) throws(CampaignError) -> RunFacts {
        let campaign = terms.campaign
        let isJudgedByExpectations = reader.isRepeatable && terms.judge.aloneLimitsInvalidRows(of: campaign)
        return RunFacts(
            name: campaign.name, plan: plan, reader: reader, input: source.input, past: terms.past, header: header,
            providers: try ProviderDirectory(campaign, plan: plan), lanes: terms.lanes, history: terms.history,
            judge: terms.judge, judged: surveyed.judged,
            watchesRows: surveyed.judged != .all && !isJudgedByExpectations,
            template: campaign.template, reportBy: campaign.reportBy, syncInterval: campaign.syncInterval)
    }
}

/// Asks for the room on the disk of a run that begins in a directory.
private struct RoomQuestion {
    private let campaign: Campaign
    private let directory: String
    private let chunks: Int
    private let free: UInt64

    /// Returns nil if the run has no directory, or the free room is not known.
    init?(_ terms: RunTerms, _ source: RunSource, _ surroundings: Surroundings) {
        guard terms.takesDirectory else { return nil }
        campaign = terms.campaign
        directory = source.kept?.place.directory ?? campaign.runDirectory ?? RunDirectory.folder
        chunks = InputReader.buffers(lanes: terms.lanes, group: ChunkFeed.group)
        guard let free = surroundings.freeBytes(directory.isEmpty ? "." : directory) else { return nil }
        self.free = free
    }

    func room(for size: InputSize) -> DiskRoom {
        DiskRoom(campaign, in: directory, size, chunks: chunks, free: free)
    }
}
