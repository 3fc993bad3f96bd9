import APNSProtocol
import CSVReader
import Glibc
import LaneTransport
import Logging

/// One run of a campaign.
///
/// Making a run compiles the template, reads the key and the CSV's header row, resolves the host and makes the run
/// directory; whatever is wrong with the campaign shows there, before anything is sent. ``run()`` then sends and returns when
/// every row that was taken has its line in `results.csv`.
///
/// Threads: one reader, the lanes, one writer; ``progress``, ``stop()`` and
/// ``replaceCredentials(_:)`` may be used from anywhere at any time.
public final class CampaignRun: Sendable {
    /// The run directory.
    public let directory: String

    private let plan: CampaignPlan
    private let control: RunControl
    private let reader: InputReader
    private let gauges: [LaneGauges]
    private let addresses: AddressBook
    private let providers: ProviderDirectory
    private let started = Guarded<Double?>(nil)

    /// - Parameter logger: where connections, retries and failures are reported; tokens are shortened there and secrets
    ///   never appear.
    /// - Throws: ``CampaignError`` with ``CampaignError/Kind/configuration``, `input`, `results` or `unreachable`.
    public convenience init(
        _ campaign: Campaign, logger: Logger = Logger(label: "apns-batch") { _ in SwiftLogNoOpLogHandler() }
    ) throws(CampaignError) {
        try self.init(campaign, logger: logger, surroundings: .system)
    }

    init(_ campaign: Campaign, logger: Logger, surroundings: Surroundings) throws(CampaignError) {
        let lanes = try Self.lanes(of: campaign)
        reader = try InputReader(campaign, lanes: lanes)
        plan = try CampaignPlan(campaign, columns: reader.columns, logger: logger, surroundings: surroundings)
        control = RunControl(canary: plan.canary != nil)
        try plan.refuseBrokenTemplates()
        providers = try ProviderDirectory(campaign, plan: plan)
        addresses = try AddressBook(host: plan.host, port: plan.port, surroundings: surroundings)
        gauges = (0..<lanes).map { _ in LaneGauges() }
        directory = try RunDirectory.make(campaign.runDirectory)
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

    /// Takes no more rows, waits a while for answers, and lets ``run()`` return. Rows not taken are not sent.
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
        var progress = CampaignProgress(gauges, reader, started: started.withLock { $0 })
        progress.isPaused = control.paused
        progress.isCanary = control.isCanary
        return progress
    }

    /// Sends the campaign. Call it once.
    ///
    /// Failures on the way (a fatal answer, APNs out of reach, a full disk) end the run in order and stand in the summary
    /// and in ``failure``. The summary is in the run directory too, as `summary.json`.
    public func run() async -> CampaignSummary {
        await withCheckedContinuation { continuation in
            LaneThread.detached(name: "campaign") { [self] in continuation.resume(returning: runToEnd()) }
        }
    }

    /// On the campaign's own thread: starts the others, joins them in the order of the rows' way, sums up.
    private func runToEnd() -> CampaignSummary {
        let begin = WallClock.monotonic()
        started.withLock { $0 = begin }
        let exchange = OutcomeExchange(lanes: gauges.count)
        let results: (tally: Tally, reasons: [Reason: UInt64], loop: LoopKind)
        do {
            results = try sendAll(exchange)
        } catch {
            control.stop(.failure(error))
            results = (Tally(), [:], .automatic)
        }
        let summary = summarize(results.tally, results.reasons, results.loop, seconds: WallClock.monotonic() - begin)
        do {
            try RunDirectory.write(summary, to: directory)
        } catch {
            control.stop(.failure(error))
        }
        return summary
    }

    private func sendAll(
        _ exchange: OutcomeExchange
    ) throws(CampaignError) -> (Tally, [Reason: UInt64], LoopKind) {
        let writer = try ResultsWriter(
            path: "\(directory)/\(RunDirectory.results)", campaign: plan.identity, exchange: exchange, control: control)
        let crew = LaneCrew(
            plan: plan, control: control, gauges: gauges, addresses: addresses, providers: providers, input: reader,
            exchange: exchange)
        control.notify { [reader] in
            reader.cancel()
            crew.wake()
        }
        let writing = LaneThread(name: "writer") { writer.run() }
        let reading = LaneThread(name: "reader") { [self] in reader.run(control: control, wake: crew.wake) }
        crew.run()
        reader.cancel()
        reading.join()
        exchange.filled.close()
        writing.join()
        control.notifyNobody()
        return (crew.tally, writer.finish().reasons, crew.loop)
    }

    private func summarize(
        _ tally: Tally, _ reasons: [Reason: UInt64], _ loop: LoopKind, seconds: Double
    ) -> CampaignSummary {
        let stop = control.stopCause
        let ending: CampaignSummary.Ending =
            switch stop {
            case nil: .complete
            case .interrupted: .interrupted
            case .failure: .failed
            }
        return CampaignSummary(
            rows: tally.rows, accepted: tally.accepted, rejected: tally.rejected, invalid: tally.invalid,
            unknown: tally.unknown, expired: tally.expired, suppressed: tally.suppressed, attempts: tally.attempts,
            elapsedSeconds: seconds, acceptedPerSecond: seconds > 0 ? Double(tally.accepted) / seconds : 0,
            cpuSeconds: ProcessUsage.cpuSeconds, peakRSSBytes: ProcessUsage.peakRSSBytes,
            loop: loop.name, connections: gauges.reduce(0) { $0 + $1.reading.opened },
            reasons: Dictionary(reasons.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: +), ending: ending,
            cause: failure?.description)
    }
}
