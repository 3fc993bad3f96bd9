import APNSBatchBasics

/// The time zone in which times are shown, with the changes of the clock during the run.
public struct LocalTime: Sendable, Codable, Equatable {
    /// The name of the zone, such as `Europe/Berlin`.
    public var zone: String
    /// From when on local time is ahead of UTC by how much, in ascending order. The first one also holds before.
    public var offsets: [Offset]

    public struct Offset: Sendable, Codable, Equatable {
        /// Seconds since 1970-01-01 00:00 UTC.
        public var fromUnixSeconds: Int64
        public var utcOffsetSeconds: Int64

        enum CodingKeys: String, CodingKey {
            case fromUnixSeconds = "from_unix_seconds"
            case utcOffsetSeconds = "utc_offset_seconds"
        }
    }

    /// Finds the changes of the clock in an interval of at most some days, in which there is at most one.
    ///
    /// - Parameters:
    ///   - interval: In seconds since 1970-01-01 00:00 UTC.
    ///   - offset: Returns by how many seconds local time is ahead of UTC at an instant.
    public init(zone: String, interval: ClosedRange<Int64>, offset: (_ instant: Int64) -> Int64) {
        self.zone = zone
        let first = Offset(fromUnixSeconds: interval.lowerBound, utcOffsetSeconds: offset(interval.lowerBound))
        offsets = [first]
        let last = offset(interval.upperBound)
        guard last != first.utcOffsetSeconds else { return }
        var (before, after) = (interval.lowerBound, interval.upperBound)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if offset(middle) == first.utcOffsetSeconds { before = middle } else { after = middle }
        }
        offsets.append(Offset(fromUnixSeconds: after, utcOffsetSeconds: last))
    }

    /// By how many seconds local time is ahead of UTC at an instant.
    func offset(at instant: Int64) -> Int64 {
        (offsets.last { $0.fromUnixSeconds <= instant } ?? offsets.first)?.utcOffsetSeconds ?? 0
    }

    /// Returns date and time of day, such as `2026-11-21 03:00:12`.
    func text(_ instant: Int64) -> String {
        Timestamp.text(instant + offset(at: instant)).replacing("T", with: " ").replacing("Z", with: "")
    }

    /// Returns the time of day, such as `03:00:12`.
    func clock(_ instant: Int64) -> String { String(text(instant).suffix(8)) }

    /// Returns the instant of a time in UTC, such as `2026-11-21T03:00:00Z`; nil for another text.
    static func instant(_ text: String) -> Int64? {
        unsafe Array(text.utf8).withUnsafeBytes { unsafe Timestamp.parse($0) }
    }
}
