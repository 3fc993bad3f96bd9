import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending
import APNSBatchTransport
import Glibc
import Logging

/// One run of a campaign.
///
/// Making a run compiles the template, reads the key and the CSV's header row and makes the run
/// directory; whatever is wrong with the campaign shows there, before anything is sent. ``run()`` then sends and returns when
/// every row that was taken has its line in `results.csv`. What happens stands in a ledger in the run directory, so that a
/// run that was interrupted or killed can be resumed at any time.
///
/// Threads: one reader, the lanes, one writer; ``progress``, ``stop()`` and
/// ``replaceCredentials(_:)`` may be used from anywhere at any time.
public final class CampaignRun: Sendable {
    /// The run directory.
    public let directory: String

    package let plan: CampaignPlan
    package let control: RunControl
    package let reader: InputReader
    /// From the reader to the lanes.
    package let chunks: BoundedQueue<InputChunk>
    package let gauges: [LaneGauges]
    package let addresses: AddressBook
    package let providers: ProviderDirectory
    private let started = Guarded<Double?>(nil)
    private let files: any RunFiles
    /// What earlier processes did; nil for a new run.
    package let past: RunPast?
    let header: LedgerHeader
    /// Milliseconds.
    let syncInterval: Int
    private let input: Campaign.Input
    private let delimiter: UInt8
    private let template: Campaign.Template?

    /// - Parameters:
    ///   - resuming: go on with the run in ``Campaign/runDirectory``: rows with an outcome are not sent again, rows that
    ///     were never handed to a connection are sent, and for the others ``Campaign/onUnknown`` decides. Input, template
    ///     and headers must be what they were; credentials and options may change.
    ///   - logger: where connections, retries and failures are reported; tokens are shortened there and secrets never
    ///     appear.
    /// - Throws: ``CampaignError`` with ``CampaignError/Kind/configuration``, `input` or `results`.
    public convenience init(
        _ campaign: Campaign, resuming: Bool = false,
        logger: Logger = Logger(label: "apns-batch") { _ in SwiftLogNoOpLogHandler() }
    ) throws(CampaignError) {
        try self.init(campaign, resuming: resuming, files: nil, logger: logger)
    }

    /// - Parameters:
    ///   - files: instead of those in the run directory.
    ///   - surroundings: instead of the system's.
    package init(
        _ campaign: Campaign, resuming: Bool = false, files: (any RunFiles)? = nil, logger: Logger,
        surroundings: Surroundings = .system
    ) throws(CampaignError) {
        let lanes = try Self.lanes(of: campaign)
        syncInterval = campaign.syncInterval
        guard campaign.note.count <= LedgerHeader.noteLimit else {
            throw CampaignError(.configuration, "note: expected at most \(LedgerHeader.noteLimit) bytes")
        }
        past = try resuming ? Self.past(campaign, files) : nil
        if past == nil { try InputReader.refuseShort(campaign) }
        reader = try InputReader(
            campaign, lanes: lanes, group: ChunkFeed.group, limits: surroundings.rowLimits, extent: past?.extent)
        chunks = BoundedQueue(capacity: reader.reader.bufferCount)
        (input, delimiter, template) = (campaign.input, campaign.delimiter, campaign.template)
        for range in past?.reading.history.ranges ?? [] { reader.note(range.facts) }
        var campaign = campaign
        try past?.check(campaign.identity)
        campaign.identity = past?.header.identity ?? campaign.identity
        plan = try CampaignPlan(
            campaign, columns: reader.columns, logger: logger, start: past?.header.start, surroundings: surroundings)
        control = RunControl(canary: plan.canary != nil)
        header = LedgerHeader(
            identity: plan.identity, start: plan.start, digest: try CampaignDigest.of(campaign),
            inputBytes: campaign.input.isFile ? reader.bytesTotal : nil, columnsSum: reader.columnsSum,
            inputName: reader.name, resultColumns: campaign.resultColumns, note: campaign.note)
        try past?.check(header, path: campaign.input.name)
        try plan.refuseBrokenTemplates()
        providers = try ProviderDirectory(campaign, plan: plan)
        addresses = AddressBook(host: plan.peer.host, port: plan.peer.port, surroundings: surroundings)
        gauges = (0..<lanes).map { _ in LaneGauges() }
        let isOwn = files == nil && past == nil
        directory = try isOwn ? RunDirectory.make(campaign.runDirectory) : campaign.runDirectory ?? ""
        self.files = files ?? DirectoryFiles(directory)
    }

