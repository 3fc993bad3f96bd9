import Histogram

/// The distribution of the times between request and answer, in microseconds, with a precision of one percent. It takes 26
/// KiB for any number of answers.
package struct AnswerTimes: Equatable, Sendable {
    /// The histogram, which is allocated for the first answer.
    private var histogram: Histogram<UInt64>?
    /// An upper bound of the sum of the recorded times. The library traps if that sum overflows.
    private var sumBound: UInt64 = 0
    /// The longest time of all answers. It is more exact than the histogram.
    package private(set) var longest: UInt32 = 0

    /// The number of answers.
    package var count: UInt64 { histogram?.totalCount ?? 0 }

    package mutating func note(_ microseconds: UInt32) {
        note(UInt64(microseconds), count: 1)
        note(longest: microseconds)
    }

    package mutating func note(longest microseconds: UInt32) { longest = max(longest, microseconds) }

    package mutating func add(_ other: AnswerTimes) {
        other.forEach { time, count in note(time, count: count) }
        note(longest: other.longest)
    }

    /// Returns the time within which this share of the answers came, in microseconds; nil without any answers.
    package func quantile(_ share: Double) -> UInt32? {
        guard let histogram, histogram.totalCount > 0 else { return nil }
        return min(longest, UInt32(clamping: histogram.valueAtPercentile(share * 100)))
    }

    /// Calls `body` with each bucket: the longest time in it, and the number of answers in it. The longest time of all is
    /// exact.
    package func forEach(_ body: (_ time: UInt64, _ count: UInt64) -> Void) {
        guard let histogram else { return }
        for value in histogram.recordedValues() { body(min(value.value, histogram.maxRecorded), value.count) }
    }

    /// Records `count` answers of one time.
    ///
    /// - Parameters:
    ///   - microseconds: The time, at most the longest one that is passed to `note(longest:)`.
    ///   - count: The number of answers. A number that no run can reach, as in a damaged file, is ignored.
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

    /// The limit of `sumBound`, far above what a campaign can reach.
    private static let sumMax: UInt64 = 1 << 62

    package static func == (left: Self, right: Self) -> Bool {
        left.longest == right.longest && left.histogram == right.histogram
    }
}
