import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Logging
import Synchronization

/// Sends single notifications for as long as a program runs, over connections that stay open.
///
/// ``run()`` is the life of the sender: it opens connections, and returns after ``shutDown()``. Meanwhile any number of tasks
/// send. What APNs answers is a value, ``SendResult``; a ``SendError`` describes what happened on the way, and how far the request
/// got.
///
/// ```swift
/// let sender = try Sender(.init(destination: .production, credentials: credentials))
/// async let running: Void = sender.run()
/// let result = try await sender.send(
///     PushNotification(deviceToken: token, topic: "com.example.app", payload: #"{"aps":{"alert":"Hello"}}"#))
/// if result.status == 410 { /* The token is not active any more. */ }
/// sender.shutDown()
/// try await running
/// ```
///
/// A notification is checked by the rules of a campaign's rows (docs/reference/rules.md); one that breaks a rule ends as
/// ``Outcome/invalid`` and is not sent. A sender keeps no record: what is pending when its process is killed is lost.
///
/// Threads: a sender has its lanes, each with an event loop. All functions may be called from any thread at any time.
public final class Sender: Sendable {
    private enum Life {
        case new
        case running
        case ended
    }

    /// How a sender is doing, for health checks.
    public struct Status: Sendable, Equatable {
        /// Whether ``Sender/run()`` has been called and has not returned.
        public var isRunning: Bool
        /// The number of connections that are up.
        public var connections: Int
        /// The number of notifications without a result.
        public var pending: Int
        /// The number of requests in flight.
        public var inFlight: Int
        /// Why notifications wait, such as a host that cannot be reached; nil if they do not.
        public var waiting: String?
    }

    let configuration: Configuration
    private let logger: Logger
    private let surroundings: Surroundings
    private let rate: RunRate
    /// Nil if metrics are discarded.
    let meter: SenderMeter?
    private let devices: SendEngine
    private let engines: Guarded<Engines>
    private let life = Guarded(Life.new)
    /// The engines for ``run()``.
    private let added = AsyncStream<SendEngine>.makeStream()
    /// In nanoseconds.
    private let timeout: UInt64
    private let gracePeriod: UInt64

    /// The engines of a sender. Those for broadcasts are made when they are needed.
    private struct Engines {
        var all: [SendEngine]
        /// By bundle id.
        var broadcasts: [String: SendEngine] = [:]
        var credentials: [Campaign.Provider]
        /// Whether no notification is taken any more.
        var isClosed = false
    }

    /// Creates a sender. It opens nothing and waits for nothing before it runs.
    ///
    /// - Parameters:
    ///   - configuration: The settings. Credentials are read and checked now.
    ///   - logger: Receives messages about connections, retries and failures. Device tokens are shortened in them, and secrets
    ///     never appear.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``.
    ///
    /// With the trait `Metrics`, the factory of the current task receives its metrics, or else that of the process.
    public convenience init(
        _ configuration: Configuration, logger: Logger = .current
    ) throws(CampaignError) {
        try self.init(configuration, logger: logger, surroundings: .system)
    }

    /// - Parameter surroundings: Used in place of the system.
    package init(
        _ configuration: Configuration, logger: Logger, metrics: MetricsReceiver = .current, surroundings: Surroundings
    ) throws(CampaignError) {
        (self.configuration, self.logger, self.surroundings) = (configuration, logger, surroundings)
        timeout = try Configuration.nanoseconds(configuration.timeout, "timeout")
        gracePeriod = try Configuration.nanoseconds(configuration.gracePeriod, "grace period")
        rate = RunRate(configuration.rateLimit)
        meter = SenderMeter(metrics, name: configuration.name)
        devices = try SendEngine(
            configuration, to: .devices, rate: rate, logger: logger, onChange: meter?.onChange,
            surroundings: surroundings)
        meter?.add(devices)
        engines = Guarded(Engines(all: [devices], credentials: configuration.providers))
        added.continuation.yield(devices)
    }

    // MARK: Life

    /// Runs the sender, until ``shutDown()`` is called, its service group shuts down in order, or the task is cancelled. Call it
    /// once.
    ///
    /// When the task is cancelled, answers are not awaited: what is pending ends with an error.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/system`` if the system denies threads, memory or descriptors, or
    ///   ``SendError`` if the sender ran before.
    public func run() async throws {
        let isFirst = life.withLock { life in
            defer { if life == .new { life = .running } }
            return life == .new
        }
        guard isFirst else { throw SendError(.notRunning, .notSent, "run() was called before, or after shutDown()") }
        await Shutdown.handled(work, atOnce: stopAtOnce, inOrder: shutDown)
        let all = close(grace: 0)
        life.withLock { $0 = .ended }
        for engine in all { engine.mailbox.end() }
        meter?.end()
        for engine in all { if let failure = engine.failure { throw failure } }
    }

