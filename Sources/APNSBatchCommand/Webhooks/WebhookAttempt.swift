import APNSBatchBasics
import APNSBatchWebhooks

/// One request that delivers an event to its endpoint, signed as Standard Webhooks specifies. The files of URL and secrets are read for
/// each attempt, so that they can be replaced.
struct WebhookAttempt {
    let entry: OutboxEntry
    let timeout: Duration

    /// What came of it, and if there was a failure, its cause. The text does not contain the URL.
    typealias Result = (answer: OutboxEntry.Answer, failure: String)

    func make() async -> Result {
        let request: PostRequest
        do {
            request = try signed()
        } catch {
            return (.none, "\(error)")
        }
        switch await request.perform() {
        case .answered(let status, let retryAfter):
            return (.status(status, retryAfter: retryAfter), "it answered \(status)")
        case .failed(let cause): return (.none, cause)
        }
    }

    private func signed() throws -> PostRequest {
        let url = try SecretURL.read(entry.urlFile, hasQuery: true, isFirstTime: false)
        let now = Int64(SystemClock.seconds())
        let signature = try WebhookSecrets(at: entry.secretFile).signature(
            id: entry.id, timestamp: now, body: entry.body)
        return PostRequest(
            url: url.string ?? "", body: entry.body, contentType: "application/json",
            fields: [("webhook-id", entry.id), ("webhook-timestamp", "\(now)"), ("webhook-signature", signature)],
            timeout: timeout)
    }
}
