/// Measures how long answers take, in intervals that follow one another: as many answers as make a mean, and a quarter of an
/// answer at least, so that an interval lies within the time before a change or after it.
struct AnswerInterval: Equatable {
    /// The mean time of an answer in the last interval, in microseconds; 0 before the first has ended.
    private(set) var mean = 0.0
    /// Its standard deviation.
    private(set) var deviation = 0.0
    /// Whether rows waited because no stream was free, in the current interval and in the last one.
    var isFull = false
    private(set) var wasFull = false
    /// The beginning of the current interval.
    private(set) var since: UInt64
    private var sumThen = AnswerSum()

    init(start: UInt64) { since = start }

    /// What the mean is before the first interval has ended.
    mutating func assume(_ mean: Double) { self.mean = mean }

    /// Ends the interval if it is long enough. Returns its length in nanoseconds; then `mean` and `wasFull` describe it.
    ///
    /// - Parameter sum: The answers so far.
    mutating func end(now: UInt64, _ sum: AnswerSum, _ limits: ConnectionPool.Limits) -> UInt64? {
        let length = now - since
        let least = max(limits.measureInterval, UInt64(mean * 250))
        let answers = sum - sumThen
        guard length >= least,
            answers.count >= limits.measureAnswers || length >= max(limits.measureLongest, 4 * least),
            let mean = answers.mean
        else { return nil }
        (self.mean, deviation) = (mean, answers.deviation)
        (wasFull, isFull, since, sumThen) = (isFull, false, now, sum)
        return length
    }
}
