import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

extension RowPreparer {
    mutating func localisationFindings(_ row: Row) -> [PayloadFinding] {
        guard let last = unsafe last else { return [] }
        return unsafe plan.rules.localisation(at: last.page)?.findings(last.payload, fields: row.fields) ?? []
    }

    /// Returns all findings about the topic and the payload of the last row.
    ///
    /// - Parameter cardNumbers: Whether to look for card numbers, too.
    package mutating func findings(of row: Row, cardNumbers: Bool) -> [RowFinding] {
        let own = hasOddTopic(row) ? otherType.map { [RowFault.oddTopic($0, row, plan)] } ?? [] : []
        guard let last = unsafe last, let rules = unsafe plan.rules.rules(at: last.page) else { return own }
        let found = unsafe rules.describe(last.payload, fields: row.fields, cardNumbers: cardNumbers)
        return own + (found + localisationFindings(row)).map { RowFault.find($0, row, plan) }
    }

    /// Whether the last row's topic has the suffix of another push type, and one of the two comes from a column. Where both
    /// are the campaign's, that is reported once for all rows.
    package mutating func hasOddTopic(_ row: Row) -> Bool {
        guard otherType != nil else { return false }
        return isOwn(roles.topic, plan.usualRoles.topic, row) || isOwn(roles.pushType, plan.usualRoles.pushType, row)
    }

    /// Whether a value comes from a row, so that findings about it are the row's: there is a column for it, and where rows name their fields,
    /// the first rows have it or this row has.
    ///
    /// - Parameter usual: The column, if it is among ``CampaignPlan/usualRoles``.
    package mutating func isOwn(_ column: Int?, _ usual: Int?, _ row: Row) -> Bool {
        guard let column else { return false }
        return unsafe usual != nil || !row.fields[column].isEmpty
    }

    /// Whether a finding is that of a template, and among those about the campaign.
    package mutating func isReportedOnce(_ finding: RowFinding) -> Bool {
        guard plan.isOfEveryRow, !plan.isInput(finding.file) else { return false }
        return roles.pushType == nil || plan.templateFindingsOfRows.contains { RowFault.find($0) == finding }
    }

    /// Whether a number in the last row's payload looks like a card number.
    package mutating func holdsCardNumber() -> Bool {
        guard let last = unsafe last, let page = unsafe pages[last.page] else { return false }
        return unsafe page.holdsCardNumber(last.payload)
    }

    mutating func firstError(_ row: Row) -> RowFinding {
        findings(of: row, cardNumbers: false).first { $0.severity == .error }
            ?? RowFault.finding(.keyType, plan.rawPayloadColumn, row, plan, "payload: breaks a rule")
    }
}
