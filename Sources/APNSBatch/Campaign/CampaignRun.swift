import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Glibc
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

    package let plan: CampaignPlan
    package let control: RunControl
    private let rate: RunRate
    package let reader: InputReader
    /// The queue from the reader to the lanes.
    package let chunks: BoundedQueue<InputChunk>
    package let gauges: [LaneGauges]
    package let addresses: AddressBook
    package let providers: ProviderDirectory
    private let started = Guarded<Double?>(nil)
    let files: any RunFiles
    /// What earlier sessions did; nil for a new run.
    package let past: RunPast?
    /// The ledger. Its lock is what allows this object to change files of the run: from the initializer, which reads them, to the end of
    /// ``send()``.
    let ledger: any AppendFile
    private let life = Life()
    let header: LedgerHeader
    let syncInterval: Duration
    let input: RunInput
    /// Makes the rows of a program; nil if the rows are read.
    private let production: RowProduction?
    private let template: Campaign.Template?
    private let judge: Guarded<ExpectationJudge>
    /// Which rows were judged before the run began; nil for none.
    let judged: InputJudge.Scope?
    /// Whether the run ends when too many of the latest rows are invalid.
    private let watchesRows: Bool
    private let changeLog: RunChanges
    /// Nil if metrics are discarded.
    let metrics: MetricsRecorder?
    let results = Guarded(OfferedResults())
    /// The name of the campaign.
    private let name: String
    private let span = Guarded<RunSpan?>(nil)
    /// The columns by which rows are counted at the end.
    private let reportBy: [String]
    /// Nil if no history is kept.
    private let historyPlace: HistoryPlace?

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

    /// - Parameters:
    ///   - spooling: How an input is kept that can be read only once.
    ///   - files: Used in place of the files in the run directory.
    ///   - surroundings: Used in place of the system.
    package init(
        _ campaign: Campaign, input: RunInput, spooling: InputKeeping = InputKeeping(),
        production: RowProduction? = nil, resuming: Bool = false,
        files: (any RunFiles)? = nil, logger: Logger, metrics: MetricsReceiver = .current,
        surroundings: Surroundings = .system
    ) throws(CampaignError) {
        let lanes = try Self.lanes(of: campaign)
        syncInterval = campaign.syncInterval
        guard campaign.note.count <= LedgerHeader.noteLimit else {
            throw CampaignError(.configuration, "note: expected at most \(LedgerHeader.noteLimit) bytes")
        }
        past = try resuming ? Self.past(campaign, files) : nil
        reportBy = campaign.reportBy
        (name, historyPlace) = (campaign.name, try HistoryPlace(campaign))
        if let past, campaign.retryUnavailable, files == nil {
            let began = CampaignSummary.Identity.time(past.header.start)
            try CampaignBook.refuseReopening(
                of: campaign.runDirectory ?? "", began: began, history: historyPlace?.history)
        }
        try historyPlace?.history.prepare()
        let judge = try ExpectationJudge(campaign, start: past?.header.start)
        self.judge = Guarded(judge)
        let given = input
        var (campaign, input) = (campaign, input)
        let isNew = files == nil && past == nil
        var taken: (path: String, ledger: any AppendFile)?
        var copied: CopiedInput?
        var corrected: CorrectedRows?
        var isReady = false
        defer { if let taken, input.isCopy, !isReady { DirectoryFiles(taken.path).removeInputCopy(of: taken.ledger) } }
        if let past {
            input = past.header.isCopied ? Self.copy(of: past.header, in: campaign) : input
        } else {
            try InputReader.requireFreshness(campaign, of: input, now: surroundings.seconds())
            if isNew, spooling.copies(input) {
                let own = try RunDirectory.take(campaign.runDirectory)
                taken = own
                let kept = try spooling.copy(input, of: campaign, to: own.path, own.ledger)
                (input, copied) = kept
                if campaign.book?.correcting != nil { corrected = try CorrectedRows(campaign, kept.copy, kept.of) }
            }
            try InputReader.requireWhole(campaign, of: input)
            try InputReader.requireRows(campaign, of: input, judge)
        }
        reader = try InputReader(
            campaign, input: input, lanes: lanes, group: ChunkFeed.group, limits: surroundings.rowLimits,
            extent: past?.extent)
        chunks = BoundedQueue(capacity: reader.reader.bufferCount)
        (self.input, self.production, template) = (input, production, campaign.template)
        for range in past?.reading.history.ranges ?? [] { reader.note(range.facts) }
        try past?.check(campaign.id)
        campaign.id = past.map { CampaignID($0.header.identity) } ?? campaign.id
        plan = try CampaignPlan(
            campaign, input: reader.facts, logger: logger, start: past?.header.start, surroundings: surroundings)
        if past?.isReopening == true { try plan.refuseLateRetry() }
        control = RunControl(canary: plan.canary != nil, deadline: plan.deadline?.seconds ?? .max)
        changeLog = RunChanges(after: past?.reading.history.changes ?? []) { [log = plan.log] text in
            log.logger.warning("\(text)")
        }
        rate = try Self.rate(of: campaign)
        header = LedgerHeader(
            identity: plan.identity, start: plan.start, digest: try CampaignDigest.of(campaign),
            inputBytes: reader.isRepeatable ? reader.bytesTotal : nil, packing: reader.reader.packing,
            isSpooled: input.spooled != nil, isCopied: input.isCopy,
            columnsSum: reader.columnsSum, inputName: reader.name, resultColumns: campaign.resultColumns,
            note: campaign.note)
        try past?.check(header, input: reader.reader)
        try plan.refuseBrokenTemplates()
        if past == nil { try Self.refuseReturned(plan, campaign) }
        judged = past == nil ? try Self.judge(input, of: campaign, plan, reader, judge) : nil
        watchesRows = judged != .all && !(reader.isRepeatable && Self.allows(campaign, judge))
        providers = try ProviderDirectory(campaign, plan: plan)
        addresses = AddressBook(host: plan.peer.host, port: plan.peer.port, surroundings: surroundings)
        gauges = (0..<lanes).map { _ in LaneGauges() }
        var before = CampaignProgress()
        before.totals = RunTotals(past?.reading.history.tally.outcomes ?? [:])
        self.metrics = MetricsRecorder(metrics, name: name, start: Figures(run: RunMeasurements(before)))
        // A run that is resumed has reserved room, which counts as used, and ends in order where that does not suffice.
        if isNew { try Self.requireRoom(campaign, in: taken?.path, for: input, surroundings) }
        if isNew, taken == nil { taken = try RunDirectory.take(campaign.runDirectory) }
        let place = taken?.path ?? campaign.runDirectory ?? ""
        directory = place
        let own = files ?? DirectoryFiles(directory)
        if let locked = past?.ledger ?? taken?.ledger { ledger = locked } else { ledger = try own.makeLedger() }
        let storedBytes = input.isCopy ? nil : reader.bytesTotal
        if past == nil {
            let copy = input.isCopy ? DirectoryFiles(place).inputCopyPath : nil
            try historyPlace?.begin(
                in: place, ledger: taken?.ledger.stamp?.text, start: plan.start, corrected: corrected
            ) { $0.known(given, copied, copy: copy, storedBytes: storedBytes) }
        } else {
            try historyPlace?.resume(in: place, start: plan.start, reopening: campaign.retryUnavailable)
        }
        self.files = own
        isReady = true
    }

    deinit { results.withLock { $0.end() } }

    /// The copy of the input that an earlier session made.
    private static func copy(of header: LedgerHeader, in campaign: Campaign) -> RunInput {
        RunInput(copy: DirectoryFiles(campaign.runDirectory ?? "").inputCopyPath, of: header.inputName)
    }

    /// Throws if the disk of the run directory is too small for the rows of an input whose size is known.
    ///
    /// - Parameter taken: The run directory, if it was made before.
    private static func requireRoom(
        _ campaign: Campaign, in taken: String?, for input: RunInput, _ surroundings: Surroundings
    ) throws(CampaignError) {
        try DiskRoom.measured(
            campaign, in: taken ?? campaign.runDirectory ?? RunDirectory.folder, for: input,
            chunks: chunks(of: campaign), freeBytes: surroundings.freeBytes)?.require()
    }

    /// The number of chunks of rows that are announced before any of them has ended.
    static func chunks(of campaign: Campaign) throws(CampaignError) -> Int {
        InputReader.buffers(lanes: try lanes(of: campaign), group: ChunkFeed.group)
    }

    private static func rate(of campaign: Campaign) throws(CampaignError) -> RunRate {
        guard let path = try sharedRate(of: campaign) else { return RunRate(campaign.rateLimit) }
        return try RunRate(campaign.rateLimit, sharedBy: path)
    }

    /// Throws what making the limit of a run would throw, and leaves nothing behind.
    static func tryRate(of campaign: Campaign) throws(CampaignError) {
        if let path = try sharedRate(of: campaign) { try RateFile.attempt(path) }
    }

    private static func sharedRate(of campaign: Campaign) throws(CampaignError) -> String? {
        guard let path = campaign.sharedRatePath else { return nil }
        guard campaign.rateLimit.rate != nil else {
            throw CampaignError(.configuration, "rate shared: needs a rate")
        }
        return path
    }

    private static func past(_ campaign: Campaign, _ files: (any RunFiles)?) throws(CampaignError) -> RunPast {
        guard let directory = campaign.runDirectory else {
            throw CampaignError(.configuration, "no run directory to resume")
        }
        let files = files ?? DirectoryFiles(directory)
        return try RunPast(files, name: directory, reopening: campaign.retryUnavailable)
    }

    /// Returns the number of lanes of a campaign, after checking its numbers.
    ///
    /// - Parameter spare: The number of cores that other threads keep busy.
    static func lanes(of campaign: Campaign, spare: Int = 1) throws(CampaignError) -> Int {
        try Campaign.Number.check(campaign)
        return campaign.lanes ?? min(256, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - spare))
    }

    /// The warnings about the campaign that do not depend on its rows. The initializer throws errors.
    public var warnings: [CampaignFinding] { (plan.findings + providers.findings).filter { $0.severity == .warning } }

    /// Stops the run: no more rows are taken, answers are awaited for ``Campaign/stopPatience``, and ``send()`` returns. A
    /// resumed run sends the remaining rows.
    public func stop() {
        let isFirst = !control.stopping
        // The run is stopped first, because recording may wait for the disk.
        control.stop(.interrupted)
        if isFirst { note("stopped") }
    }

    /// Gives the run up: from now on nothing is sent. ``send()`` returns when every row has an outcome. Rows of earlier sessions that may
    /// have arrived end as ``Outcome/unknown``, independent of ``Campaign/onUnknown``, and rows that were never sent as
    /// ``Outcome/expired``, with the reason `Abandoned`. Called before ``send()``, no connection is opened.
    public func abandon() {
        control.abandon()
        note(Self.abandonment)
    }

    /// The change that stands for this.
    static let abandonment = "abandoned"

    /// Stops the run like ``stop()``, but awaits no answers: rows in flight get no outcome, as if the process had been
    /// killed. They may have arrived, and ``Campaign/onUnknown`` decides about them when the run is resumed.
    public func stopAtOnce() { control.stopAtOnce() }

    /// Replaces keys and certificates during the run. The providers must have the same topics, in the same order.
    ///
    /// All credentials are checked first; if some are invalid, nothing changes. Then every lane opens new connections with
    /// the new credentials, and closes the old ones when the new ones are usable and all requests in flight are answered, so
    /// that no row is lost or sent twice. A provider whose credentials have not changed keeps its connections. The call does
    /// not read files, and does not wait for connections.
    ///
    /// - Returns: The indices of the providers whose credentials changed.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``.
    @discardableResult
    public func replaceCredentials(_ providers: [Campaign.Provider]) throws(CampaignError) -> [Int] {
        try self.providers.replace(providers)
    }

    /// Why the run failed; nil while it runs, and if it was completed or interrupted.
    public var failure: CampaignError? {
        if case .failure(let error) = control.stopCause { error } else { nil }
    }

    /// Pauses the run: nothing is sent until ``unpause()``. Answers to requests in flight are processed, and connections
    /// stay open. A deadline (``Campaign/notAfter``) is not moved, and ``stop()`` works as usual.
    public func pause() { if control.pause(true) { note("paused") } }

    /// Continues sending after ``pause()``, within some milliseconds.
    public func unpause() { if control.pause(false) { note("continued") } }

    /// Replaces the limits of requests per time. They apply within some milliseconds.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if a value is out of its range; then nothing
    ///   changes.
    public func setRateLimit(_ limit: Campaign.RateLimit) throws(CampaignError) {
        try limit.check(of: reader.name, isFile: reader.facts.isFile)
        rate.change(to: limit)
        note("\(limit)")
    }

    /// Replaces ``Campaign/notAfter`` during the run. A duration counts from the start of the campaign. It applies within some
    /// milliseconds.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if the time is 0; then nothing changes.
    public func setDeadline(_ notAfter: Campaign.Expiration?) throws(CampaignError) {
        let deadline = try notAfter.map { (given) throws(CampaignError) in
            try CampaignDeadline(given, start: plan.start)
        }
        control.deadline = deadline?.seconds ?? .max
        note(notAfter == nil ? "no deadline" : "deadline \(CampaignSummary.Identity.time(control.deadline))")
    }

    /// Replaces ``Campaign/expectations`` during the run. They are judged when the run is complete; those about rows are not
    /// judged again before.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if two contradict each other, or if one needs
    ///   a history and there is none; then nothing changes.
    public func setExpectations(_ expectations: [CampaignExpectation]) throws(CampaignError) {
        let changed = try ExpectationJudge(expectations, history: historyPlace, start: plan.start)
        judge.withLock { $0 = changed }
        note("expect " + expectations.map(\.description).joined(separator: ", "))
    }

    /// What operators changed while the run went on, in all its sessions, in the order in which they did. The ledger has it,
    /// too.
    public var changes: [RunChange] { changeLog.all }

    private func note(_ text: String) {
        changeLog.add(text, at: plan.surroundings.seconds())
        span.withLock { $0 }?.note("change", text)
    }

    /// The limits of requests per time, as they were given.
    public var rateLimit: Campaign.RateLimit { rate.limit }

    /// Whether the run is paused by ``pause()``.
    public var isPaused: Bool { control.paused }

    /// The current state of the run.
    public var progress: CampaignProgress {
        var progress = look(withAccount: false)
        progress.isPaused = control.paused
        if control.paused { progress.waiting = .paused }
        progress.isCanary = control.isCanary
        progress.rateLimit = rate.inForce(now: SystemClock.monotonic())?.perSecond
        return progress
    }

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
        defer { results.withLock { $0.end() } }
        guard let span = RunSpan.begin(name: name, id: CampaignID(header.identity)) else { return await sendToEnd() }
        self.span.withLock { $0 = span }
        plan.log.tell { span.note($0, $1) }
        let summary = await span.whileCurrent { await sendToEnd() }
        plan.log.tell(nil)
        self.span.withLock { $0 = nil }
        span.end(with: summary, look(withAccount: false), failure)
        return summary
    }

    private func sendToEnd() async -> CampaignSummary {
        await withTaskGroup { group in
            if let production, !isInputRead {
                let taken = past?.reading.history.rows ?? 0
                group.addTask { await production.run(taken: taken) }
            }
            let summary = await Shutdown.handled(work, atOnce: stopAtOnce, inOrder: stop)
            // A program that has more rows learns that none is taken, even while it waits for the next one.
            reader.cancel()
            group.cancelAll()
            return summary
        }
    }

    private func work() async -> CampaignSummary {
        do throws(ThreadError) {
            return try await NamedThread.value("campaign") { [self] in runToEnd() }
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)", cause: error)))
            ledger.unlock()
            return summarize(nothingDone)
        }
    }

    /// Whether an earlier session read the whole input.
    private var isInputRead: Bool { past?.reading.history.isInputRead ?? false }

    /// Whether a resumed run had ended before, so that ``send()`` sends nothing and returns its summary.
    public var wasComplete: Bool { past?.reading.history.isComplete ?? false }

    /// Runs on the campaign's own thread: starts the other threads, joins lanes, reader and writer in this order, and makes the
    /// summary.
    private func runToEnd() -> CampaignSummary {
        // Until the last file is written: the next holder of the lock finds all of them as this run leaves them.
        defer { ledger.unlock() }
        var isOurs = false
        var account = nothingDone
        do throws(CampaignError) {
            try RunRecord.confirm(ledger, isAsReadBy: past, name: directory)
            isOurs = true
            if let past, wasComplete {
                let summary = finished(past)
                enterGivenUp(summary)
                return recorded(summary)
            }
            started.withLock { $0 = SystemClock.monotonicSeconds() }
            account = try sendAll(openRecord())
            account.breakdowns = breakdowns
            if control.stopCause == nil { account.notSentFile = writeNotSent(account.tally.outcomes, outcomesBefore) }
        } catch {
            control.stop(.failure(error))
        }
        if account.figures.lanes == nil { account.figures = figures(withLanes: true) }
        let summary = summarize(account)
        guard isOurs else { return summary }
        // Before the summary is that of a complete run, which would make it the run of its night.
        enterGivenUp(summary)
        return recorded(write(summary, account))
    }

    /// Enters in the history that an operator has given the run up, if one has.
    private func enterGivenUp(_ summary: CampaignSummary) {
        guard control.isAbandoned, summary.ending == .complete else { return }
        historyPlace?.giveUp(directory, began: summary.campaign.began, logger: plan.log.logger)
    }

    /// Adds the summary to the history, and removes what no later session needs.
    private func recorded(_ summary: CampaignSummary) -> CampaignSummary {
        // Rows that ended as unavailable are read again if the run is resumed for them, and rows that were not sent as long as no file has them.
        let hasFile = summary.notSentFile != nil || control.isAbandoned
        let isNeeded = summary.rows { $0.canBeReopened || !hasFile && $0.canBeCorrected } > 0
        if summary.ending == .complete, !isNeeded { dropKeptRows() }
        historyPlace?.add(
            summary, directory: directory, input: summary.ending == .complete ? contents : nil,
            logger: plan.log.logger)
        return summary
    }

    /// What was read of each file of the input; nil if it is not known.
    private var contents: [KnownInput.Content]? {
        let files = reader.reader.filesRead
        if !files.isEmpty { return files.map { .init(length: $0.fingerprint.bytes, sum: $0.fingerprint.sum) } }
        return reader.checksum.map { [.init(length: reader.reader.size, sum: $0)] }
    }

    /// What else the campaign has to finish.
    private var unfinished: [UnfinishedRun] {
        historyPlace?.unfinished(besides: directory, start: plan.start, logger: plan.log.logger) ?? []
    }

    /// Returns the summary of a run without remaining rows, after completing its files. Its figures do not change.
    private func finished(_ past: RunPast) -> CampaignSummary {
        let history = past.reading.history
        do throws(CampaignError) {
            _ = try past.settle(try files.results(of: ledger, isNew: false), name: directory)
        } catch {
            control.stop(.failure(error))
            return summarize(nothingDone)
        }
        let known = RunDirectory.readSummary(directory)
        if let known, known.agrees(with: recorded(history, notSent: nil)), hasNotSent(known) { return known }
        let file = writeNotSent(history.tally.outcomes)
        var summary = recorded(history, notSent: file)
        if let known, file == nil, known.agrees(with: summary) { return known }
        summary.breakdowns = breakdowns
        do {
            try RunDirectory.write(summary, to: directory)
        } catch {
            control.stop(.failure(error))
        }
        return summary
    }

    /// The summary of a run without remaining rows, from its ledger alone.
    private func recorded(_ history: LedgerHistory, notSent file: String?) -> CampaignSummary {
        CampaignSummary(
            history, campaign: identity(ended: history.lastTime),
            judge: judge.withLock { $0 }, unfinished: unfinished, correctionOf: CampaignBook.corrected(by: directory),
            notSentFile: file)
    }

    private func write(_ summary: CampaignSummary, _ account: SessionAccount) -> CampaignSummary {
        do {
            try RunDirectory.write(summary, to: directory)
            return summary
        } catch {
            control.stop(.failure(error))
            return summarize(account)
        }
    }

    /// Creates or continues the record of the run.
    package func openRecord() throws(CampaignError) -> RunRecord {
        try attachSpool()
        let opening = RunRecord.Opening(
            files: files, name: directory, header: header, session: session, past: past,
            ledger: ledger, slots: reader.reader.bufferCount, lineBytes: plan.surroundings.lineBytes)
        let record = try RunRecord.open(
            opening, warn: { [log = plan.log] text in log.logger.warning("\(text)") },
            stop: { [control] error in control.stop(.failure(error)) })
        changeLog.open(record.ledger)
        return record
    }

    /// Names the file in which rows of a program are kept.
    private func attachSpool() throws(CampaignError) {
        guard let spooled = input.spooled else { return }
        let (file, end) = (try files.spool(of: ledger), past?.end ?? 0)
        if past == nil, try !RunDirectory.hasNoRows(file) {
            throw CampaignError(
                .results,
                "\(directory)/\(RunDirectory.spool) has rows, but its ledger is missing: restore it, or move the rows away"
            )
        }
        guard file.length >= end else {
            throw CampaignError(
                .results,
                "\(directory)/\(RunDirectory.spool) is truncated: it has \(file.length) bytes, and rows up to byte \(end) "
                    + "were taken; nothing was sent")
        }
        try CampaignError.mapping(.results) {
            try spooled.attach(file, resumingAt: end, isWhole: isInputRead)
        }
    }

    /// The number of this session of the run, from 1.
    var sessionNumber: UInt32 { (past?.reading.history.session?.number ?? 0) + 1 }

    private var session: LedgerSession {
        LedgerSession(
            number: sessionNumber, process: UInt32(getpid()),
            time: plan.surroundings.seconds(), boot: files.boot, policy: plan.onUnknown,
            sendsNothing: control.isAbandoned,
            note: past == nil || header.note == past?.header.note ? [] : header.note)
    }

    /// The figures of this session until now.
    ///
    /// - Parameter withLanes: Whether to include the accounts of the lanes.
    func figures(withLanes: Bool) -> SessionFigures {
        SessionFigures(look(withAccount: withLanes))
    }

    func look(withAccount: Bool) -> CampaignProgress {
        CampaignProgress(
            gauges, reader, started: started.withLock { $0 }, before: outcomesBefore, withAccount: withAccount)
    }

    /// The rows that ended in earlier sessions.
    var outcomesBefore: OutcomeCounts { past?.reading.history.tally.outcomes ?? [:] }

    /// Creates the lanes, which a stop wakes from then on.
    package func makeCrew(_ record: RunRecord) -> LaneCrew {
        let crew = LaneCrew(
            plan: plan, control: control, gauges: gauges, addresses: addresses, providers: providers,
            input: .chunks(chunks, of: reader, record.ledger.handOvers), rate: rate,
            exchange: OutcomeExchange(
                lanes: gauges.count, each: plan.surroundings.batchesPerLane,
                entries: plan.surroundings.outcomesPerBatch, results: results.withLock { $0.begin() }),
            watchesRows: watchesRows,
            rowsLeft: { [weak self] in self?.look(withAccount: false).rowsLeft })
        control.notify { [reader, chunks] in
            reader.cancel()
            chunks.close()
            // Not even a program that has stopped taking its results holds up the end.
            crew.exchange.waitNoLonger()
            crew.wake()
        }
        return crew
    }

    /// Creates the reader's part, which feeds the lanes.
    package func makeFeed(_ record: RunRecord) -> ChunkFeed {
        let judge = judgeOfChunks
        return ChunkFeed(
            reader, to: chunks, record: record, past: past?.ranges ?? [],
            judge: judge.map { judge in { judge.refusal(of: $0, isLast: $1) } })
    }

    /// Creates the writer, which receives outcomes from the lanes.
    package func makeWriter(_ record: RunRecord, _ crew: LaneCrew) -> OutcomeWriter {
        OutcomeWriter(
            record, exchange: crew.exchange, interval: syncInterval.nanoseconds,
            figures: { [weak self] in self?.figures(withLanes: $0) })
    }

    private func sendAll(_ record: RunRecord) throws(CampaignError) -> SessionAccount {
        let crew = makeCrew(record)
        let writer = makeWriter(record, crew)
        recordTimeline {
            do throws(ThreadError) {
                let writing = try NamedThread("writer") { writer.run() }
                let lanes = sendRows(crew, record)
                changeLog.close()
                crew.exchange.filled.close()
                writing.join()
                lanes.join()
            } catch {
                control.stop(.failure(CampaignError(.system, "\(error)", cause: error)))
            }
        }
        control.notifyNobody()
        return SessionAccount(
            tally: record.account.tally, reasons: record.account.reasons,
            figures: writer.lastFigures ?? figures(withLanes: true), loop: crew.loop,
            ledgerSeconds: record.ledger.cpuSeconds, tokens: record.account.tokens,
            status: control.stopCause == nil ? nil : status(record.ledger))
    }

    /// Runs the reader and the lanes. Returns when the reader has ended and the lanes have passed on their last outcomes;
    /// they may still be saying goodbye to the servers.
    private func sendRows(_ crew: LaneCrew, _ record: RunRecord) -> ThreadGroup {
        do throws(ThreadError) {
            let reading = try NamedThread("reader") { [self] in
                makeFeed(record).run(control: control, wake: crew.wake)
                if let warning = reader.additionWarning { plan.log.logger.warning("\(warning)") }
            }
            let lanes = crew.start()
            crew.waitForOutcomes(of: lanes)
            reader.cancel()
            chunks.close()
            reading.join()
            return lanes
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)", cause: error)))
            return ThreadGroup()
        }
    }

    /// The status of a run that ended early, from the ledger. The unread rows are counted, or only estimated after
    /// ``stopAtOnce()``.
    private func status(_ ledger: RunLedger) -> RunStatus? {
        var status = ledger.history().flatMap { history in
            try? RunStatus(history, notes: ledger.handOvers.snapshot, boot: files.boot, isFree: true)
        }
        if !control.urgent, let path = input.path {
            status?.countUnread(in: path, FormatChoice(reader.format))
        }
        return status
    }

    /// The rows of all sessions by the values of columns. A failure is only logged: the run has its results.
    private var breakdowns: [CampaignSummary.Breakdown]? {
        guard !reportBy.isEmpty, !directory.isEmpty else { return nil }
        do throws(CampaignError) {
            return try CampaignSummary.Breakdown.all(ofRunIn: directory, by: reportBy)
        } catch {
            plan.log.logger.printable.warning("the rows were not counted by column: \(error)")
            return nil
        }
    }

    /// The account of a session in which no row ends: it has the counts of earlier sessions.
    private var nothingDone: SessionAccount {
        var account = SessionAccount()
        account.reasons = past?.reading.history.reasons ?? OutcomeReasons()
        return account
    }

    private func summarize(_ account: SessionAccount) -> CampaignSummary {
        var summary = CampaignSummary(
            account, before: past?.reading.history, changes: changes, stop: control.stopCause,
            campaign: identity(ended: plan.surroundings.seconds()), judge: judge.withLock { $0 },
            unfinished: unfinished, correctionOf: directory.isEmpty ? nil : CampaignBook.corrected(by: directory))
        if let failure, LostRecord.isCause(of: failure, in: directory, start: plan.start) {
            summary.lose(LostRecord.sentence(summary, isKnown: historyPlace?.decidesStarts ?? false))
        }
        return summary
    }

    /// - Parameter ended: In seconds since 1970-01-01 00:00 UTC.
    private func identity(ended: UInt64) -> CampaignSummary.Identity {
        let checksum = control.stopCause == nil ? reader.checksum : nil
        return .init(plan, header, template: template, checksum: checksum, ended: ended)
    }
}
