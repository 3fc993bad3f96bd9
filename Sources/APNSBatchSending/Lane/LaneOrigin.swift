import APNSBatchTransport

/// What a lane does for the origin of its rows. These functions belong to the turn of a lane, which knows no origin by itself.
protocol LaneOrigin: RowOrigin, ~Copyable {
    /// Whether a run may end before all its rows have outcomes, because a later one sends the rest. Otherwise it goes on after
    /// failures that concern single rows, and each row gets the answer that it had.
    static var mayGiveUp: Bool { get }
    /// Whether connections are kept while there is no row, so that the next row does not wait for one.
    static var keepsConnections: Bool { get }

    /// Called when a turn begins, before rows are taken.
    static func beginTurn(_ rows: inout LaneRows<Self>)

    /// Returns the longest time for which the lane waits now, in microseconds.
    ///
    /// - Parameter answered: The number of requests that ended in the last turn.
    static func wait(
        _ hold: Admission.Hold, _ admission: borrowing Admission, _ rows: inout LaneRows<Self>,
        _ connections: borrowing LaneConnections, answered: Int
    ) -> UInt32

    /// Returns how long answers may gather, in microseconds.
    static func linger(
        _ hold: Admission.Hold, _ admission: borrowing Admission, inFlight: Int, _ gathering: Gathering
    ) -> UInt32

    /// Called after the wait.
    static func didWait(_ rows: borrowing LaneRows<Self>)

    /// Called when a turn ends, after all answers.
    static func endTurn(_ rows: inout LaneRows<Self>)

    /// Called every few milliseconds.
    static func tick(_ rows: borrowing LaneRows<Self>, _ control: RunControl, now: UInt64)
}

extension FeedRows: LaneOrigin {
    static var mayGiveUp: Bool { true }
    static var keepsConnections: Bool { false }

    static func beginTurn(_ rows: inout LaneRows<FeedRows>) {}

    static func wait(
        _ hold: Admission.Hold, _ admission: borrowing Admission, _ rows: inout LaneRows<FeedRows>,
        _ connections: borrowing LaneConnections, answered: Int
    ) -> UInt32 {
        admission.wait(hold, now: connections.now)
    }

    static func linger(
        _ hold: Admission.Hold, _ admission: borrowing Admission, inFlight: Int, _ gathering: Gathering
    ) -> UInt32 {
        admission.linger(hold, inFlight: inFlight, gathering)
    }

    static func didWait(_ rows: borrowing LaneRows<FeedRows>) {}

    static func endTurn(_ rows: inout LaneRows<FeedRows>) {}

    static func tick(_ rows: borrowing LaneRows<FeedRows>, _ control: RunControl, now: UInt64) {}
}

extension MailboxRows: LaneOrigin {
    static var mayGiveUp: Bool { false }
    static var keepsConnections: Bool { true }

    static func beginTurn(_ rows: inout LaneRows<MailboxRows>) { rows.endInterrupted() }

    /// The lane is woken when a notification is submitted, unless so many requests are in flight that the next turn comes soon, or
    /// so many were just answered that those who awaited them are about to submit more: the first of these would wake the lane for
    /// itself alone.
    static func wait(
        _ hold: Admission.Hold, _ admission: borrowing Admission, _ rows: inout LaneRows<MailboxRows>,
        _ connections: borrowing LaneConnections, answered: Int
    ) -> UInt32 {
        rows.deliver()
        let usual = admission.wait(hold, now: connections.now)
        guard hold == .rows else { return usual }
        if max(rows.inFlight, answered) >= Admission.lingerFrom { return min(usual, Admission.busyWait) }
        guard rows.mayWait() else { return 0 }
        return rows.isIdle && connections.isQuiet ? Admission.serviceWait : usual
    }

    static func linger(
        _ hold: Admission.Hold, _ admission: borrowing Admission, inFlight: Int, _ gathering: Gathering
    ) -> UInt32 {
        admission.lingerOfSender(hold, inFlight: inFlight, gathering)
    }

    static func didWait(_ rows: borrowing LaneRows<MailboxRows>) { rows.didWait() }

    static func endTurn(_ rows: inout LaneRows<MailboxRows>) { rows.deliver() }

    /// Ends a sender that was closed: first it starts nothing more, and then it awaits nothing more.
    static func tick(_ rows: borrowing LaneRows<MailboxRows>, _ control: RunControl, now: UInt64) {
        switch rows.tickMailbox(now: now) {
        case .none: break
        case .startsNothing: if !control.stopping { control.stop(.interrupted) }
        case .now: control.stopAtOnce()
        }
    }
}
