/// How long answers may gather while every stream is taken, so that one trip through the kernel and one TLS record carry
/// many, and a slow server does not wake the lane for every answer.
///
/// Whichever is longer: a sixteenth of the time that an answer takes, 5 ms at most, for more would be felt where the way to
/// the server is long; or an eighth of what the quickest answer of all did not need, 10 ms at most, for so long requests
/// queue at the server, and it has enough to do meanwhile.
struct Gathering: Equatable {
    /// Microseconds.
    private(set) var time = Self.least

    private var latencies: UInt64 = 0
    private var answers: UInt64 = 0
    /// Of all answers.
    private var quickest = UInt64.max

    /// Microseconds.
    static let least: UInt32 = 300
    private static let mostOfWay: UInt64 = 5000
    /// As long as a lane waits for anything.
    private static let mostOfQueue: UInt64 = 10_000
    /// Fewer answers say nothing.
    private static let answersLeast: UInt64 = 100

    /// An answer came after so many microseconds.
    mutating func note(latency: UInt32) {
        latencies &+= UInt64(latency)
        answers &+= 1
        quickest = min(quickest, UInt64(latency))
    }

    /// Judges by the answers since it last did.
    mutating func look() {
        guard answers >= Self.answersLeast else { return }
        let mean = latencies / answers
        let ofQueue = mean > quickest ? (mean - quickest) / 8 : 0
        time = max(Self.least, UInt32(max(min(mean / 16, Self.mostOfWay), min(ofQueue, Self.mostOfQueue))))
        (latencies, answers) = (0, 0)
    }
}
