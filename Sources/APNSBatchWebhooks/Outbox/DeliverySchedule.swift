/// When a running process makes its attempts. An endpoint that has failed is left alone for a while, and longer each time,
/// whatever events wait for it.
package struct DeliverySchedule: Sendable {
    private struct Failures {
        var count: Int
        /// The time of the last one, by the monotonic clock in seconds.
        var last: Int64
    }

    private var failures: [String: Failures] = [:]

    /// The pauses in seconds after the first, the second, … failure in a row. The last one is repeated.
    private static let pauses: [Int64] = [5, 300, 1800, 7200]

    package init() {}

    /// Notes that an attempt for an endpoint has failed.
    ///
    /// - Parameter now: The time by the monotonic clock, in seconds: pauses do not change when the time of day is set.
    package mutating func noteFailure(of urlFile: String, now: Int64) {
        failures[urlFile] = Failures(count: (failures[urlFile]?.count ?? 0) + 1, last: now)
    }

    /// Notes that all attempts for an endpoint have succeeded.
    package mutating func noteSuccess(of urlFile: String) { failures[urlFile] = nil }

    /// Whether it is time for an attempt.
    ///
    /// - Parameters:
    ///   - now: The time by the monotonic clock, in seconds.
    ///   - wallClock: The time of day, in seconds since 1970-01-01 00:00 UTC.
    package func isDue(_ entry: OutboxEntry, now: Int64, wallClock: Int64) -> Bool {
        guard entry.isAllowed(now: wallClock) else { return false }
        guard let failures = failures[entry.urlFile] else { return true }
        return now >= failures.last + Self.pauses[min(failures.count, Self.pauses.count) - 1]
    }
}
