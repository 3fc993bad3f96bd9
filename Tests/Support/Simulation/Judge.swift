import APNSBatch

/// The promises, held against what the server saw.
struct Judge {
    private let plan: SeedPlan
    private let run: SteppedRun
    private let witness: Witness
    /// Somebody ended the run before its input did.
    private let isStopped: Bool

    init(_ plan: SeedPlan, _ run: SteppedRun, _ witness: Witness, isStopped: Bool) {
        self.plan = plan
        self.run = run
        self.witness = witness
        self.isStopped = isStopped
    }

    /// What is broken.
    func findings() -> [String] {
        var findings: [String] = []
        if let failure = run.failure { findings.append("the run stopped: \(failure)") }
        if witness.strangers > 0 { findings.append("the server received \(witness.strangers) tokens of no row") }
        var outcomes: [UInt64: SteppedRun.RowOutcome] = [:]
        for outcome in run.outcomes where outcomes.updateValue(outcome, forKey: outcome.row) != nil {
            findings.append("row \(outcome.row) has two outcomes")
        }
        if outcomes.count > plan.rows.count { findings.append("outcomes of rows that are not there") }
        for row in plan.rows {
            guard let outcome = outcomes[row.number] else {
                if isStopped, witness.received(row.number) == 0 { continue }
                findings.append(
                    "row \(row.number) has no outcome; the server received it \(witness.received(row.number)) times")
                continue
            }
            if let finding = judge(row, outcome) {
                findings.append(
                    "row \(row.number), \(outcome.outcome.name) after \(outcome.attempts) attempts"
                        + " with status \(outcome.status): \(finding)")
            }
        }
        return findings
    }

    private func judge(_ row: InputRow, _ outcome: SteppedRun.RowOutcome) -> String? {
        let (received, accepted) = (witness.received(row.number), witness.accepted(row.number))
        if received > plan.attempts { return "received \(received) times with \(plan.attempts) attempts allowed" }
        switch outcome.outcome {
        case .accepted: return accepted == 0 ? "the server did not accept it" : nil
        case .rejected: return judgeRejected(row, outcome)
        case .unknown: return row.isSendable ? nil : "it cannot be sent"
        case .invalid, .expired, .suppressed:
            if received > 0 { return "the server received it \(received) times" }
            return row.isSendable ? "nothing is wrong with it: \(outcome.reason)" : nil
        }
    }

    private func judgeRejected(_ row: InputRow, _ outcome: SteppedRun.RowOutcome) -> String? {
        let statuses = witness.statuses[row.number] ?? []
        if !statuses.contains(outcome.status) { return "the server answered \(statuses)" }
        guard let rule = plan.script.answer(forToken: row.token) else { return "the script says nothing of it" }
        if rule.status != Int(outcome.status) { return "the script says \(rule.status)" }
        if rule.times != nil, !isStopped, Int(outcome.attempts) < plan.attempts { return "attempts were left" }
        return nil
    }
}
