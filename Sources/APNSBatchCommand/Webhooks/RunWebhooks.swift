import APNSBatch
import APNSBatchBasics
import APNSBatchWebhooks
import Foundation
import Synchronization

/// Tells the endpoints of `webhooks` of the events of a run. Each event is in the outbox of the run before its first attempt, so
/// that it survives this process. The run waits for nothing of it before its end.
final class RunWebhooks: Sendable {
    private let endpoints: [WebhookEndpoint]
    private let campaign: String
    /// The run directory that the settings name; nil if they leave it to the run.
    private let runDirectory: String?
    private let state = Mutex(State())

    private struct State {
        /// The outbox of the run, and those of earlier nights.
        var outboxes: [Outbox] = []
        /// The events that are in no outbox.
        var unstored: [OutboxEntry] = []
        var following: [Task<Void, Never>] = []
        /// The number of changes of the run that were looked at.
        var changes = 0
    }

    /// How long the end of the process is held up.
    private static let patience = Duration.seconds(45)

    /// - Throws: ``UsageError`` if a setting is wrong or a file cannot be used.
    init(_ call: CampaignCall) throws {
        do {
            endpoints = try WebhookEndpoint.all(call.settings.values["webhooks"])
            for endpoint in endpoints { try endpoint.check() }
        } catch let error as UsageError {
            throw UsageError("webhooks: \(error)", cause: error)
        }
        campaign = call.name ?? "campaign"
        runDirectory = call.settings.runDir
    }

    // MARK: During a run

    /// Tells that a run has begun, and of its pauses, until ``note(_:)``. Also delivers what earlier runs have left.
    func begin(_ run: CampaignRun) {
        guard !endpoints.isEmpty else { return }
        open(run.directory)
        state.withLock { $0.changes = run.changes.count }
        do {
            try Outbox(ofRunIn: run.directory).beginRun()
        } catch {
            complain("warning: webhooks: \(error)")
        }
        post(.started, at: Int64(SystemClock.seconds()), facts(run.directory))
        let tasks = [Task { await watch(run) }, Task { await deliver() }]
        state.withLock { $0.following = tasks }
    }

    private func open(_ directory: String) {
        let outboxes = [Outbox(ofRunIn: directory)] + Outbox.besides(directory)
        state.withLock { $0.outboxes = outboxes }
    }

    /// Looks once a second whether the run was paused or continued.
    private func watch(_ run: CampaignRun) async {
        repeat { lookForPauses(run) } while (try? await Task.sleep(for: .seconds(1))) != nil
        lookForPauses(run)
    }

    private func lookForPauses(_ run: CampaignRun) {
        let all = run.changes
        let fresh = state.withLock { state in
            defer { state.changes = all.count }
            return all.dropFirst(state.changes)
        }
        for change in fresh {
            let kinds: [String: WebhookEvent.Kind] = ["paused": .paused, "continued": .resumed]
            guard let kind = kinds[change.text] else { continue }
            post(kind, at: Int64(clamping: change.time), facts(run.directory))
        }
    }

    /// The time of a clock that is never set, in seconds.
    private static var steadyNow: Int64 { Int64(SystemClock.monotonicSeconds()) }

    /// Delivers what is due until the task is cancelled. A pass that has begun continues to its end.
    private func deliver() async {
        var schedule = DeliverySchedule()
        repeat {
            for outbox in state.withLock({ $0.outboxes }) where !Task.isCancelled {
                let pass = OutboxPass(outbox: outbox, campaign: campaign) { [schedule] in
                    schedule.isDue($0, now: Self.steadyNow, wallClock: $1)
                }
                let outcome = await Task { await pass.make() }.value
                for urlFile in outcome.failures.keys { schedule.noteFailure(of: urlFile, now: Self.steadyNow) }
                for urlFile in outcome.reached { schedule.noteSuccess(of: urlFile) }
            }
        } while (try? await Task.sleep(for: .seconds(1))) != nil
    }

    // MARK: Events

