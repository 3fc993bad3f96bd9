import APNSProtocol
import LaneTransport

extension Lane {
    /// APNs answered, and not with 200: what the table says is done.
    mutating func refused(_ flight: Int, _ outcome: OutcomeRecord) {
        let answer = Answer(status: outcome.status, body: outcome.bodyBytes)
        switch answer.action {
        case .accepted: finish(flight, .accepted, status: answer.status)
        case .rejected: reject(flight, answer)
        case .stop:
            reject(flight, answer)
            stopFatally(answer)
        case .retry(let retry): sendAgain(flight, answer, retry, Self.retryAfter(outcome))
        }
    }

    private mutating func reject(_ flight: Int, _ answer: Answer) {
        let timestamp = UInt64(exactly: answer.timestamp ?? 0) ?? 0
        finish(
            flight, .rejected, status: answer.status, timestamp: timestamp, cause: answer.reason?.rawValue ?? "")
    }

    /// APNs said something that no further row can survive.
    private func stopFatally(_ answer: Answer) {
        let reason = answer.reason.map { " \($0)" } ?? ""
        control.stop(.failure(CampaignError(.fatalAnswer, "\(plan.endpoint) answered \(answer.status)\(reason)")))
    }

    private mutating func sendAgain(_ flight: Int, _ answer: Answer, _ retry: Retry, _ retryAfter: UInt64?) {
        let member = Int(flights[flight].member)
        guard renew(retry.token, member: member) else {
            reject(flight, answer)
            control.stop(
                .failure(
                    CampaignError(.fatalAnswer, "\(plan.endpoint) calls fresh provider tokens expired: check the clock")
                )
            )
            return
        }
        if retry.connection == .replace { act(pool.retire(member)) }
        if retry.token == .renew { retireAll(withTokenOf: member) }
        if case .stop(let most) = retry.limit {
            guard flights[flight].limitedTries < most else {
                reject(flight, answer)
                stopFatally(answer)
                return
            }
            flights[flight].limitedTries += 1
        }
        guard !control.stopping, let delay = delay(flight, retry.delay, retryAfter) else {
            reject(flight, answer)
            return
        }
        flights[flight].lastStatus = answer.status
        if case .known(let reason) = answer.reason { flights[flight].lastReason = reason }
        again(flight, after: delay)
    }

    /// The other connections that started with the same token would fare the same.
    private mutating func retireAll(withTokenOf member: Int) {
        guard let token = tokenOf[member] else { return }
        for (other, its) in tokenOf where its == token { act(pool.retire(other)) }
    }

    /// False when the token cannot have expired and the clock must be wrong.
    private func renew(_ what: Retry.Token, member: Int) -> Bool {
        switch what {
        case .keep: return true
        case .pause:
            plan.tokens?.tooManyUpdates()
            return true
        case .renew:
            guard let token = tokenOf[member] else { return true }
            return plan.tokens?.expired(token) ?? true
        }
    }

    /// Nanoseconds, or nil when no attempt is left.
    private mutating func delay(_ flight: Int, _ kind: Retry.Delay, _ retryAfter: UInt64?) -> UInt64? {
        let attempts = Int(flights[flight].attempts)
        guard kind != .none else { return attempts < plan.attempts ? 0 : nil }
        let backoff = kind == .short ? plan.shortBackoff : plan.longBackoff
        return backoff.delay(afterAttempt: attempts, retryAfter: retryAfter, random: random.next())
            .map { $0 * 1_000_000 }
    }

    /// Seconds of a `retry-after` header (RFC 9110 section 10.2.3); a date is not understood and left out.
    private static func retryAfter(_ outcome: OutcomeRecord) -> UInt64? {
        guard let field = outcome.capturedFields.first, field.value_length <= 9 else { return nil }
        return UInt64(String(decoding: field.valueBytes, as: UTF8.self))
    }
}
