import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// Decides what the end of a request means for its row: an outcome, another attempt, or the end of the campaign.
struct LaneAnswers<Origin: LaneOrigin & ~Copyable>: ~Copyable {
    typealias Rows = LaneRows<Origin>

    private let plan: CampaignPlan
    private let control: RunControl
    private let gauges: LaneGauges
    private let times: AnswerTimeCounters
    var health: LaneHealth
    private(set) var gathering: Gathering
    /// The number of requests handed to connections, except those that were certainly not sent.
    private(set) var requests: UInt64 = 0
    private var random: SplitMix64

    init(plan: CampaignPlan, control: RunControl, gauges: LaneGauges, health: consuming LaneHealth, now: UInt64) {
        (self.plan, self.control, self.gauges) = (plan, control, gauges)
        times = gauges.answers
        gathering = Gathering(limit: plan.answerGathering)
        self.health = health
        random = SplitMix64(seed: plan.identity.0 ^ now ^ 2)
    }

    mutating func didSubmit(_ count: Int) { requests += UInt64(count) }

    /// Called every few milliseconds.
    mutating func tick(now: UInt64) {
        health.tick(now: now)
        gathering.look()
    }

    /// Whether a status means that APNs accepts nothing for now, so that the same request may be accepted later.
    static func isUnavailability(_ status: UInt16) -> Bool { status == 429 || status >= 500 }

    // MARK: How far it got

    /// Handles the end of a request.
    mutating func end(_ completion: CompletionRecord, _ rows: inout Rows, _ connections: inout LaneConnections) {
        let ticket = unsafe Int(truncatingIfNeeded: completion.ticket)
        assert(!rows[ticket].record.isNone, "a completion belongs to a row without an outcome")
        assert(rows[ticket].attempts > 0, "a completion belongs to a request that was handed over")
        let (provider, member) = (Int(rows[ticket].provider), Int(rows[ticket].member))
        let isAnswered = unsafe completion.delivery == Delivery.answered.rawValue
        let isAccepted = unsafe isAnswered && completion.status == 200
        unsafe connections.pools[provider].didEnd(
            member, answered: isAnswered, accepted: isAccepted, latency: completion.latency_us, now: connections.now)
        guard isAnswered else { return unsafe unanswered(ticket, completion, &rows, &connections) }
        unsafe gathering.note(latency: completion.latency_us)
        unsafe times.note(completion.latency_us)
        health.noteAnswer(of: provider)
        guard isAccepted else { return unsafe refused(ticket, completion, &rows, &connections) }
        unsafe rows.accept(ticket, answerTime: completion.latency_us)
        if unsafe completion.field_count > 0 { unsafe carryUniqueID(completion, &rows) }
    }

    /// Handles a request without an answer.
    private mutating func unanswered(
        _ ticket: Int, _ completion: CompletionRecord, _ rows: inout Rows, _ connections: inout LaneConnections
    ) {
        let (provider, member) = (Int(rows[ticket].provider), Int(rows[ticket].member))
        if unsafe completion.failureScope == .http2 {
            unsafe connections.pools[provider].wasReset(
                member, code: completion.code, answered: health.answered(provider), now: connections.now)
        }
        if unsafe completion.deliveryState == .notSent {
            return unsafe notSent(ticket, completion, &rows, &connections)
        }
        // A connection that leaves a request unanswered for so long may be dead.
        if unsafe completion.failureScope == .timeout { connections.retire(member, of: provider, after: "no answer") }
        unsafe lost(ticket, completion, &rows, now: connections.now)
    }

    /// - Parameter rows: `inout`, because the compiler copies all of it for a call that borrows it.
    @inline(never)
    private func carryUniqueID(_ completion: CompletionRecord, _ rows: inout Rows) {
        if let id = unsafe completion.captured("apns-unique-id") { unsafe rows.carry(id) }
    }

    /// Handles a request that certainly was not sent: the row is sent again, and the attempt does not count. It is sent
    /// again at once if the connection is the cause, but after a growing pause, and a limited number of times, if the server
    /// refused the stream; one refusal more stops the run.
    private mutating func notSent(
        _ ticket: Int, _ completion: CompletionRecord, _ rows: inout Rows, _ connections: inout LaneConnections
    ) {
        rows[ticket].attempts -= 1
        requests -= 1
        let (provider, member, now) = (Int(rows[ticket].provider), Int(rows[ticket].member), connections.now)
        if unsafe completion.failureScope == .local {
            connections.pools[provider].hold(member, until: now + AnswerLimits.holdTime)
        }
        guard unsafe completion.failureScope == .http2 else { return rows.again(ticket, after: 0, now: now) }
        rows[ticket].refusals += 1
        let refusals = rows[ticket].refusals
        if refusals > AnswerLimits.refusalLimit, Origin.mayGiveUp {
            control.stop(.failure(CampaignError(.unreachable, "\(plan.endpoint) refuses every stream")))
        }
        rows.again(ticket, after: AnswerLimits.refusalPause << UInt64(min(refusals - 1, 8)), now: now)
    }

