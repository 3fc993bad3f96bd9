import APNSBatchNotification

/// What is known of a row when it will not be sent again.
enum LastWord: Equatable {
    /// Every request for it surely did not arrive, or there was none.
    case neverSent
    /// APNs answered the last request, and asked for another one later.
    case refused(status: UInt16, KnownReason?)
    /// A request may have arrived, this process's or an earlier one's.
    case noAnswer
}

extension Flight {
    var lastWord: LastWord {
        if mayHaveArrived { return .noAnswer }
        if attempts == 0 { return .neverSent }
        return lastStatus > 0 ? .refused(status: lastStatus, lastReason) : .noAnswer
    }

    /// When APNs is to give up on it; nil for never, and where it is to try once.
    var expiration: Expiration? {
        guard expirationLength > 0, let record else { return nil }
        let digits = UnsafeRawBufferPointer(start: record + expirationOffset, count: Int(expirationLength))
        return try? Expiration.parse(digits).get()
    }
}
