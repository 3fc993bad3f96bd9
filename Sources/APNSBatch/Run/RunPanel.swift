import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

/// What changes a run while it goes on, and the journal of the changes. Any thread may use it.
package final class RunPanel: Sendable {
    package let control: RunControl
    let rate: RunRate
    /// What operators changed, in all sessions.
    let journal: RunChanges
    private let facts: RunFacts
    private let expectations: Guarded<ExpectationJudge>
    private let span = Guarded<RunSpan?>(nil)

    init(_ facts: RunFacts, _ rate: RunRate) {
        (self.facts, self.rate) = (facts, rate)
        control = RunControl(canary: facts.plan.canary != nil, deadline: facts.plan.deadline?.seconds ?? .max)
        journal = RunChanges(after: facts.past?.reading.history.changes ?? []) { [log = facts.plan.log] text in
            log.logger.warning("\(text)")
        }
        expectations = Guarded(facts.judge)
    }

    /// The expectations that are judged when the run is complete.
    var judge: ExpectationJudge { expectations.withLock { $0 } }

    /// Why the run failed; nil while it runs, and if it was completed or interrupted.
    var failure: CampaignError? {
        if case .failure(let error) = control.stopCause { error } else { nil }
    }

    /// Ends the run.
    func fail(_ error: CampaignError) { control.stop(.failure(error)) }

    func fail(_ error: ThreadError) { fail(CampaignError(.system, "\(error)", cause: error)) }

    /// Notes changes as events of a span from now on; nil to end that.
    func trace(_ span: RunSpan?) { self.span.withLock { $0 = span } }

    private func note(_ text: String) {
        journal.add(text, at: facts.plan.surroundings.seconds())
        span.withLock { $0 }?.note("change", text)
    }

    // MARK: Changes

    func stop() {
        let isFirst = !control.stopping
        // The run is stopped first, because recording may wait for the disk.
        control.stop(.interrupted)
        if isFirst { note("stopped") }
    }

    func abandon() {
        control.abandon()
        note(Self.abandonment)
    }

    /// The change that stands for this.
    static let abandonment = "abandoned"

    func pause() { if control.pause(true) { note("paused") } }

    func unpause() { if control.pause(false) { note("continued") } }

    func setRateLimit(_ limit: Campaign.RateLimit) throws(CampaignError) {
        try limit.check(of: facts.reader.name, isFile: facts.reader.facts.isFile)
        rate.change(to: limit)
        note("\(limit)")
    }

    func setDeadline(_ notAfter: Campaign.Expiration?) throws(CampaignError) {
        let deadline = try notAfter.map { (given) throws(CampaignError) in
            try CampaignDeadline(given, start: facts.plan.start)
        }
        control.deadline = deadline?.seconds ?? .max
        note(notAfter == nil ? "no deadline" : "deadline \(CampaignSummary.Identity.time(control.deadline))")
    }

    func setExpectations(_ changed: [CampaignExpectation]) throws(CampaignError) {
        let judge = try ExpectationJudge(changed, history: facts.history, start: facts.plan.start)
        expectations.withLock { $0 = judge }
        note("expect " + changed.map(\.description).joined(separator: ", "))
    }
}
