/// How many streams of its connections the pool uses.
extension ConnectionPool {
    static var refusedStream: UInt32 { 7 }
    static var enhanceYourCalm: UInt32 { 11 }

    /// A stream of this member was reset, and its outcome is known.
    ///
    /// - Parameter answered: answers so far, over all members.
    mutating func wasReset(_ member: Int, code: Int64, answered: UInt64, now: UInt64) {
        guard code == Self.refusedStream || code == Self.enhanceYourCalm else { return }
        let before = streamLimit.allowed
        streamLimit.wasReset(open: members[member].inFlight + 1, underWay: inFlight, answered: answered, now: now)
        if streamLimit.allowed != before { refreshStreams() }
    }

    /// A connection was closed because the peer has too much to do.
    mutating func tooMany(open: Int, now: UInt64) {
        streamLimit.wasClosed(open: open, underWay: inFlight, answered: watchdog.answered, now: now)
        refreshStreams()
    }

    mutating func adjustStreams(now: UInt64, answered: UInt64) {
        let before = streamLimit.allowed
        streamLimit.adjust(now: now, underWay: inFlight, answered: answered)
        if streamLimit.allowed != before { refreshStreams() }
    }

    private mutating func refreshStreams() {
        for index in members.indices where members[index].phase == .up {
            members[index].streams = min(members[index].announced, streamLimit.allowed)
        }
    }
}
