import APNSBatchNotification
import APNSBatchRows

extension RowPreparer {
    /// The largest size of the parts of a record before the payload, in bytes.
    static let ownLimit =
        max(DeviceToken.pathLengthMax, BroadcastRequest.pathLengthMax) + MessageID.length
        + max(CollapseID.lengthMax, ChannelID.lengthMax) + Expiration.lengthMax

    /// Writes path, apns-id, collapse id, channel id and expiration. Returns the result if the row cannot be sent, and nil
    /// if it can.
    ///
    @inline(__always)
    mutating func writeOwn(
        _ row: borrowing Row, _ record: inout RowRecord, _ expiration: Expiration?, _ now: UInt64
    ) -> Prepared? {
        if let broadcast {
            if let ended = writePath(broadcast, row, &record) { return ended }
        } else {
            let token = unsafe row.fields[roles.token]
            if let fault = unsafe DeviceToken.writePath(token, to: record.room(DeviceToken.pathLengthMax).baseAddress!)
            {
                return .invalid(RowFault.find(fault, roles.token, row, plan))
            }
            record.add(.path, length: DeviceToken.pathPrefixLength + token.count)
        }
        let id = unsafe record.room(MessageID.length).baseAddress!
        if let column = roles.messageID, unsafe !row.fields[column].isEmpty {
            if let fault = unsafe MessageID.write(row.fields[column], to: id) {
                return .invalid(RowFault.find(fault, column, row, plan))
            }
        } else {
            unsafe MessageID(campaign: plan.identity, row: row.row).write(to: id)
        }
        record.add(.id, length: MessageID.length)
        if hasCollapseIDs, let ended = writeCollapseID(row, &record) { return ended }
        if broadcast != nil { unsafe record.add(.channelID, copying: row.fields[roles.token]) }
        return hasExpirations ? writeExpiration(row, &record, expiration, now) : nil
    }

    /// Checks the channel id of a row and writes the path of the broadcast.
    @inline(never)
    private mutating func writePath(
        _ broadcast: BroadcastPlan, _ row: borrowing Row, _ record: inout RowRecord
    ) -> Prepared? {
        if let fault = unsafe ChannelID.check(row.fields[roles.token]) {
            return .invalid(RowFault.find(fault, roles.token, row, plan))
        }
        unsafe broadcast.path.withUnsafeBytes { unsafe record.add(.path, copying: $0) }
        return nil
    }

    private mutating func writeCollapseID(_ row: borrowing Row, _ record: inout RowRecord) -> Prepared? {
        guard let column = roles.collapseID, unsafe !row.fields[column].isEmpty else {
            guard let template = plan.headers.collapseID else { return nil }
            return renderCollapseID(template, row, &record)
        }
        let value = unsafe row.fields[column]
        if let fault = unsafe CollapseID.check(value) { return .invalid(RowFault.find(fault, column, row, plan)) }
        unsafe record.add(.collapseID, copying: value)
        return nil
    }

    /// Renders the campaign's collapse id for a row. An empty one is left out.
    private mutating func renderCollapseID(
        _ template: TextTemplate, _ row: borrowing Row, _ record: inout RowRecord
    ) -> Prepared? {
        let room = unsafe record.room(CollapseID.lengthMax)
        let size = unsafe template.render(fields: row.fields, into: room)
        guard size <= CollapseID.lengthMax else {
            return .invalid(RowFault.find(.collapseIDTooLong(size), "", row, plan))
        }
        let text = unsafe UnsafeRawBufferPointer(rebasing: room[..<size])
        if size > 0, let fault = unsafe CollapseID.check(text) {
            return unsafe .invalid(RowFault.find(fault, String(decoding: text, as: UTF8.self), row, plan))
        }
        record.add(.collapseID, length: size)
        return nil
    }

    private mutating func writeExpiration(
        _ row: borrowing Row, _ record: inout RowRecord, _ shared: Expiration?, _ now: UInt64
    ) -> Prepared? {
        var expiration = shared
        if let column = roles.expiration, unsafe !row.fields[column].isEmpty {
            switch unsafe GivenExpiration.parse(row.fields[column]) {
            case .success(let own): expiration = own.expiration(start: plan.headers.start)
            case .failure(let fault): return .invalid(RowFault.find(fault, column, row, plan))
            }
        }
        guard let expiration else {
            // The plan has checked that broadcasts have a column for the expiration.
            return broadcast == nil
                ? nil : .invalid(RowFault.find(.expirationMissing, roles.expiration ?? roles.token, row, plan))
        }
        if expiration.hasPassed(now: Int64(now)) { return .expired }
        unsafe record.add(.expiration, length: expiration.write(to: record.room(Expiration.lengthMax).baseAddress!))
        return nil
    }
}
