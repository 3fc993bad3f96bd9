import APNSBatchNotification

/// Rows whose time has passed: the campaign's or their own. Looked at before the first request and before each other one.
extension Lane {
    private static var lateCause: String { "not after: the campaign's deadline has passed" }
    private static var ownCause: String { "expiration: has passed before it could be sent" }

    /// After the campaign's deadline nothing is sent, and what is left ends here.
    mutating func endLateRows() -> Filled {
        while let flight = takeWaiting() { expire(flight, Self.lateCause) }
        for _ in 0..<Self.unsentPerTurn {
            guard rows.hasRow() else { return .allThatGoes }
            if let error = rows.row.error {
                recordInvalid(RowFault.find(error, plan))
            } else if rows.mayHaveBeenSent {
                recordNotKnown()
            } else {
                recordUnsent(.expired, cause: Self.lateCause)
            }
            rows.consume()
        }
        return .batch
    }

    /// The next row that may be sent again now.
    mutating func takeDue() -> Int? {
        while let flight = retries.takeDue(now: now) {
            if endIfExpired(flight) { continue }
            if flights[flight].mayHaveArrived { flights[flight].past |= Attempts.resentBit }
            return flight
        }
        return nil
    }

    /// Whether the row's own time passed while it waited for its turn; it has ended then.
    mutating func endIfExpired(_ flight: Int) -> Bool {
        guard flights[flight].expiration?.hasPassed(now: Int64(rows.wallClock)) == true else { return false }
        expire(flight, Self.ownCause)
        return true
    }

    /// Whether the row could still be sent after so many nanoseconds; it has ended if not.
    mutating func endIfTooLate(_ flight: Int, after delay: UInt64) -> Bool {
        if let deadline = plan.deadline, !deadline.leavesTime(after: delay, now: rows.wallClock) {
            expire(flight, Self.lateCause)
            return true
        }
        let due = rows.wallClock + delay / 1_000_000_000
        guard flights[flight].expiration?.hasPassed(now: Int64(due)) == true else { return false }
        expire(flight, Self.ownCause)
        return true
    }

    /// The end of a row that may not be sent any more. What APNs said of it stays said, and what may have arrived may have
    /// arrived: only a row that was never sent is expired.
    private mutating func expire(_ flight: Int, _ cause: String) {
        switch flights[flight].lastWord {
        case .neverSent: finish(flight, .expired, cause: cause)
        case .refused(let status, let reason):
            let outcome: Outcome = Self.isUnavailability(status) ? .unavailable : .rejected
            finish(flight, outcome, status: status, cause: reason?.text ?? "")
        case .noAnswer: finishUnknown(flight, cause: cause)
        }
    }
}
