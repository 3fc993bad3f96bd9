import APNSBatchBasics
import APNSBatchNotification

extension Campaign.Expiration {
    /// Parses seconds since 1970 or 0, a time of RFC 3339 (`2026-01-01T08:00:00Z`), or a duration (`90s`, `30m`, `2h`,
    /// `7d`). Returns nil for any other text.
    public init?(_ text: String) {
        guard case .success(let rule) = unsafe Array(text.utf8).withUnsafeBytes({ unsafe GivenExpiration.parse($0) })
        else {
            return nil
        }
        switch rule {
        case .at(let expiration): self = .at(UInt64(expiration.seconds))
        case .after(let seconds): self = .after(.seconds(seconds))
        }
    }

    /// The expiration as it is written in a campaign file.
    package var text: String {
        switch self {
        case .at(let seconds): "\(seconds)"
        case .after(let time): "\(time.seconds)s"
        }
    }
}
