import APNSProtocol

/// What is known of a row when it will not be sent again.
enum LastWord: Equatable {
    /// Every request for it surely did not arrive, or there was none.
    case neverSent
    /// APNs answered the last request, and asked for another one later.
    case refused(status: UInt16, KnownReason?)
    /// The last request may have arrived, perhaps an earlier process's.
    case noAnswer
}

extension Flight {
    var lastWord: LastWord {
        if attempts == 0 { return isOfEarlier ? .noAnswer : .neverSent }
        return lastStatus > 0 ? .refused(status: lastStatus, lastReason) : .noAnswer
    }

    /// When APNs is to give up on it; nil for never, and where it is to try once.
    var expiration: Expiration? {
        guard expirationLength > 0, let record else { return nil }
        let digits = UnsafeRawBufferPointer(start: record + expirationOffset, count: Int(expirationLength))
        return try? Expiration.parse(digits).get()
    }
}
