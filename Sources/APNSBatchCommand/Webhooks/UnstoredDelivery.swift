import APNSBatchBasics
import APNSBatchWebhooks

/// Delivers events that are in no outbox, because the run did not begin or the disk is full: at once, and once more after a pause.
/// An event that is not delivered then is lost, and a warning reports it.
struct UnstoredDelivery {
    let entries: [OutboxEntry]
    let deadline: ContinuousClock.Instant

    func finish() async {
        await withTaskGroup(of: Void.self) { group in
            for entry in entries { group.addTask { await deliver(entry) } }
        }
    }

    private func deliver(_ entry: OutboxEntry) async {
        var (entry, failure) = (entry, "")
        for isLast in [false, true] {
            let left = deadline - .now
            guard left >= .seconds(1) else { break }
            let result = await WebhookAttempt(entry: entry, timeout: min(.seconds(entry.timeout), left)).make()
            let fate = entry.note(result.answer, now: Int64(SystemClock.seconds()))
            if fate == .delivered { return }
            failure = result.failure
            guard !isLast, fate == .waits, entry.isAllowed(now: OutboxDelivery.nextAttempt) else { break }
            try? await Task.sleep(for: OutboxDelivery.pause)
        }
        complain("warning: webhooks: \(entry.shown) was not delivered and is lost, for it is in no outbox: \(failure)")
    }
}
