import APNSBatchNotification
import CSVReader

extension RowPreparer {
    /// Path and channel id of a broadcast; gives the row's end where it ends here. The id of the request stands between
    /// them, and its room is left free.
    @inline(never)
    func writeChannel(
        _ broadcast: BroadcastPlan, _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight
    ) -> Prepared? {
        let channel = row.fields[plan.roles.token]
        if let fault = ChannelID.check(channel) {
            return .invalid(RowFault.find(fault, plan.roles.token, row, plan))
        }
        broadcast.path.withUnsafeBytes { room.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        flight.pathLength = broadcast.path.count
        flight.channelLength = UInt8(channel.count)
        (room + flight.channelOffset).copyMemory(from: channel.baseAddress!, byteCount: channel.count)
        return nil
    }

    /// The plan has seen that there is a column.
    @inline(never)
    func expirationMissing(_ row: borrowing CSVRow) -> RowFinding {
        RowFault.find(.expirationMissing, plan.roles.expiration ?? plan.roles.token, row, plan)
    }
}