    private func work() async {
        await withDiscardingTaskGroup { group in
            for await engine in added.stream {
                group.addTask { [self] in
                    await engine.work()
                    // Without its lanes the sender is of no use.
                    if engine.failure != nil { stopAtOnce() }
                }
            }
        }
    }

    private func stopAtOnce() { for engine in close(grace: 0) { engine.stopAtOnce() } }

    /// Takes no more notifications, and sends what it has, as long as the answers can come within ``Configuration/gracePeriod``: in at most
    /// the first half of it, and not in its last part, in which the answers take that are usual (99 of 100). The others end with an error and
    /// ``Arrival/notSent`` then. ``run()`` returns when everything has ended, or after the grace period; what has no answer then may have
    /// arrived.
    public func shutDown() {
        let wasNew = life.withLock { life in
            defer { if life == .new { life = .ended } }
            return life == .new
        }
        let all = close(grace: gracePeriod)
        if wasNew { for engine in all { engine.mailbox.end() } }
    }

    /// Closes the mailboxes. No engine is added afterwards. Returns all engines.
    private func close(grace: UInt64) -> [SendEngine] {
        let all = engines.withLock { engines in
            engines.isClosed = true
            return engines.all
        }
        let now = SystemClock.monotonic()
        for engine in all { engine.close(now: now, grace: grace) }
        added.continuation.finish()
        return all
    }

    /// Replaces keys and certificates, as ``CampaignRun/replaceCredentials(_:)`` does.
    ///
    /// - Returns: The indices of the providers whose credentials changed.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``; then nothing changes.
    @discardableResult
    public func replaceCredentials(_ providers: [Campaign.Provider]) throws(CampaignError) -> [Int] {
        try engines.withLock { (engines) throws(CampaignError) in
            let changed = try devices.replaceCredentials(providers)
            engines.credentials = providers
            // They have the same providers, so what one of them accepts, all do.
            for engine in engines.broadcasts.values { _ = try engine.replaceCredentials(providers) }
            return changed
        }
    }

    /// The credentials in use.
    var credentials: [Campaign.Provider] { engines.withLock { $0.credentials } }

    /// The current state of the sender.
    public var status: Status {
        let (progress, all) = (progress, engines.withLock { $0.all })
        return Status(
            isRunning: life.withLock { $0 } == .running, connections: progress.connections,
            pending: all.reduce(0) { $0 + $1.mailbox.pending }, inFlight: progress.inFlight,
            waiting: all.lazy.compactMap(\.waiting).first)
    }

    /// What the lanes show.
    package var progress: CampaignProgress {
        var progress = CampaignProgress()
        for engine in engines.withLock({ $0.all }) { engine.add(to: &progress) }
        return progress
    }

    /// The number of times that the lanes have looked at their connections; it stands still while the sender is idle.
    package var turns: UInt64 { engines.withLock { $0.all }.reduce(0) { $0 + $1.turns } }

    // MARK: Sending

    /// Sends a notification, and returns its result. It waits while as many notifications as the sender works on at once are
    /// pending, and before the sender runs.
    ///
    /// When the task is cancelled, a notification that has not left is not sent, and one whose request is under way is not
    /// sent again; ``SendError/arrival`` shows which it was.
    ///
    /// - Parameters:
    ///   - notification: The notification. If it breaks a rule, the result is ``Outcome/invalid``, and nothing is sent.
    ///   - timeout: The longest time until there is a result; nil for ``Configuration/timeout``.
    /// - Throws: ``SendError``, when there is no result. What APNs answers is a result, whatever it is.
    nonisolated(nonsending) public func send(
        _ notification: PushNotification, timeout: Duration? = nil
    ) async throws(SendError) -> SendResult {
        let span = SendSpan.begin("apns.send", topic: notification.topic, notification.pushType)
        return try await result(of: fields(of: notification), timeout, from: devices, span)
    }

