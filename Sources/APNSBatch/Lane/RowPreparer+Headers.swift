import APNSBatchNotification
import CSVReader

extension RowPreparer {
    /// Everything of a record but the payload, at most.
    static let ownLimit =
        max(DeviceToken.pathLengthMax, BroadcastRequest.pathLengthMax) + MessageID.length
        + max(CollapseID.lengthMax, ChannelID.lengthMax) + Expiration.lengthMax

    /// Path, apns-id, collapse id and expiration; gives the row's end where it ends here.
    ///
    /// Inline, for otherwise the compiler copies the whole preparer to call it.
    @inline(__always)
    func writeOwn(
        _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight,
        _ expiration: Expiration?, _ now: UInt64
    ) -> Prepared? {
        if let broadcast {
            if let ended = writeChannel(broadcast, row, room, &flight) { return ended }
        } else {
            let token = row.fields[roles.token]
            if let fault = DeviceToken.writePath(token, to: room) {
                return .invalid(RowFault.find(fault, roles.token, row, plan))
            }
            flight.pathLength = DeviceToken.pathPrefixLength + token.count
        }
        if let column = roles.messageID, !row.fields[column].isEmpty {
            if let ended = writeOwnID(column, row, room, flight) { return ended }
        } else {
            MessageID(campaign: plan.identity, row: row.row).write(to: room + flight.pathLength)
        }
        if hasCollapseIDs, let ended = writeCollapseID(row, room, &flight) { return ended }
        return hasExpirations ? writeExpiration(row, room, &flight, expiration, now) : nil
    }

    private func writeOwnID(
        _ column: Int, _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: Flight
    ) -> Prepared? {
        guard let fault = MessageID.write(row.fields[column], to: room + flight.pathLength) else { return nil }
        return .invalid(RowFault.find(fault, column, row, plan))
    }

    private func writeCollapseID(
        _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight
    ) -> Prepared? {
        guard let column = roles.collapseID, !row.fields[column].isEmpty else {
            guard let template = plan.headers.collapseID else { return nil }
            return renderCollapseID(template, row, room, &flight)
        }
        let value = row.fields[column]
        if let fault = CollapseID.check(value) { return .invalid(RowFault.find(fault, column, row, plan)) }
        (room + flight.collapseOffset).copyMemory(from: value.baseAddress!, byteCount: value.count)
        flight.collapseLength = UInt8(value.count)
        return nil
    }

    /// The campaign's, filled in; one that comes out empty is left out.
    private func renderCollapseID(
        _ template: TextTemplate, _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight
    ) -> Prepared? {
        let target = UnsafeMutableRawBufferPointer(
            start: room + flight.collapseOffset, count: CollapseID.lengthMax)
        let size = template.render(fields: row.fields, into: target)
        guard size <= CollapseID.lengthMax else {
            return .invalid(RowFault.find(.collapseIDTooLong(size), "", row, plan))
        }
        let text = UnsafeRawBufferPointer(rebasing: target[..<size])
        if size > 0, let fault = CollapseID.check(text) {
            return .invalid(RowFault.find(fault, String(decoding: text, as: UTF8.self), row, plan))
        }
        flight.collapseLength = UInt8(size)
        return nil
    }

    private func writeExpiration(
        _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight,
        _ shared: Expiration?, _ now: UInt64
    ) -> Prepared? {
        var expiration = shared
        if let column = roles.expiration, !row.fields[column].isEmpty {
            switch GivenExpiration.parse(row.fields[column]) {
            case .success(let own): expiration = own.expiration(start: plan.headers.start)
            case .failure(let fault): return .invalid(RowFault.find(fault, column, row, plan))
            }
        }
        guard let expiration else { return broadcast == nil ? nil : .invalid(expirationMissing(row)) }
        if expiration.hasPassed(now: Int64(now)) { return .expired }
        flight.expirationLength = UInt8(expiration.write(to: room + flight.expirationOffset))
        return nil
    }
}
