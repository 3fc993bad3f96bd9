import Histogram

/// How long answers take, in microseconds, right to one percent. Takes 26 KiB, however many there are.
package struct AnswerTimes: Equatable, Sendable {
    /// Made for the first answer.
    private var histogram: Histogram<UInt64>?
    /// At least the sum of the times that were noted: the library traps when that overflows.
    private var sumBound: UInt64 = 0
    /// Of all answers, also those that were not noted.
    package private(set) var longest: UInt32 = 0

    /// Answers that were noted.
    package var count: UInt64 { histogram?.totalCount ?? 0 }

    package mutating func note(_ microseconds: UInt32) {
        note(UInt64(microseconds), count: 1)
        note(longest: microseconds)
    }

    package mutating func note(longest microseconds: UInt32) { longest = max(longest, microseconds) }

    mutating func add(_ other: AnswerTimes) {
        other.forEach { time, count in note(time, count: count) }
        note(longest: other.longest)
    }

    /// At most so long took this share of the answers, in microseconds; nil without any.
    package func quantile(_ share: Double) -> UInt32? {
        guard let histogram, histogram.totalCount > 0 else { return nil }
        return min(longest, UInt32(clamping: histogram.valueAtPercentile(share * 100)))
    }

    /// Gives times, and how many answers took them at most; the longest is as it was.
    package func forEach(_ body: (_ time: UInt64, _ count: UInt64) -> Void) {
        guard let histogram else { return }
        for value in histogram.recordedValues() { body(min(value.value, histogram.maxRecorded), value.count) }
    }

    /// - Parameters:
    ///   - microseconds: no longer than the longest.
    ///   - count: answers that took it; passed over where nobody can have had so many.
    package mutating func note(_ microseconds: UInt64, count: UInt64) {
        // The library adds up the ends of its buckets, which are less than twice the times in them.
        let (added, isTooMuch) = (2 * microseconds + 1).multipliedReportingOverflow(by: count)
        guard !isTooMuch, added < Self.sumMax, sumBound < Self.sumMax else { return }
        sumBound += added
        if histogram == nil {
            histogram = Histogram(highestTrackableValue: 1 << 32, numberOfSignificantValueDigits: .two)
        }
        histogram?.record(microseconds, count: count)
    }

    /// No campaign comes near it.
    private static let sumMax: UInt64 = 1 << 62

    package static func == (left: Self, right: Self) -> Bool {
        left.longest == right.longest && left.histogram == right.histogram
    }
}