    /// Handles a request that may have arrived and was not answered. The row is sent again while attempts are left and the
    /// policy allows it; otherwise it ends as unknown.
    private mutating func lost(_ ticket: Int, _ completion: CompletionRecord, _ rows: inout Rows, now: UInt64) {
        unsafe health.noteLoss(completion, of: &rows[ticket], now: now)
        let attempts = rows[ticket].countedAttempts
        rows[ticket].mayHaveArrived = true
        if control.urgent { return rows.postponeUnanswered(ticket) }
        guard rows.mayResend(ticket),
            let delay = plan.backoff.delay(plan.backoff.short, afterAttempt: attempts, random: random.next())
        else { return unsafe rows.finishUnknown(ticket, cause: Self.explain(completion)) }
        // A resumed run sends the row again.
        if control.stopping { return rows.postpone(ticket) }
        noteRetry(after: "no answer")
        rows.again(ticket, after: delay, now: now)
    }

    private static func explain(_ completion: CompletionRecord) -> String {
        switch unsafe completion.failureScope {
        case .timeout: unsafe "no answer within \(completion.code) ms"
        case .http2: unsafe "stream reset, code \(completion.code)"
        default: "connection lost before the answer"
        }
    }

    /// Counts a row that is sent again, with the cause: an answer, or the lack of one.
    private func noteRetry(after cause: String) { gauges.account.withLock { $0.noteRetry(after: cause) } }

    // MARK: What APNs answered

    /// Handles an answer other than 200 by the table of answers.
    private mutating func refused(
        _ ticket: Int, _ completion: CompletionRecord, _ rows: inout Rows, _ connections: inout LaneConnections
    ) {
        let answer = unsafe Answer(status: completion.status, body: completion.bodyBytes)
        gauges.refusals.note(answer)
        let blame = blame(answer, rows[ticket], &connections)
        health.note(answer, to: &rows[ticket], blame)
        switch answer.action {
        case .accepted: unsafe rows.accept(ticket, answerTime: completion.latency_us)
        case .rejected:
            unsafe reject(ticket, answer, completion, &rows)
            unsafe carryUniqueID(completion, &rows)
        case .stop: unsafe stop(ticket, answer, completion, &rows, &connections)
        case .retry(let retry):
            // In seconds, if the answer has a valid `retry-after` header.
            let retryAfter = unsafe completion.captured("retry-after").flatMap {
                unsafe RetryAfter.parse($0, now: Int64(rows.wallClock))
            }
            unsafe sendAgain(ticket, answer, Self.adapt(retry, to: blame), retryAfter, completion, &rows, &connections)
        }
    }

    /// Lets the pool judge the connection of a 429 or 5xx, and returns what is to blame for it; nil for another answer.
    private func blame(_ answer: Answer, _ flight: Flight, _ connections: inout LaneConnections) -> PoolHealth.Blame? {
        guard Self.isUnavailability(answer.status) else { return nil }
        let provider = Int(flight.provider)
        return connections.noteTrouble(
            answer, on: Int(flight.member), of: provider, isFirst: flight.countedAttempts <= 1,
            health.view(provider, now: connections.now))
    }

    /// Returns the terms for a row after a 429 or 5xx, for which the pool has already done what there is to do with its
    /// connection. Where that one was to blame the row need not wait for APNs.
    private static func adapt(_ retry: Retry, to blame: PoolHealth.Blame?) -> Retry {
        guard let blame else { return retry }
        var adapted = retry
        adapted.connection = .any
        if blame == .connection, retry.delay == .long { adapted.delay = .short }
        return adapted
    }

    private func reject(
        _ ticket: Int, _ answer: Answer, _ completion: CompletionRecord, _ rows: inout Rows
    ) {
        let timestamp = answer.timestamp.flatMap { UInt64(exactly: $0) } ?? OutcomeEntry.noTimestamp
        unsafe rows.finish(
            ticket, .rejected, status: answer.status, answerTime: completion.latency_us, timestamp: timestamp,
            cause: answer.reason?.rawValue ?? "")
    }

