import APNSBatchNotification

extension Campaign.Expiration {
    /// Reads seconds since 1970 or 0, a time of RFC 3339 (`2026-01-01T08:00:00Z`), or a duration (`90s`, `30m`, `2h`,
    /// `7d`); nil for anything else.
    public init?(_ text: String) {
        guard case .success(let rule) = Array(text.utf8).withUnsafeBytes({ GivenExpiration.parse($0) }) else {
            return nil
        }
        switch rule {
        case .at(let expiration): self = .at(UInt64(expiration.seconds))
        case .after(let seconds): self = .after(UInt64(seconds))
        }
    }

    /// As a campaign file would say it.
    package var text: String {
        switch self {
        case .at(let seconds): "\(seconds)"
        case .after(let seconds): "\(seconds)s"
        }
    }
}
