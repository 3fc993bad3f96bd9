/// Determines how long answers may gather, so that one system call and one TLS record carry many, and a slow server or a
/// limited rate does not wake the lane for every answer.
///
/// While all streams are taken, the time is the longer of two: a sixteenth of the mean time of answers, at most 5 ms, because
/// more would slow down sending over a long distance; or an eighth of the difference between the mean and the quickest
/// answer, at most 10 ms, because requests queue at the server for that difference, and it has enough to do meanwhile.
///
/// With a limit of requests per second no request waits for an answer. The time is a hundredth of the mean time of answers
/// then, so that the measured times of answers stay true, and at most a lane's wait for its next requests.
///
/// The campaign's limit applies to all of them.
struct Gathering: Equatable {
    /// How long answers may gather while all streams are taken, in microseconds.
    private(set) var time: UInt32
    /// The same while the limit of requests per second is reached.
    private(set) var timeOfRate: UInt32
    /// The same while there is something else to wait for.
    let least: UInt32

    private var latencies: UInt64 = 0
    private var answers: UInt64 = 0
    /// The time of the quickest of all answers, in microseconds.
    private var quickest = UInt64.max

    /// The limit of the campaign, and the least time to gather within it. All these times are in microseconds.
    private let limit: UInt32
    private static let usualLeast: UInt32 = 300
    /// The longest time for which tasks that await an answer of a sender wait for others.
    static let mostOfSender: UInt32 = 1000
    private static let mostOfWay: UInt64 = 5000
    /// The same as the longest wait of a lane.
    private static let mostOfQueue: UInt64 = 10_000
    private static let mostOfRate: UInt64 = 1250
    /// The least number of answers for a new result.
    private static let answersLeast: UInt64 = 100

    init(limit: UInt32) {
        self.limit = limit
        least = min(limit, Self.usualLeast)
        (time, timeOfRate) = (least, least)
    }

    /// Counts an answer that took `latency` microseconds.
    mutating func note(latency: UInt32) {
        latencies &+= UInt64(latency)
        answers &+= 1
        quickest = min(quickest, UInt64(latency))
    }

    /// Computes the times from the answers since the last result, if there are enough.
    mutating func look() {
        guard answers >= Self.answersLeast else { return }
        let mean = latencies / answers
        let ofQueue = mean > quickest ? (mean - quickest) / 8 : 0
        time = within(max(min(mean / 16, Self.mostOfWay), min(ofQueue, Self.mostOfQueue)))
        timeOfRate = within(min(mean / 100, Self.mostOfRate))
        (latencies, answers) = (0, 0)
    }

    private func within(_ time: UInt64) -> UInt32 { min(limit, max(least, UInt32(time))) }
}