    /// Stops the campaign, unless other credentials can continue: then the row is sent again with these, and the attempt
    /// does not count.
    private func stop(
        _ ticket: Int, _ answer: Answer, _ completion: CompletionRecord, _ rows: inout Rows,
        _ connections: inout LaneConnections
    ) {
        let (provider, member) = (Int(rows[ticket].provider), Int(rows[ticket].member))
        if connections.survives(answer.text, saidTo: member, of: provider) {
            rows[ticket].attempts -= 1
            return rows.again(ticket, after: 0, now: connections.now)
        }
        let access = connections.access(provider)
        let cause = "\(plan.endpoint) answered \(answer.text)\(access.forCredentials)"
        let text = cause + (access.remedy(answer.reason).map { ": \($0)" } ?? "")
        unsafe endFatally(ticket, answer, completion, text, of: connections.access(provider).name, &rows)
    }

    /// Ends a campaign because of an answer that further rows would get, too. The row is not at fault: a resumed run sends it with
    /// other credentials. For the notification of a sender it is the answer.
    private func endFatally(
        _ ticket: Int, _ answer: Answer, _ completion: CompletionRecord, _ text: String, of provider: String,
        _ rows: inout Rows
    ) {
        guard Origin.mayGiveUp else {
            plan.log.fatalAnswer(text, answer.text, of: provider)
            return unsafe reject(ticket, answer, completion, &rows)
        }
        rows.postpone(ticket)
        control.stop(.failure(CampaignError(.fatalAnswer, text)))
    }

    private mutating func sendAgain(
        _ ticket: Int, _ answer: Answer, _ retry: Retry, _ retryAfter: UInt64?, _ completion: CompletionRecord,
        _ rows: inout Rows, _ connections: inout LaneConnections
    ) {
        let (provider, member) = (Int(rows[ticket].provider), Int(rows[ticket].member))
        guard connections.renewToken(retry.token, of: member, provider) else {
            let whose = connections.access(provider).forCredentials
            let text = "\(plan.endpoint) rejects new provider tokens\(whose) as expired: set this machine's clock"
            return unsafe endFatally(
                ticket, answer, completion, text, of: connections.access(provider).name, &rows)
        }
        let cause = "\(answer.status)\(answer.reason.map { " \($0)" } ?? "")"
        if retry.connection == .replace { connections.retire(member, of: provider, after: cause) }
        if case .stop(let most) = retry.limit {
            guard rows[ticket].limitedTries < most else {
                return unsafe stop(ticket, answer, completion, &rows, &connections)
            }
            rows[ticket].limitedTries += 1
        }
        guard let delay = delay(rows[ticket], retry.delay, retryAfter, retrying: rows.retrying) else {
            return unsafe endWithoutAttempts(ticket, answer, completion, &rows)
        }
        rows[ticket].lastStatus = answer.status
        rows[ticket].lastReason = if case .known(let reason) = answer.reason { reason } else { nil }
        // A resumed run sends the row again.
        guard !control.stopping else { return rows.postpone(ticket) }
        noteRetry(after: cause)
        rows.again(ticket, after: delay, now: connections.now)
    }

    /// Ends a row without attempts left. An answer that is not about the row makes it unavailable.
    private func endWithoutAttempts(
        _ ticket: Int, _ answer: Answer, _ completion: CompletionRecord, _ rows: inout Rows
    ) {
        if rows[ticket].mayHaveArrived {
            // The answer to the last request does not show what became of an earlier one.
            rows.finishUnknown(ticket, cause: "no answer to one request and \(answer.text) to the last")
        } else if Self.isUnavailability(answer.status) {
            unsafe rows.finish(
                ticket, .unavailable, status: answer.status, answerTime: completion.latency_us,
                cause: answer.reason?.rawValue ?? "")
        } else {
            unsafe reject(ticket, answer, completion, &rows)
        }
    }

    /// Returns the delay before the next attempt in nanoseconds, or nil if no attempt is left.
    private mutating func delay(
        _ flight: Flight, _ kind: Retry.Delay, _ retryAfter: UInt64?, retrying: Int
    ) -> UInt64? {
        let attempts = flight.countedAttempts
        guard kind != .none else { return attempts < plan.backoff.attempts ? 0 : nil }
        // When requests are paced, the pace already spares the server.
        let isPaced = health.mode(Int(flight.provider)) == .paced
        let backoff = kind == .short || isPaced ? plan.backoff.short : plan.backoff.long
        // Rows with a long `retry-after` may take only half of the retry queue, so that the others keep moving.
        let asked = retrying < plan.backoff.rowsMax / 2 ? retryAfter : nil
        return plan.backoff.delay(backoff, afterAttempt: attempts, retryAfter: asked, random: random.next())
    }
}

private enum AnswerLimits {
    /// How long a connection that could not take a request is skipped, in nanoseconds. By then an event of the connection
    /// has arrived.
    static let holdTime: UInt64 = 5_000_000
    /// The first pause after a refused stream, in nanoseconds. It doubles up to eight times.
    static let refusalPause: UInt64 = 50_000_000
    static let refusalLimit: UInt8 = 20
}
