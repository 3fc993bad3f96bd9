import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Logging
import Synchronization

/// Sends single notifications for as long as a program runs, over connections that stay open.
///
/// ``run()`` is the life of the sender: it opens connections, and returns after ``shutDown()``. Meanwhile any number of tasks
/// send. What APNs answers is a value, ``SendResult``; a ``SendError`` says what happened on the way, and how far the request
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
/// A notification is checked by the rules of a campaign's rows (docs/reference.md); one that breaks a rule ends as
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

    private let plan: CampaignPlan
    private let control = RunControl()
    private let mailbox: Mailbox
    private let providers: ProviderDirectory
    private let gauges: [LaneGauges]
    private let crew: LaneCrew
    private let life = Guarded(Life.new)
    /// In nanoseconds.
    private let timeout: UInt64
    private let gracePeriod: UInt64

    /// Creates a sender. It opens nothing and waits for nothing before it runs.
    ///
    /// - Parameter logger: Receives messages about connections, retries and failures. Device tokens are shortened in them, and
    ///   secrets never appear.
    /// - Throws: ``CampaignError`` of kind ``CampaignError/Kind/configuration``.
    public convenience init(
        _ configuration: Configuration, logger: Logger = Logger(label: "apns-batch") { _ in SwiftLogNoOpLogHandler() }
    ) throws(CampaignError) {
        try self.init(configuration, logger: logger, surroundings: .system)
    }

    /// - Parameter surroundings: Used in place of the system.
    package init(_ configuration: Configuration, logger: Logger, surroundings: Surroundings) throws(CampaignError) {
        let campaign = try configuration.campaign()
        timeout = try Configuration.nanoseconds(configuration.timeout, "timeout")
        gracePeriod = try Configuration.nanoseconds(configuration.gracePeriod, "grace period")
        plan = try CampaignPlan(campaign, input: .ofSender, logger: logger, isService: true, surroundings: surroundings)
        providers = try ProviderDirectory(campaign, plan: plan)
        let lanes = configuration.lanes
        gauges = (0..<lanes).map { _ in LaneGauges() }
        mailbox = Mailbox(lanes: lanes, most: configuration.pending, seconds: surroundings.seconds)
        crew = LaneCrew(
            plan: plan, control: control, gauges: gauges,
            addresses: AddressBook(host: plan.peer.host, port: plan.peer.port, surroundings: surroundings),
            providers: providers, input: .mailbox(mailbox), rate: RunRate(configuration.rateLimit),
            exchange: OutcomeExchange(lanes: lanes) { [mailbox, plan] in mailbox.end($0, campaign: plan.identity) })
    }

    deinit { mailbox.end() }

    // MARK: Life

    /// Runs the sender, until ``shutDown()`` is called or the task is cancelled. Call it once.
    ///
    /// When the task is cancelled, answers are not awaited: what is pending ends with an error.
    ///
    /// - Throws: ``CampaignError`` of kind ``CampaignError/Kind/system`` if the system denies threads, memory or descriptors, or
    ///   ``SendError`` if the sender ran before.
    public func run() async throws {
        let isFirst = life.withLock { life in
            defer { if life == .new { life = .running } }
            return life == .new
        }
        guard isFirst else { throw SendError(.notRunning, .notSent, "run() was called before, or after shutDown()") }
        await withTaskCancellationHandler {
            await work()
        } onCancel: {
            control.stopAtOnce()
        }
        if case .failure(let error) = control.stopCause { throw error }
    }

    private func work() async {
        mailbox.attach(wake: crew.wake, explain: { [gauges] in Self.explain(gauges) })
        control.notify { [crew] in crew.wake() }
        do throws(ThreadError) {
            try await NamedThread.value("sender") { [crew] in crew.run() }
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)")))
        }
        life.withLock { $0 = .ended }
        control.notifyNobody()
        mailbox.detach()
        mailbox.end()
    }

    /// Takes no more notifications, and sends what it has. ``run()`` returns when everything has its result, or after
    /// ``Configuration/gracePeriod``; what is pending then ends with an error.
    public func shutDown() {
        let wasNew = life.withLock { life in
            defer { if life == .new { life = .ended } }
            return life == .new
        }
        if wasNew { return mailbox.end() }
        mailbox.close(graceEnds: SystemClock.monotonic() + gracePeriod)
    }

    /// Replaces keys and certificates, as ``CampaignRun/replaceCredentials(_:)`` does.
    ///
    /// - Returns: The indices of the providers whose credentials changed.
    /// - Throws: ``CampaignError`` of kind ``CampaignError/Kind/configuration``; then nothing changes.
    @discardableResult
    public func replaceCredentials(_ providers: [Campaign.Provider]) throws(CampaignError) -> [Int] {
        let changed = try self.providers.replace(providers)
        crew.wake()
        return changed
    }

    /// The current state of the sender.
    public var status: Status {
        let progress = progress
        return Status(
            isRunning: life.withLock { $0 } == .running, connections: progress.connections, pending: mailbox.pending,
            inFlight: progress.inFlight, waiting: Self.explain(gauges))
    }

    /// What the lanes show.
    package var progress: CampaignProgress {
        var progress = CampaignProgress()
        for gauge in gauges { gauge.add(to: &progress, withAccount: false) }
        return progress
    }

    /// The number of times that the lanes have looked at their connections; it stands still while the sender is idle.
    package var turns: UInt64 { gauges.reduce(0) { $0 + $1.turns } }

    /// Returns why notifications wait; nil if they do not, or not because of connections.
    private static func explain(_ gauges: [LaneGauges]) -> String? {
        for gauge in gauges {
            guard case .waiting(let reason) = gauge.activity else { continue }
            if case .unreachable(let cause, _) = reason { return cause }
            return "\(reason)"
        }
        return nil
    }

    // MARK: Sending

    /// Sends a notification, and returns its result. It waits while as many notifications as the sender works on at once are
    /// pending, and before the sender runs.
    ///
    /// When the task is cancelled, a notification that has not left is not sent, and one whose request is under way is not
    /// sent again; ``SendError/arrival`` says which it was.
    ///
    /// - Parameter timeout: The longest time until there is a result; nil for ``Configuration/timeout``.
    public func send(
        _ notification: PushNotification, timeout: Duration? = nil
    ) async throws(SendError) -> SendResult {
        let awaited = AwaitedSend()
        let end = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                awaited.begin(continuation)
                do throws(SendError) {
                    awaited.id = try submit(notification, timeout, owner: awaited)
                    if Task.isCancelled { awaited.id.map(mailbox.cancel) }
                } catch {
                    awaited.submissionDidEnd(.failure(error))
                }
            }
        } onCancel: { [mailbox] in
            awaited.id.map(mailbox.cancel)
        }
        return try end.get()
    }

    /// Submits a notification, and returns without waiting.
    ///
    /// - Parameter timeout: The longest time until there is a result; nil for ``Configuration/timeout``.
    /// - Returns: The ticket with which its result is awaited. Nil if as many notifications as the sender works on at once are
    ///   pending.
    public func trySend(_ notification: PushNotification, timeout: Duration? = nil) throws(SendError) -> SendTicket? {
        let pending = PendingResult()
        let id = try submit(notification, timeout, onlyIfRoom: true, owner: pending)
        return id.map { SendTicket(pending, id: $0, mailbox) }
    }

    func submit(
        _ notification: PushNotification, _ timeout: Duration?, onlyIfRoom: Bool = false,
        owner: any SubmissionOwner
    ) throws(SendError) -> UInt64? {
        let deadline = SystemClock.monotonic() + (timeout.map(Configuration.nanoseconds) ?? self.timeout)
        let id = try mailbox.submit(notification, deadline: deadline, onlyIfRoom: onlyIfRoom, owner: owner)
        if !isWatched.load(ordering: .relaxed) { watch() }
        return id
    }

    func cancel(_ id: UInt64) { mailbox.cancel(id) }

    // MARK: Before it runs

    private let isWatched = Atomic<Bool>(false)

    /// Ends notifications whose time is over before the sender runs; later its lanes do.
    private func watch() {
        guard !isWatched.exchange(true, ordering: .relaxed) else { return }
        Task { [weak self] in
            while let self, self.life.withLock({ $0 }) == .new {
                _ = self.mailbox.tick(now: SystemClock.monotonic())
                try? await Task.sleep(nanoseconds: 20_000_000)
            }
        }
    }
}
