/// Determines how long answers may gather while all streams are taken, so that one system call and one TLS record carry
/// many, and a slow server does not wake the lane for every answer.
///
/// The time is the longer of two: a sixteenth of the mean time of answers, at most 5 ms, because more would slow down
/// sending over a long distance; or an eighth of the difference between the mean and the quickest answer, at most 10 ms,
/// because requests queue at the server for that difference, and it has enough to do meanwhile.
struct Gathering: Equatable {
    /// How long answers may gather, in microseconds.
    private(set) var time = Self.least

    private var latencies: UInt64 = 0
    private var answers: UInt64 = 0
    /// The time of the quickest of all answers, in microseconds.
    private var quickest = UInt64.max

    /// The least time to gather. All three are in microseconds.
    static let least: UInt32 = 300
    /// The longest time for which tasks that await an answer of a sender wait for others.
    static let mostOfSender: UInt32 = 1000
    private static let mostOfWay: UInt64 = 5000
    /// The same as the longest wait of a lane.
    private static let mostOfQueue: UInt64 = 10_000
    /// The least number of answers for a new result.
    private static let answersLeast: UInt64 = 100

    /// Counts an answer that took `latency` microseconds.
    mutating func note(latency: UInt32) {
        latencies &+= UInt64(latency)
        answers &+= 1
        quickest = min(quickest, UInt64(latency))
    }

    /// Computes `time` from the answers since the last result, if there are enough.
    mutating func look() {
        guard answers >= Self.answersLeast else { return }
        let mean = latencies / answers
        let ofQueue = mean > quickest ? (mean - quickest) / 8 : 0
        time = max(Self.least, UInt32(max(min(mean / 16, Self.mostOfWay), min(ofQueue, Self.mostOfQueue))))
        (latencies, answers) = (0, 0)
    }
}
