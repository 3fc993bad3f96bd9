import APNSBatchBasics
import APNSBatchWebhooks
import Foundation

/// Delivers what waits in some outboxes before a process ends: at once, and once more after a pause.
struct OutboxDelivery {
    let outboxes: [Outbox]
    var campaign: String?
    /// The end of all attempts.
    var deadline: ContinuousClock.Instant?

    /// How long to wait while another process delivers.
    private static let lockPatience = Duration.seconds(30)
    static let pause = Duration.seconds(5)

    /// When the second attempt is made, if the first one ends now, in seconds since 1970-01-01 00:00 UTC.
    static var nextAttempt: Int64 { Int64(SystemClock.seconds()) + pause.components.seconds }

    func finish() async -> OutboxPass.Outcome {
        let outcome = await attempt()
        guard !outcome.failures.isEmpty, !outcome.isBusy, hasMore, hasTime(for: Self.pause) else { return outcome }
        try? await Task.sleep(for: Self.pause)
        return outcome + (await attempt())
    }

    private func attempt() async -> OutboxPass.Outcome {
        var outcome = OutboxPass.Outcome()
        for outbox in outboxes { outcome = outcome + (await attempt(outbox)) }
        return outcome
    }

    private func attempt(_ outbox: Outbox) async -> OutboxPass.Outcome {
        let pass = OutboxPass(outbox: outbox, campaign: campaign, deadline: deadline) { $0.isAllowed(now: $1) }
        let patience = ContinuousClock.now + Self.lockPatience
        while true {
            let outcome = await pass.make()
            guard outcome.isBusy, .now < patience, hasTime(for: .seconds(1)) else { return outcome }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    private func hasTime(for pause: Duration) -> Bool { deadline.map { .now + pause < $0 } ?? true }

    /// Whether an endpoint allows another attempt soon.
    private var hasMore: Bool {
        let then = Self.nextAttempt
        return left.contains { $0.isAllowed(now: then) }
    }

    /// The events that wait.
    var left: [OutboxEntry] {
        outboxes.flatMap(\.items).map(\.entry).filter { campaign == nil || $0.campaign == campaign }
    }
}

extension Outbox {
    /// Returns the outboxes of other runs in the directory that holds a run directory: of earlier nights.
    static func besides(_ runDirectory: String) -> [Outbox] {
        let run = URL(filePath: runDirectory).standardizedFileURL
        let parent = run.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        return names.sorted().filter { $0 != run.lastPathComponent }.map { Outbox(ofRunIn: "\(parent)/\($0)") }
            .filter(\.isOwn)
    }
}
