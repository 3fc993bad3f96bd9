/// The number of answers by their time, from the start of a session to some moment. The counts of several lanes are added up,
/// and those of an earlier moment are subtracted, for the answers of the time between. Takes 26 KiB.
///
/// Quantiles are computed here, because the library takes a million instructions for three of them, which is too much for each
/// second.
package struct AnswerTimeCounts: Equatable, Sendable {
    /// The number of answers by the index of their ``AnswerBucket``.
    package var buckets = [UInt64](repeating: 0, count: AnswerBucket.count)
    /// The longest time of all answers, in microseconds.
    package var longest: UInt32 = 0

    package init() {}

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
            if answers >= max(1, rank) { return min(longest, AnswerBucket.longestTime(at: index)) }
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
            let time = min(longest, AnswerBucket.longestTime(at: index))
            // The rank of each is in the middle of the answers that it stands for.
            while times.count < size, (2 * UInt64(times.count) + 1) * total / (2 * size) < answers {
                times.append(time)
            }
        }
        return times
    }

    /// The answers as a histogram of the library.
    package var times: AnswerTimes {
        var times = AnswerTimes()
        for index in buckets.indices where buckets[index] > 0 {
            times.note(UInt64(min(longest, AnswerBucket.longestTime(at: index))), count: buckets[index])
        }
        times.note(longest: longest)
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
