import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

extension RowPreparer {
    func localisationFindings(_ row: Row) -> [PayloadFinding] {
        guard let last else { return [] }
        return plan.rules.localisation(at: last.page)?.findings(last.payload, fields: row.fields) ?? []
    }

    /// Everything that the rules say of the last row's topic and payload, in words.
    ///
    /// - Parameter cardNumbers: whether to look for card numbers too.
    package func findings(of row: Row, cardNumbers: Bool) -> [RowFinding] {
        let own = hasOddTopic ? otherType.map { [RowFault.oddTopic($0, row, plan)] } ?? [] : []
        guard let last, let rules = plan.rules.rules(at: last.page) else { return own }
        let found = rules.describe(last.payload, fields: row.fields, cardNumbers: cardNumbers)
        return own + (found + localisationFindings(row)).map { RowFault.find($0, row, plan) }
    }

    /// Whether the last row's own topic or push type makes a doubtful pair; the campaign's is told once.
    package var hasOddTopic: Bool { otherType != nil && (roles.topic != nil || roles.pushType != nil) }

    /// Whether a number in the last row's payload looks like that of a card.
    package func holdsCardNumber() -> Bool {
        guard let last, let rules = plan.rules.rules(at: last.page) else { return false }
        return rules.holdsCardNumber(last.payload)
    }

    func firstError(_ row: Row) -> RowFinding {
        findings(of: row, cardNumbers: false).first { $0.severity == .error }
            ?? RowFault.finding(.keyType, plan.rawPayloadColumn, row, plan, "payload: breaks a rule")
    }
}
