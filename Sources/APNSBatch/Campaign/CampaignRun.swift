import APNSProtocol
import CSVReader
import Glibc
import LaneTransport
import Logging

/// One run of a campaign.
///
/// Making a run compiles the template, reads the key and the CSV's header row, resolves the host and makes the run
/// directory; whatever is wrong with the campaign shows there, before anything is sent. ``run()`` then sends and returns when
/// every row that was taken has its line in `results.csv`. What happens stands in a ledger in the run directory, so that a
/// run that was interrupted or killed can be resumed at any time.
///
/// Threads: one reader, the lanes, one writer; ``progress``, ``stop()`` and
/// ``replaceCredentials(_:)`` may be used from anywhere at any time.
public final class CampaignRun: Sendable {
    /// The run directory.
    public let directory: String

    let plan: CampaignPlan
    let control: RunControl
    let reader: InputReader
    let gauges: [LaneGauges]
    let addresses: AddressBook
    let providers: ProviderDirectory
    private let started = Guarded<Double?>(nil)
    private let files: any RunFiles
    /// What earlier processes did; nil for a new run.
    let past: RunPast?
    private let header: LedgerHeader
    /// Milliseconds.
    let syncInterval: Int

    /// - Parameters:
    ///   - resuming: go on with the run in ``Campaign/runDirectory``: rows with an outcome are not sent again, rows that
    ///     were never handed to a connection are sent, and for the others ``Campaign/onUnknown`` decides. Input, template
    ///     and headers must be what they were; credentials and options may change.
    ///   - logger: where connections, retries and failures are reported; tokens are shortened there and secrets never
    ///     appear.
    /// - Throws: ``CampaignError`` with ``CampaignError/Kind/configuration``, `input`, `results` or `unreachable`.
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
        syncInterval = try Self.syncInterval(campaign)
        past = try resuming ? Self.past(campaign, files) : nil
        if past == nil { try InputReader.refuseShort(campaign) }
        reader = try InputReader(
            campaign, lanes: lanes, group: RangeAnnouncer.group, limits: surroundings.csvLimits)
        var campaign = campaign
        try past?.check(campaign.identity)
        campaign.identity = past?.header.identity ?? campaign.identity
        plan = try CampaignPlan(
            campaign, columns: reader.columns, logger: logger, start: past?.header.start, surroundings: surroundings)
        control = RunControl(canary: plan.canary != nil)
        header = LedgerHeader(
            identity: plan.identity, start: plan.start, digest: try CampaignDigest.of(campaign),
            inputBytes: campaign.input.isFile ? reader.bytesTotal : nil, columnsSum: reader.columnsSum,
            inputName: reader.name, note: campaign.note)
        try past?.check(header, path: campaign.input.name)
        try plan.refuseBrokenTemplates()
        providers = try ProviderDirectory(campaign, plan: plan)
        addresses = try AddressBook(host: plan.peer.host, port: plan.peer.port, surroundings: surroundings)
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

    private static func syncInterval(_ campaign: Campaign) throws(CampaignError) -> Int {
        guard (10...60_000).contains(campaign.syncInterval) else {
            throw CampaignError(
                .configuration, "sync interval: expected 10 to 60000 ms, found \(campaign.syncInterval)")
        }
        guard campaign.note.count <= LedgerHeader.noteLimit else {
            throw CampaignError(.configuration, "note: expected at most \(LedgerHeader.noteLimit) bytes")
        }
        return campaign.syncInterval
    }

