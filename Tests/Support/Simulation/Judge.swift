import APNSBatch

/// Compares the results of a whole campaign with what the server received.
struct Judge {
    let plan: SeedPlan
    let witness: Witness
    /// The contents of `results.csv`.
    let results: [UInt8]
    let ledger: LedgerImage
    /// Rows that may have been in flight when a session ended.
    let mayHaveArrived: Set<UInt64>
    let sessions: Int

    /// Returns a finding for each error in the results.
    func findings() -> [String] {
        let lines: [ResultsText.Line]
        do {
            lines = try ResultsText.lines(of: results)
        } catch {
            return ["\(error)"]
        }
        var findings: [String] = []
        if witness.strangers > 0 { findings.append("the server received \(witness.strangers) tokens of no row") }
        var outcomes: [UInt64: ResultsText.Line] = [:]
        for line in lines {
            if outcomes.updateValue(line, forKey: line.row) != nil { findings.append("row \(line.row) has two lines") }
            let recorded = LedgerImage.Row(
                outcome: line.outcome.rawValue, status: line.status, attempts: line.attempts,
                isResent: ledger.rows[line.row]?.isResent ?? false)
            // The request for an unknown row was in flight. What else was known of the row may have been lost with the
            // power.
            if witness.accepted(line.row) > 1, !recorded.isResent, line.outcome != .unknown {
                findings.append("row \(line.row) was accepted twice, and does not say that it was sent again")
            }
            if ledger.rows[line.row] != recorded { findings.append("row \(line.row): the ledger says something else") }
        }
        if outcomes.count > plan.rows.count { findings.append("results has lines of rows that are not there") }
        for row in plan.rows {
            guard let line = outcomes[row.number] else {
                findings.append("row \(row.number) has no line; it was received \(witness.received(row.number)) times")
                continue
            }
            if let finding = judge(row, line) {
                findings.append(
                    "row \(row.number), \(line.outcome.name) after \(line.attempts) attempts"
                        + " with status \(line.status): \(finding)")
            }
        }
        return findings
    }

    private func judge(_ row: InputRow, _ line: ResultsText.Line) -> String? {
        let (received, accepted) = (witness.received(row.number), witness.accepted(row.number))
        if plan.onlyStandsStill, line.outcome != .accepted || received != 1 || line.attempts != 1 {
            return "nothing but standing still went wrong, and the server received it \(received) times"
        }
        // While most answers are 429 or 5xx, attempts do not count toward the limit, but the line counts them all.
        let hasOutages =
            plan.script.rules.contains { $0.status == 429 || $0.status >= 500 } || !plan.script.faults.isEmpty
        // Those of a session that was killed are known to nobody.
        let isCounted = !hasOutages || received > Int(line.attempts) && !mayHaveArrived.contains(row.number)
        if received > plan.attempts * sessions, isCounted {
            return "received \(received) times with \(plan.attempts) attempts allowed in each of \(sessions) sessions"
        }
        switch line.outcome {
        case .accepted: return accepted == 0 ? "the server did not accept it" : nil
        case .rejected, .unavailable: return judgeRejected(row, line)
        case .unknown: return judgeUnknown(row, line)
        case .invalid, .suppressed:
            if received > 0 { return "the server received it \(received) times" }
            return row.isSendable ? "nothing is wrong with it: \(line.reason)" : nil
        case .expired:
            // A row that APNs asked to send later may be left to the next session, in which it counts as never sent.
            if accepted > 0 || received > 0 && sessions == 1 { return "the server received it \(received) times" }
            return row.kind == .expired || plan.notAfter != nil ? nil : "its time had not passed"
        }
    }

    private func judgeUnknown(_ row: InputRow, _ line: ResultsText.Line) -> String? {
        if line.reason == "in flight when the previous process ended", !mayHaveArrived.contains(row.number) {
            return "it never was under way"
        }
        if row.isSendable { return nil }
        // A row whose time had passed was not checked.
        let isLate = row.kind == .expired || plan.notAfter != nil
        return isLate && mayHaveArrived.contains(row.number) ? nil : "it cannot be sent"
    }

    private func judgeRejected(_ row: InputRow, _ line: ResultsText.Line) -> String? {
        let statuses = witness.statuses[row.number] ?? []
        if !statuses.contains(line.status) { return "the server answered \(statuses)" }
        if plan.hasSickness(status: line.status) {
            return line.outcome == .unavailable ? nil : "status \(line.status) is another outcome"
        }
        guard let rule = plan.script.answer(forToken: row.token) else { return "the script says nothing of it" }
        if rule.status != Int(line.status) { return "the script says \(rule.status)" }
        let mayPass = line.status == 429 || line.status >= 500
        if mayPass != (line.outcome == .unavailable) { return "status \(line.status) is another outcome" }
        if rule.times != nil, plan.notAfter == nil, Int(line.attempts) < plan.attempts { return "attempts were left" }
        return nil
    }
}
