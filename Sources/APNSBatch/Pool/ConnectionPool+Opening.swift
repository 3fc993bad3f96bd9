/// When connections are opened.
extension ConnectionPool {
    /// No pause while there are addresses left to try; then exponential, with jitter from 0.5 to 1 of the full pause.
    func pause(failures: Int, addresses: Int, jitter: Double) -> UInt64 {
        let rounds = failures / max(1, addresses)
        guard rounds > 0 else { return 0 }
        let full = min(limits.backoffLargest, limits.backoffFirst << UInt64(min(rounds - 1, 20)))
        return UInt64(Double(full) * (0.5 + jitter / 2))
    }

    mutating func openIfDue(now: UInt64, wanted: Int) -> Action? {
        let open = members.count { ($0.phase == .connecting || $0.phase == .up) && !$0.isLeaving }
        // Until the first connection has come up there is nothing to learn from a second attempt beside it.
        let connecting = members.contains { $0.phase == .connecting && !$0.isLeaving }
        guard open < wanted, now >= nextOpenAt, everUp || !connecting else { return nil }
        guard let index = members.firstIndex(where: { $0.phase == .free }) else { return nil }
        members[index] = Member()
        members[index].phase = .connecting
        nextOpenAt = now + limits.openSpacing
        let address = nextAddress
        if everUp { nextAddress += 1 }
        return .open(member: index, address: address)
    }
}