    /// - Parameter spare: cores that other threads keep busy.
    static func lanes(of campaign: Campaign, spare: Int = 1) throws(CampaignError) -> Int {
        let lanes = campaign.lanes ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - spare)
        guard (1...256).contains(lanes) else {
            throw CampaignError(.configuration, "lanes: expected 1 to 256, found \(lanes)")
        }
        return lanes
    }

    /// What is doubtful about the campaign, whatever its rows say. Errors would have been thrown.
    public var warnings: [CampaignFinding] { (plan.findings + providers.findings).filter { $0.severity == .warning } }

    /// Takes no more rows, waits a while for answers, and lets ``run()`` return. Rows not taken are not sent; a
    /// resumed run sends them.
    public func stop() { control.stop(.interrupted) }

    /// Like ``stop()``, but waits for no answer: rows under way end as ``Outcome/unknown``. The results are complete all the
    /// same.
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
        var progress = CampaignProgress(
            gauges, reader, started: started.withLock { $0 }, before: past?.reading.history.tally ?? Tally())
        progress.isPaused = control.paused
        progress.isCanary = control.isCanary
        return progress
    }

    /// Sends the campaign. Call it once.
    ///
    /// Failures on the way (a fatal answer, APNs out of reach, a full disk) end the run in order and stand in the summary
    /// and in ``failure``. The summary is in the run directory too, as `summary.json`.
    public func run() async -> CampaignSummary {
        do throws(TransportError) {
            return try await LaneThread.value(name: "campaign") { [self] in runToEnd() }
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)")))
            past?.ledger.unlock()
            return summarize(Ended(), seconds: 0)
        }
    }

    /// What the threads of a run came to.
    private struct Ended {
        var tally = Tally()
        var reasons = AnswerReasons()
        var loop = LoopKind.automatic
        var ledgerSeconds = 0.0
        var tokens: (duplicate: DuplicateTokens?, unusual: UnusualTokens?)
    }

    /// On the campaign's own thread: starts the others, joins them in the order of the rows' way, sums up.
    private func runToEnd() -> CampaignSummary {
        let begin = WallClock.monotonic()
        started.withLock { $0 = begin }
        var ended = Ended()
        // The directory may be another process's: nothing is written into it before the ledger is ours.
        var isOurs = past != nil
        do throws(CampaignError) {
            let ledger = try openLedger()
            isOurs = true
            defer { ledger.close() }
            ended = try sendAll(ledger)
        } catch {
            control.stop(.failure(error))
            past?.ledger.unlock()
        }
        let summary = summarize(ended, seconds: WallClock.monotonic() - begin)
        guard isOurs else { return summary }
        do {
            try RunDirectory.write(summary, to: directory)
            return summary
        } catch {
            control.stop(.failure(error))
            return summarize(ended, seconds: summary.elapsedSeconds)
        }
    }

    /// Begins the ledger, or goes on with it: what was torn is cut, and `results.csv` is made what it says.
    func openLedger() throws(CampaignError) -> RunLedger {
        let storage: any LedgerStorage
        if let past { storage = past.ledger } else { storage = try files.makeLedger() }
        let results = try files.results()
        if let past {
            try goOn(past, results)
        } else {
            try Self.asResult { () throws(StorageError) in
                try results.truncate(to: 0)
                try results.append(ResultLines.headerBytes)
            }
        }
        let ledger = RunLedger(
            ledger: storage, results: results, board: try files.makeBoard(slots: reader.reader.bufferCount))
        try Self.asResult { () throws(StorageError) in
            try ledger.begin(session, header: past == nil ? header : nil)
        }
        return ledger
    }

    private func goOn(_ past: RunPast, _ results: any LedgerStorage) throws(CampaignError) {
        try Self.asResult { () throws(StorageError) in
            try past.ledger.truncate(to: past.reading.length)
            if past.isReopening { try RunLedger.reopen(past.ledger) }
        }
        var repair = ResultsRepair(results: results, past: past, name: directory)
        try repair.run(past.reading)
        try Self.asResult { () throws(StorageError) in
            try RunLedger.settle(past.ledger, resultsLength: results.length, handed: past.newlyHanded)
        }
    }

    private static func asResult(_ body: () throws(StorageError) -> Void) throws(CampaignError) {
        do {
            try body()
        } catch {
            throw CampaignError(.results, "\(error)")
        }
    }

    private var session: LedgerSession {
        LedgerSession(
            number: (past?.reading.history.session?.number ?? 0) + 1, process: UInt32(getpid()),
            time: plan.surroundings.seconds(), boot: files.boot, policy: plan.onUnknown,
            note: past == nil || header.note == past?.header.note ? [] : header.note)
    }

    private func sendAll(_ ledger: RunLedger) throws(CampaignError) -> Ended {
        let exchange = OutcomeExchange(lanes: gauges.count)
        let writer = ResultsWriter(
            ledger: ledger, campaign: plan.identity, reasons: past?.reading.history.reasons ?? AnswerReasons(),
            exchange: exchange, control: control, interval: UInt64(syncInterval) * 1_000_000)
        let crew = LaneCrew(
            plan: plan, control: control, gauges: gauges, addresses: addresses, providers: providers, input: reader,
            exchange: exchange, handOver: ledger.board)
        control.notify { [reader] in
            reader.cancel()
            crew.wake()
        }
        do throws(TransportError) {
            let writing = try LaneThread(name: "writer") { writer.run() }
            sendRows(crew, ledger)
            exchange.filled.close()
            writing.join()
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)")))
        }
        control.notifyNobody()
        let written = writer.finish()
        return Ended(
            tally: written.tally, reasons: written.reasons, loop: crew.loop, ledgerSeconds: ledger.cpuSeconds,
            tokens: writer.tokenFindings)
    }

    /// Reader and lanes; returns when all have ended.
    private func sendRows(_ crew: LaneCrew, _ ledger: RunLedger) {
        do throws(TransportError) {
            let reading = try LaneThread(name: "reader") { [self] in
                let announcer = RangeAnnouncer(reader, ledger: ledger, past: past?.ranges ?? [])
                reader.run(announcer, control: control, wake: crew.wake)
            }
            crew.run()
            reader.cancel()
            reading.join()
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)")))
        }
    }

    private func summarize(
        _ ended: Ended, seconds: Double
    ) -> CampaignSummary {
        let tally = ended.tally + (past?.reading.history.tally ?? Tally())
        let stop = control.stopCause
        let ending: CampaignSummary.Ending =
            switch stop {
            case nil: .complete
            case .interrupted: .interrupted
            case .failure: .failed
            }
        return CampaignSummary(
            rows: tally.rows, accepted: tally.accepted, rejected: tally.rejected, unavailable: tally.unavailable,
            invalid: tally.invalid, unknown: tally.unknown, expired: tally.expired, suppressed: tally.suppressed,
            attempts: tally.attempts,
            elapsedSeconds: seconds, acceptedPerSecond: seconds > 0 ? Double(ended.tally.accepted) / seconds : 0,
            cpuSeconds: ProcessUsage.cpuSeconds, ledgerCPUSeconds: ended.ledgerSeconds,
            peakRSSBytes: ProcessUsage.peakRSSBytes,
            loop: ended.loop.name, connections: gauges.reduce(0) { $0 + $1.reading.opened },
            reasons: ended.reasons.rejected.byName, unavailableReasons: ended.reasons.unavailable.byName,
            ending: ending,
            cause: failure?.description, duplicateTokens: ended.tokens.duplicate, unusualTokens: ended.tokens.unusual)
    }
}
