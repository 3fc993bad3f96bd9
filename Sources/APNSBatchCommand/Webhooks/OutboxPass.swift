import APNSBatchBasics
import APNSBatchWebhooks

/// One pass over the events that wait in an outbox. Endpoints are served at the same time, the events of each in their order.
struct OutboxPass {
    let outbox: Outbox
    /// The campaign whose events are delivered; nil for all.
    var campaign: String?
    /// No attempt lasts longer.
    var deadline: ContinuousClock.Instant?
    let isDue: @Sendable (_ entry: OutboxEntry, _ now: Int64) -> Bool

    /// What came of some passes.
    struct Outcome: Sendable {
        var delivered = 0
        var givenUp = 0
        /// Why the last attempt failed, by the file of the URL.
        var failures: [String: String] = [:]
        /// The endpoints that got something, and nothing failed.
        var reached: Set<String> = []
        /// Whether another process was delivering.
        var isBusy = false

        static func + (first: Outcome, second: Outcome) -> Outcome {
            var sum = second
            sum.delivered += first.delivered
            sum.givenUp += first.givenUp
            sum.failures.merge(first.failures) { second, _ in second }
            for urlFile in second.reached { sum.failures[urlFile] = second.failures[urlFile] }
            return sum
        }
    }

    private static var now: Int64 { Int64(SystemClock.seconds()) }

    private var due: [Outbox.Item] {
        let now = Self.now
        return outbox.items.filter {
            (campaign == nil || $0.entry.campaign == campaign)
                && ($0.entry.isOutdated(now: now) || isDue($0.entry, now))
        }
    }

    func make() async -> Outcome {
        let waiting = due
        guard !waiting.isEmpty else { return Outcome() }
        var none = Outcome()
        do {
            if let lock = try outbox.lock() { return await deliver(with: lock) }
            none.isBusy = outbox.exists
        } catch {
            for item in waiting { none.failures[item.entry.urlFile] = "\(error)" }
        }
        return none
    }

    private func deliver(with lock: Outbox.Lock) async -> Outcome {
        // Another process may have delivered some until now.
        let items = Dictionary(grouping: due, by: \.entry.urlFile)
        let outcome = await withTaskGroup(of: Outcome.self) { group in
            for items in items.values { group.addTask { await deliver(items, lock) } }
            return await group.reduce(Outcome()) { $0 + $1 }
        }
        outbox.removeIfEmpty(lock)
        return outcome
    }

    /// Delivers events to one endpoint, until it fails.
    private func deliver(_ items: [Outbox.Item], _ lock: Outbox.Lock) async -> Outcome {
        var outcome = Outcome()
        for item in items {
            if outbox.isGone(item.entry.urlFile) || isGivenUp(item.entry) {
                outbox.remove(item, lock)
                outcome.givenUp += 1
                continue
            }
            guard let timeout = timeout(of: item.entry) else { break }
            let result = await WebhookAttempt(entry: item.entry, timeout: timeout).make()
            guard note(result, of: item, in: &outcome, lock) else { break }
        }
        if outcome.delivered > 0, outcome.failures.isEmpty { outcome.reached.formUnion(items.map(\.entry.urlFile)) }
        return outcome
    }

    /// The time that an attempt may take; nil if there is none left.
    private func timeout(of entry: OutboxEntry) -> Duration? {
        let wanted = Duration.seconds(entry.timeout)
        guard let deadline else { return wanted }
        let left = deadline - .now
        return left >= .seconds(1) ? min(wanted, left) : nil
    }

    private func isGivenUp(_ entry: OutboxEntry) -> Bool {
        guard entry.isOutdated(now: Self.now) else { return false }
        complain("warning: webhooks: \(entry.shown) is older than three days, and is given up")
        return true
    }

    /// Notes what came of an attempt. Returns false if the endpoint should be left alone for now.
    private func note(
        _ result: WebhookAttempt.Result, of item: Outbox.Item, in outcome: inout Outcome, _ lock: Outbox.Lock
    ) -> Bool {
        var item = item
        switch item.entry.note(result.answer, now: Self.now) {
        case .delivered:
            outbox.remove(item, lock)
            outcome.delivered += 1
            return true
        case .endpointGone:
            endGone(item.entry)
            outbox.remove(item, lock)
            outcome.givenUp += 1
            return true
        case .waits:
            outcome.failures[item.entry.urlFile] = result.failure
            // Without the new file the event is delivered all the same.
            try? outbox.replace(item, lock)
            // Another event may be accepted if only this one was refused.
            if case .status(300..<500, _) = result.answer { return item.entry.isAllowed(now: Self.now) }
            return false
        }
    }

    private func endGone(_ entry: OutboxEntry) {
        let notice = "warning: webhooks: \(entry.urlFile): it answered 410 (Gone) and gets no more events of this run"
        do {
            complain("\(notice), unless \(try outbox.noteGone(entry.urlFile)) is removed")
        } catch {
            complain("\(notice); this cannot be noted: \(error)")
        }
    }
}

extension OutboxEntry {
    /// `the event "completed" of 2026-01-01T02:00:00Z for /etc/apns-batch/url`.
    var shown: String { "the event \(event.quoted) of \(Timestamp.text(time)) for \(urlFile)" }
}
