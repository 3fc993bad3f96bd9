/// The number of answers by their time, with a precision of one percent. The counts of several lanes and sessions are added up,
/// and those of an earlier moment are subtracted, for the answers of the time between. Takes 26 KiB, from the first answer on.
package struct AnswerTimeCounts: Equatable, Sendable {
    /// The number of answers by the index of their ``AnswerBucket``.
    package var buckets = Self.none
    /// The longest time of all answers, in microseconds.
    package var longest: UInt32 = 0

    package init() {}

    /// All values without an answer share it.
    private static let none = [UInt64](repeating: 0, count: AnswerBucket.count)
    /// The limit of a bucket, far above what a campaign can reach, so that no sum overflows.
    private static let bucketMax: UInt64 = 1 << 48

    package mutating func note(_ microseconds: UInt32) {
        note(microseconds, count: 1)
        note(longest: microseconds)
    }

    /// Adds `count` answers of one time.
    ///
    /// - Parameters:
    ///   - microseconds: The time, at most the longest one that is passed to `note(longest:)`.
    ///   - count: The number of answers. A number that no run can reach, as in a damaged file, is ignored.
    package mutating func note(_ microseconds: UInt32, count: UInt64) {
        let index = AnswerBucket.index(of: microseconds)
        guard count < Self.bucketMax - buckets[index] else { return }
        buckets[index] += count
    }

    package mutating func note(longest microseconds: UInt32) { longest = max(longest, microseconds) }

    package mutating func add(_ other: AnswerTimeCounts) {
        other.forEach { time, count in note(time, count: count) }
        note(longest: other.longest)
    }

    /// Calls `body` with each bucket that has answers: the longest time in it, which no answer exceeds, and their number.
    package func forEach(_ body: (_ time: UInt32, _ count: UInt64) -> Void) {
        for index in buckets.indices where buckets[index] > 0 { body(time(at: index), buckets[index]) }
    }

    /// The longest time of a bucket, in microseconds, or of all answers if that is less.
    private func time(at index: Int) -> UInt32 { min(longest, AnswerBucket.longestTime(at: index)) }

    /// The number of answers.
    package var total: UInt64 { buckets.reduce(0, &+) }

    /// Returns the answers that came after an earlier moment of the same session. The longest time of them is exact if it is
    /// the longest of the session, and has a precision of one percent otherwise.
    package func since(_ earlier: AnswerTimeCounts) -> AnswerTimeCounts {
        var interval = self
        for index in buckets.indices { interval.buckets[index] &-= earlier.buckets[index] }
        let last = interval.buckets.lastIndex { $0 > 0 }
        interval.longest = last.map { min(longest, AnswerBucket.longestTime(at: $0)) } ?? 0
        return interval
    }

    /// Returns the time within which this share of the answers came, in microseconds; nil without any answers.
    package func quantile(_ share: Double) -> UInt32? {
        let rank = UInt64((share.nextDown * Double(total)).rounded(.up))
        var answers: UInt64 = 0
        for index in buckets.indices {
            answers += buckets[index]
            if answers >= max(1, rank) { return time(at: index) }
        }
        return nil
    }

    /// Returns the times of at most this many answers, in microseconds and rising: those of all answers if there are no more, and
    /// otherwise of answers that are evenly spaced in this order, so that their quantiles are those of all.
    package func sample(of most: Int) -> [UInt32] {
        let total = total
        let size = min(UInt64(most), total)
        var times: [UInt32] = []
        times.reserveCapacity(Int(size))
        var answers: UInt64 = 0
        for index in buckets.indices where buckets[index] > 0 {
            answers += buckets[index]
            let time = time(at: index)
            // The rank of each is in the middle of the answers that it stands for.
            while times.count < size, (2 * UInt64(times.count) + 1) * total / (2 * size) < answers {
                times.append(time)
            }
        }
        return times
    }
}

extension AnswerTimeCounts {
    /// Returns how many answers took at most as long as each bound, and the sum of all times, in microseconds. Both have the
    /// precision of the buckets, and only grow.
    ///
    /// - Parameter bounds: In microseconds, rising.
    /// - Returns: A count for each bound, and the number of all answers.
    package func cumulative(upTo bounds: [UInt32]) -> (counts: [UInt64], sum: Double) {
        var counts = [UInt64](repeating: 0, count: bounds.count + 1)
        var (sum, shortest) = (0.0, 0.0)
        for index in buckets.indices {
            let longest = AnswerBucket.longestTime(at: index)
            counts[bounds.firstIndex { longest <= $0 } ?? bounds.count] &+= buckets[index]
            sum += Double(buckets[index]) * (shortest + Double(longest)) / 2
            shortest = Double(longest) + 1
        }
        for index in counts.indices.dropFirst() { counts[index] &+= counts[index - 1] }
        return (counts, sum)
    }
}
