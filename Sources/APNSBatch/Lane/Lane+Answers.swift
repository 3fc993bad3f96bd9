import APNSBatchNotification
import LaneTransport

extension Lane {
    /// APNs answered, and not with 200: what the table says is done.
    mutating func refused(_ flight: Int, _ outcome: OutcomeRecord) {
        let answer = Answer(status: outcome.status, body: outcome.bodyBytes)
        providers[Int(flights[flight].provider)].counts.note(answer)
        noteTrouble(flight, answer)
        switch answer.action {
        case .accepted: finish(flight, .accepted, status: answer.status)
        case .rejected:
            reject(flight, answer)
            carryUniqueID(outcome)
        case .stop: stop(flight, answer)
        case .retry(let retry): sendAgain(flight, answer, retry, retryAfter(outcome))
        }
    }

    private mutating func reject(_ flight: Int, _ answer: Answer) {
        let timestamp = answer.timestamp.flatMap { UInt64(exactly: $0) } ?? OutcomeEntry.noTimestamp
        finish(
            flight, .rejected, status: answer.status, timestamp: timestamp, cause: answer.reason?.rawValue ?? "")
    }

    /// The end of the campaign, unless other credentials go on: the row is sent again with these, and not counted.
    private mutating func stop(_ flight: Int, _ answer: Answer) {
        let (provider, member) = (Int(flights[flight].provider), Int(flights[flight].member))
        if survives(answer.text, saidTo: member, of: provider) {
            flights[flight].attempts -= 1
            again(flight, after: 0)
            return
        }
        // Not the row's fault: other credentials send it when the run is resumed.
        leave(flight)
        let text =
            "\(plan.endpoint) answered \(answer.text)\(providers[provider].access.forCredentials)"
            + (answer.remedy.map { ": \($0)" } ?? "")
        control.stop(.failure(CampaignError(.fatalAnswer, text)))
    }

    private mutating func sendAgain(_ flight: Int, _ answer: Answer, _ retry: Retry, _ retryAfter: UInt64?) {
        let (provider, member) = (Int(flights[flight].provider), Int(flights[flight].member))
        guard renew(retry.token, providers[provider].tokenOf[member]) else {
            leave(flight)
            stopForTheClock(provider)
            return
        }
        if retry.connection == .replace { act(providers[provider].pool.retire(member), of: provider) }
        if retry.token == .renew { retireAll(withTokenOf: member, of: provider) }
        if case .stop(let most) = retry.limit {
            guard flights[flight].limitedTries < most else {
                stop(flight, answer)
                return
            }
            flights[flight].limitedTries += 1
        }
        guard !control.stopping else {
            leave(flight)
            return
        }
        guard let delay = delay(flight, retry.delay, retryAfter) else {
            // What APNs said of the last request says nothing of an earlier one.
            if flights[flight].mayHaveArrived { return finishUnknown(flight, cause: Self.noWord(answer)) }
            return giveUp(flight, answer)
        }
        noteRetry(after: "\(answer.status)\(answer.reason.map { " \($0)" } ?? "")")
        flights[flight].lastStatus = answer.status
        flights[flight].lastReason = if case .known(let reason) = answer.reason { reason } else { nil }
        again(flight, after: delay)
    }

    /// No attempt is left. An answer that is not about the row leaves it unavailable.
    private mutating func giveUp(_ flight: Int, _ answer: Answer) {
        guard Self.isUnavailability(answer.status) else { return reject(flight, answer) }
        finish(flight, .unavailable, status: answer.status, cause: answer.reason?.rawValue ?? "")
    }

    /// Whether APNs takes nothing for now: the same request may well be accepted later.
    static func isUnavailability(_ status: UInt16) -> Bool { status == 429 || status >= 500 }

    private static func noWord(_ answer: Answer) -> String {
        "no answer to one request and \(answer.text) to the last"
    }

    private func stopForTheClock(_ provider: Int) {
        let whose = providers[provider].access.forCredentials
        let text = "\(plan.endpoint) calls fresh provider tokens\(whose) expired: set this machine's clock"
        control.stop(.failure(CampaignError(.fatalAnswer, text)))
    }

    /// The other connections that started with the same token would fare the same.
    private mutating func retireAll(withTokenOf member: Int, of provider: Int) {
        guard let token = providers[provider].tokenOf[member] else { return }
        for (other, its) in providers[provider].tokenOf where its.isSame(as: token) {
            act(providers[provider].pool.retire(other), of: provider)
        }
    }

    /// False when the token cannot have expired and the clock must be wrong.
    private func renew(_ what: Retry.Token, _ held: LaneProvider.Token?) -> Bool {
        switch what {
        case .keep: return true
        case .pause:
            held?.source.tooManyUpdates()
            return true
        case .renew: return held.map { $0.source.expired($0.token) } ?? true
        }
    }

    /// Nanoseconds, or nil when no attempt is left.
    private mutating func delay(_ flight: Int, _ kind: Retry.Delay, _ retryAfter: UInt64?) -> UInt64? {
        let attempts = countedAttempts(flight)
        guard kind != .none else { return attempts < plan.attempts ? 0 : nil }
        // Where requests are spaced by what the server takes, the pace is what spares it.
        let isPaced = providers[Int(flights[flight].provider)].mode == .paced
        let backoff = kind == .short || isPaced ? plan.backoff.short : plan.backoff.long
        // Half of the places are enough for rows that the server sends away for long: the others must keep moving.
        let asked = retries.count < plan.backoff.rowsMax / 2 ? retryAfter : nil
        return backoff.delay(afterAttempt: attempts, retryAfter: asked, random: random.next())
            .map { $0 * 1_000_000 }
    }

    /// Says when so many rows wait that no others are taken, and again only after it got better.
    mutating func lookAtRetries() {
        if retries.count < plan.backoff.rowsMax / 4 * 3 { isFull = false }
        guard !isFull, retries.count >= plan.backoff.rowsMax else { return }
        isFull = true
        plan.log.retriesFull(retries.count)
    }

    /// Seconds, where the answer has a `retry-after` header that makes sense.
    private func retryAfter(_ outcome: OutcomeRecord) -> UInt64? {
        outcome.captured("retry-after").flatMap { RetryAfter.parse($0, now: Int64(rows.wallClock)) }
    }
}
