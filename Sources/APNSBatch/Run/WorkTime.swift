/// The time in which at least one of several parts was being sent.
struct WorkTime {
    /// When parts were being sent, in seconds since 1970-01-01 00:00 UTC.
    private var intervals: [(from: Double, to: Double)] = []
    /// The seconds of work of all parts.
    private var sum = 0.0

    /// Adds the time of a part.
    ///
    /// - Parameters:
    ///   - began: In whole seconds, as a summary has it.
    ///   - worked: For how many seconds its sessions worked.
    mutating func add(began: Int64, ended: Int64, worked: Double) {
        let from = Double(began)
        intervals.append((from, max(Double(ended), from + worked)))
        sum += worked
    }

    /// The length of all intervals together, in which time that several have counts once. A part that was resumed has pauses, so
    /// that it is never more than the work of all parts.
    var seconds: Double {
        var (total, end) = (0.0, -Double.infinity)
        for interval in intervals.sorted(by: { $0.from < $1.from }) where interval.to > end {
            total += interval.to - max(interval.from, end)
            end = interval.to
        }
        return min(total, sum)
    }
}