    private func facts(_ directory: String?) -> WebhookEvent.Facts { .init(of: campaign, in: directory) }

    /// Writes an event into the outbox, once for each endpoint that requests it.
    private func post(_ kind: WebhookEvent.Kind, at time: Int64, _ facts: WebhookEvent.Facts) {
        let event = WebhookEvent(kind, at: time, facts)
        let outbox = state.withLock { $0.outboxes.first }
        for endpoint in endpoints where endpoint.events.contains(kind) && outbox?.isGone(endpoint.urlFile) != true {
            do {
                let entry = try OutboxEntry(
                    event, urlFile: endpoint.urlFile, secretFile: endpoint.secretFile, timeout: endpoint.timeout)
                store(entry, in: outbox)
            } catch {
                complain("warning: webhooks: the event \"\(kind.rawValue)\" cannot be delivered: \(error)")
            }
        }
    }

    private func store(_ entry: OutboxEntry, in outbox: Outbox?) {
        do {
            if let outbox { return try outbox.add(entry) }
        } catch {
            complain("warning: webhooks: \(entry.shown) cannot be kept in the outbox: \(error)")
        }
        state.withLock { $0.unstored.append(entry) }
    }

    // MARK: The end

    /// Notes how the run ended, or that it did not begin. ``finish()`` delivers it.
    func note(_ end: RunEnd) async {
        guard !endpoints.isEmpty else { return }
        let tasks = state.withLock { $0.following }
        for task in tasks { task.cancel() }
        await tasks.first?.value
        let directory = end.directory.isEmpty ? begunDirectory : end.directory
        if let directory, state.withLock({ $0.outboxes.isEmpty }) { open(directory) }
        post(end, in: directory)
    }

    private func post(_ end: RunEnd, in directory: String?) {
        post(WebhookEvent.Kind(end), at: Int64(SystemClock.seconds()), .init(of: campaign, in: directory, end))
        if !end.directory.isEmpty { state.withLock { $0.outboxes.first }?.endRun() }
    }

    /// The directory of a run that could not be continued.
    private var begunDirectory: String? {
        runDirectory.flatMap { (try? RunOpening(ifBegunIn: $0)) == nil ? nil : $0 }
    }

    /// Delivers what waits, within a limited time. The rest stays in the outbox, and a warning reports it.
    func finish() async {
        guard !endpoints.isEmpty else { return }
        let deadline = ContinuousClock.now + Self.patience
        let (tasks, outboxes, unstored) = state.withLock { ($0.following, $0.outboxes, $0.unstored) }
        for task in tasks { await task.value }
        async let lost: () = UnstoredDelivery(entries: unstored, deadline: deadline).finish()
        let delivery = OutboxDelivery(outboxes: outboxes, campaign: campaign, deadline: deadline)
        let outcome = await delivery.finish()
        await lost
        outboxes.first?.removeIfEmpty()
        warn(of: outcome, outboxes)
    }

    /// Delivers what earlier processes have left of a run that is complete, and its end if the last one was killed before it was
    /// reported.
    func finish(_ end: RunEnd) async {
        guard !endpoints.isEmpty else { return }
        open(end.directory)
        if Outbox(ofRunIn: end.directory).hasOpenRun { post(end, in: end.directory) }
        await finish()
    }

    private func warn(of outcome: OutboxPass.Outcome, _ outboxes: [Outbox]) {
        for outbox in outboxes {
            let left = OutboxDelivery(outboxes: [outbox], campaign: campaign).left
            guard !left.isEmpty else { continue }
            let causes = Set(left.map(\.urlFile)).sorted().map {
                "\($0): \(outcome.failures[$0] ?? "not tried again yet")"
            }
            let events = left.count == 1 ? "1 event was" : "\(left.count) events were"
            complain(
                "warning: webhooks: \(events) not delivered (\(causes.joined(separator: "; "))): apns-batch notify "
                    + outbox.runDirectory.shellQuoted)
        }
    }
}