    private static func past(_ campaign: Campaign, _ files: (any RunFiles)?) throws(CampaignError) -> RunPast {
        guard let directory = campaign.runDirectory else {
            throw CampaignError(.configuration, "no run directory to resume")
        }
        let files = files ?? DirectoryFiles(directory)
        return try RunPast(files, name: directory, reopening: campaign.retryUnavailable)
    }

    /// How many lanes a campaign has, once its numbers are found to be right.
    ///
    /// - Parameter spare: cores that other threads keep busy.
    static func lanes(of campaign: Campaign, spare: Int = 1) throws(CampaignError) -> Int {
        try Campaign.Number.check(campaign)
        return campaign.lanes ?? min(256, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - spare))
    }

    /// What is doubtful about the campaign, whatever its rows say. Errors would have been thrown.
    public var warnings: [CampaignFinding] { (plan.findings + providers.findings).filter { $0.severity == .warning } }

    /// Takes no more rows, waits a while for answers, and lets ``run()`` return. Rows not taken are not sent; a
    /// resumed run sends them.
    public func stop() { control.stop(.interrupted) }

    /// Like ``stop()``, but waits for no answer: rows under way get no outcome, as if the process had been killed. They may
    /// have arrived, and ``Campaign/onUnknown`` decides about them when the run is resumed.
    public func stopAtOnce() { control.stopAtOnce() }

    /// Takes new keys and certificates while the run goes on: the same providers with the same topics in the same order.
    ///
    /// All are read and checked first; what is wrong with one changes nothing. Then every lane opens new connections with
    /// the new credentials and closes the old ones when those serve and what is under way has been answered: no row is
    /// lost or sent again for it. A provider whose credentials are the same keeps its connections. Cheap; reads no files.
    ///
    /// - Returns: the numbers of the providers whose credentials changed, from 0.
    /// - Throws: ``CampaignError`` with ``CampaignError/Kind/configuration``.
    @discardableResult
    public func replaceCredentials(_ providers: [Campaign.Provider]) throws(CampaignError) -> [Int] {
        try self.providers.replace(providers)
    }

    /// Why the run failed; nil while it runs, when it completed and when it was interrupted.
    public var failure: CampaignError? {
        if case .failure(let error) = control.stopCause { error } else { nil }
    }

    /// Sends nothing more until ``unpause()``: no row is taken and none is sent again. Answers under way are taken, and
    /// connections stay open. A deadline (``Campaign/notAfter``) passes all the same, and ``stop()`` stops.
    public func pause() { control.pause(true) }

    /// Goes on after ``pause()``, within some milliseconds.
    public func unpause() { control.pause(false) }

    /// Whether ``pause()`` is in force.
    public var isPaused: Bool { control.paused }

    /// A look at the run.
    public var progress: CampaignProgress {
        var progress = look(withAccount: false)
        progress.isPaused = control.paused
        if control.paused { progress.waiting = .paused }
        progress.isCanary = control.isCanary
        return progress
    }

    /// Sends the campaign. Call it once.
    ///
    /// Failures on the way (a fatal answer, APNs out of reach, a full disk) end the run in order and stand in the summary
    /// and in ``failure``. The summary is in the run directory too, as `summary.json`.
    public func run() async -> CampaignSummary {
        do throws(ThreadError) {
            return try await NamedThread.value("campaign") { [self] in runToEnd() }
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)")))
            past?.ledger.unlock()
            return summarize(nothingDone)
        }
    }

    /// On the campaign's own thread: starts the others, joins them in the order of the rows' way, sums up.
    private func runToEnd() -> CampaignSummary {
        if let past, past.reading.history.isComplete { return finished(past) }
        started.withLock { $0 = SystemClock.monotonicSeconds() }
        var account = nothingDone
        // The directory may be another process's: nothing is written into it before the ledger is ours.
        var isOurs = past != nil
        do throws(CampaignError) {
            let record = try openRecord()
            isOurs = true
            defer { record.ledger.close() }
            account = try sendAll(record)
        } catch {
            control.stop(.failure(error))
            past?.ledger.unlock()
        }
        if account.figures.lanes == nil { account.figures = figures(withLanes: true) }
        let summary = summarize(account)
        return isOurs ? write(summary, account) : summary
    }

    /// A run of which nothing is left to do: its files are put in order, and its figures stay as they are.
    private func finished(_ past: RunPast) -> CampaignSummary {
        defer { past.ledger.unlock() }
        let history = past.reading.history
        do throws(CampaignError) {
            _ = try past.settle(try files.results(), name: directory)
        } catch {
            control.stop(.failure(error))
            return summarize(nothingDone)
        }
        let summary = CampaignSummary(history, campaign: identity(ended: history.lastTime))
        if let known = RunDirectory.readSummary(directory), known.agrees(with: summary) { return known }
        do {
            try RunDirectory.write(summary, to: directory)
        } catch {
            control.stop(.failure(error))
        }
        return summary
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

    /// Begins the record of the run, or goes on with it.
    package func openRecord() throws(CampaignError) -> RunRecord {
        let opening = RunRecord.Opening(
            files: files, name: directory, header: header, session: session, past: past,
            slots: reader.reader.bufferCount, lineBytes: plan.surroundings.lineBytes)
        return try RunRecord.open(
            opening, warn: { [log = plan.log] text in log.logger.warning("\(text)") },
            stop: { [control] error in control.stop(.failure(error)) })
    }

    private var session: LedgerSession {
        LedgerSession(
            number: (past?.reading.history.session?.number ?? 0) + 1, process: UInt32(getpid()),
            time: plan.surroundings.seconds(), boot: files.boot, policy: plan.onUnknown,
            note: past == nil || header.note == past?.header.note ? [] : header.note)
    }

    /// What this process did so far.
    ///
    /// - Parameter withLanes: also what its lanes counted besides.
    func figures(withLanes: Bool) -> SessionFigures {
        SessionFigures(look(withAccount: withLanes))
    }

    private func look(withAccount: Bool) -> CampaignProgress {
        CampaignProgress(
            gauges, reader, started: started.withLock { $0 }, before: past?.reading.history.tally.outcomes ?? [:],
            withAccount: withAccount)
    }

    /// The thread that writes; `exchange` brings it what lanes finished.
    package func makeWriter(_ record: RunRecord, _ exchange: OutcomeExchange) -> OutcomeWriter {
        OutcomeWriter(
            record, exchange: exchange, interval: UInt64(syncInterval) * 1_000_000,
            figures: { [weak self] in self?.figures(withLanes: $0) })
    }

    private func sendAll(_ record: RunRecord) throws(CampaignError) -> SessionAccount {
        let exchange = OutcomeExchange(lanes: gauges.count)
        let writer = makeWriter(record, exchange)
        let crew = LaneCrew(
            plan: plan, control: control, gauges: gauges, addresses: addresses, providers: providers, input: reader,
            chunks: chunks, exchange: exchange, handOver: record.ledger.board)
        control.notify { [reader, chunks] in
            reader.cancel()
            chunks.close()
            crew.wake()
        }
        do throws(ThreadError) {
            let writing = try NamedThread("writer") { writer.run() }
            sendRows(crew, record)
            exchange.filled.close()
            writing.join()
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)")))
        }
        control.notifyNobody()
        return SessionAccount(
            tally: record.account.tally, reasons: record.account.reasons,
            figures: writer.lastFigures ?? figures(withLanes: true), loop: crew.loop,
            ledgerSeconds: record.ledger.cpuSeconds, tokens: record.account.tokens,
            status: control.stopCause == nil ? nil : status(record.ledger))
    }

    /// Reader and lanes; returns when all have ended.
    private func sendRows(_ crew: LaneCrew, _ record: RunRecord) {
        do throws(ThreadError) {
            let reading = try NamedThread("reader") { [self] in
                let feed = ChunkFeed(reader, to: chunks, record: record, past: past?.ranges ?? [])
                feed.run(control: control, wake: crew.wake)
                if let warning = reader.additionWarning { plan.log.logger.warning("\(warning)") }
            }
            crew.run()
            reader.cancel()
            chunks.close()
            reading.join()
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)")))
        }
    }

    /// What the ledger says of a run that ended early, with the rows that were not read counted. Who is in a hurry gets an
    /// estimate of these.
    private func status(_ ledger: RunLedger) -> RunStatus? {
        var status = ledger.history().flatMap { history in
            try? RunStatus(history, notes: ledger.board.snapshot, boot: files.boot, isFree: true)
        }
        if !control.urgent, case .file(let path) = input {
            status?.countUnread(in: path, delimiter: delimiter)
        }
        return status
    }

    /// Of a process that ends no row: what those before it recorded stays true.
    private var nothingDone: SessionAccount {
        var account = SessionAccount()
        account.reasons = past?.reading.history.reasons ?? OutcomeReasons()
        return account
    }

    private func summarize(_ account: SessionAccount) -> CampaignSummary {
        CampaignSummary(
            account, before: past?.reading.history, stop: control.stopCause,
            campaign: identity(ended: plan.surroundings.seconds()))
    }

    /// - Parameter ended: seconds since the epoch.
    private func identity(ended: UInt64) -> CampaignSummary.Identity {
        let checksum = control.stopCause == nil && input.isFile ? reader.checksum : nil
        return .init(plan, header, template: template, checksum: checksum, ended: ended)
    }
}
