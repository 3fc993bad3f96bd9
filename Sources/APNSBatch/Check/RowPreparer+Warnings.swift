import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows
import APNSBatchSending

/// Warnings about a row's token and header fields, which a check reports and a run does not.
extension RowPreparer {
    /// - Parameter row: A row that was prepared and is valid.
    mutating func headerWarnings(of row: Row) -> [RowFinding] {
        guard broadcast == nil else { return [] }
        var found = unusualToken(row).map { [$0] } ?? []
        let usual = plan.usualRoles
        let hasType = isOwn(roles.pushType, usual.pushType, row)
        let hasPriority = isOwn(roles.priority, usual.priority, row)
        let hasExpiration = isOwn(roles.expiration, usual.expiration, row)
        guard hasType || hasPriority || hasExpiration, case .set(let set) = headerSets.find(row) else { return found }
        if hasType || hasPriority, let message = set.pushType.unusualPriority(set.priority) {
            found.append(RowFault.finding(.priorityUnusual, roles.priority ?? roles.pushType, row, plan, message))
        }
        if hasType || hasExpiration, let finding = expirationWarning(row, set, hasOwn: hasExpiration) {
            found.append(finding)
        }
        return found
    }

    private mutating func unusualToken(_ row: Row) -> RowFinding? {
        let digits = unsafe row.fields[roles.token].count
        guard digits != DeviceToken.usualLength else { return nil }
        let message =
            "token: expected \(DeviceToken.usualLength) hex digits, as all tokens have today, found \(digits); "
            + "the row is sent anyway"
        return RowFault.finding(.tokenSize, roles.token, row, plan, message)
    }

    /// - Parameter hasOwn: Whether the row has a field for it.
    private mutating func expirationWarning(_ row: Row, _ set: HeaderSets.Entry, hasOwn: Bool) -> RowFinding? {
        var own: Expiration?
        if let column = roles.expiration, case .success(let given) = unsafe GivenExpiration.parse(row.fields[column]) {
            own = given.expiration(start: plan.headers.start)
        }
        let place = roles.expiration ?? roles.pushType
        if let message = plan.headers.unusualExpiration(set.pushType, own: own) {
            return RowFault.finding(.expirationUnusual, place, row, plan, message)
        }
        guard hasOwn, own == nil, set.expiration == nil else { return nil }
        let message = "expiration: the field is empty, so APNs stores the push for up to 30 days"
        return RowFault.finding(.expirationMissing, place, row, plan, message)
    }
}