    /// Sends a notification to the subscribers of a channel, and returns its result, like ``send(_:timeout:)``. Broadcasts of an
    /// app have connections of their own, which are opened with the first one.
    ///
    /// - Parameters:
    ///   - notification: The notification. If it breaks a rule, the result is ``Outcome/invalid``, and nothing is sent.
    ///   - timeout: The longest time until there is a result; nil for ``Configuration/timeout``.
    /// - Throws: ``SendError``, or ``CampaignError`` with the code ``CampaignError/Code/configuration`` if the bundle id is not one, or
    ///   if no provider covers it.
    public func broadcast(_ notification: BroadcastNotification, timeout: Duration? = nil) async throws -> SendResult {
        let engine = try engine(ofChannelsOf: notification.bundleID)
        let span = SendSpan.begin("apns.broadcast", topic: notification.bundleID, nil)
        let fields = SubmittedFields.of(notification, seconds: surroundings.seconds)
        return try await result(of: fields, timeout, from: engine, span)
    }

    private func engine(ofChannelsOf bundleID: String) throws(CampaignError) -> SendEngine {
        try engines.withLock { (engines) throws(CampaignError) in
            if let engine = engines.broadcasts[bundleID] { return engine }
            var current = configuration
            current.providers = engines.credentials
            let engine = try SendEngine(
                current, to: .channels(bundleID: bundleID), rate: rate, logger: logger,
                onChange: meter?.onChange, surroundings: surroundings)
            meter?.add(engine)
            if engines.isClosed { engine.close(now: SystemClock.monotonic(), grace: 0) }
            engines.broadcasts[bundleID] = engine
            engines.all.append(engine)
            added.continuation.yield(engine)
            return engine
        }
    }

    nonisolated(nonsending) private func result(
        of fields: SubmittedFields, _ timeout: Duration?, from engine: SendEngine, _ span: SendSpan?
    ) async throws(SendError) -> SendResult {
        let (awaited, mailbox) = (AwaitedSend(), engine.mailbox)
        await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                unsafe awaited.begin(continuation)
                do throws(SendError) {
                    let id = try submit(fields, timeout, to: mailbox, owner: awaited)
                    if let id, awaited.didSubmit(id) { mailbox.cancel(id) }
                } catch {
                    unsafe awaited.submissionDidEnd(.failure(error), tag: 0)?.resume()
                }
            }
        } onCancel: {
            awaited.cancel().map(mailbox.cancel)
        }
        let end = awaited.takeEnd()
        span?.end(with: end)
        return try end.get()
    }

    /// Submits a notification, and returns without waiting.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - timeout: The longest time until there is a result; nil for ``Configuration/timeout``.
    /// - Returns: The ticket with which its result is awaited. Nil if ``Configuration/pending`` notifications are pending.
    /// - Throws: ``SendError`` with the code ``SendError/Code/shuttingDown``, after ``shutDown()``.
    public func trySend(_ notification: PushNotification, timeout: Duration? = nil) throws(SendError) -> SendTicket? {
        let pending = PendingResult()
        let id = try submit(fields(of: notification), timeout, onlyIfRoom: true, owner: pending)
        return id.map { SendTicket(pending, id: $0, devices.mailbox) }
    }

    /// Copies the fields of a notification.
    func fields(of notification: PushNotification) -> SubmittedFields {
        SubmittedFields.of(notification, seconds: surroundings.seconds)
    }

    /// - Parameter mailbox: That of the engine for devices, unless another is given.
    func submit(
        _ fields: SubmittedFields, _ timeout: Duration?, to mailbox: Mailbox? = nil, onlyIfRoom: Bool = false,
        owner: any SubmissionOwner, tag: Int = 0
    ) throws(SendError) -> UInt64? {
        let deadline = SystemClock.monotonic() + (timeout?.nanoseconds ?? self.timeout)
        let mailbox = mailbox ?? devices.mailbox
        let id = try mailbox.submit(fields, deadline: deadline, onlyIfRoom: onlyIfRoom, owner: owner, tag: tag)
        if !isWatched.load(ordering: .relaxed) { watch() }
        return id
    }

    func cancel(_ id: UInt64) { devices.mailbox.cancel(id) }

    func cancelAll(of owner: any SubmissionOwner) { devices.mailbox.cancelAll(of: owner) }

    // MARK: Before it runs

    private let isWatched = Atomic<Bool>(false)

    /// Ends notifications whose time is over before the sender runs; later its lanes do.
    private func watch() {
        guard !isWatched.exchange(true, ordering: .relaxed) else { return }
        Task { [weak self] in
            while let self, self.life.withLock({ $0 }) == .new {
                for engine in self.engines.withLock({ $0.all }) {
                    _ = engine.mailbox.tick(now: SystemClock.monotonic())
                }
                try? await Task.sleep(nanoseconds: 20_000_000)
            }
        }
    }
}
