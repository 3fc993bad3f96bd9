/// The answers of a pool since its start, from which the mean time of an interval follows: an addition for each answer, and no
/// reset, so that several judges can measure over intervals of their own.
struct AnswerSum: Equatable {
    private(set) var count: UInt64 = 0
    /// In microseconds.
    private(set) var time: UInt64 = 0
    /// The sum of the squares, in microseconds squared.
    private var squares = 0.0

    /// Counts an answer that took `latency` microseconds.
    @inline(__always)
    mutating func note(latency: UInt32) {
        count &+= 1
        time &+= UInt64(latency)
        squares += Double(latency) * Double(latency)
    }

    /// The answers since an earlier sum.
    static func - (now: AnswerSum, then: AnswerSum) -> AnswerSum {
        var difference = now
        difference.count &-= then.count
        difference.time &-= then.time
        difference.squares -= then.squares
        return difference
    }

    /// The mean time of an answer in microseconds, at least 1; nil without an answer.
    var mean: Double? { count > 0 ? max(1, Double(time) / Double(count)) : nil }

    /// The standard deviation of the time of an answer, in microseconds.
    var deviation: Double {
        guard let mean else { return 0 }
        return max(0, squares / Double(count) - mean * mean).squareRoot()
    }
}
