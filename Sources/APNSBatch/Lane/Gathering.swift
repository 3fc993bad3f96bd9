/// How long answers may gather while every stream is taken, so that one trip through the kernel and one TLS record carry
/// many: a sixteenth of the time that an answer takes. A fast server is not kept waiting, and a slow one does not wake the
/// lane for every answer.
struct Gathering: Equatable {
    /// Microseconds.
    private(set) var time = Self.least

    private var latencies: UInt64 = 0
    private var answers: UInt64 = 0

    /// Microseconds.
    static let least: UInt32 = 300
    private static let most: UInt32 = 5000
    /// Fewer answers say nothing.
    private static let answersLeast: UInt64 = 100

    /// An answer came after so many microseconds.
    mutating func note(latency: UInt32) {
        latencies &+= UInt64(latency)
        answers &+= 1
    }

    /// Judges by the answers since it last did.
    mutating func look() {
        guard answers >= Self.answersLeast else { return }
        time = UInt32(min(max(latencies / answers / 16, UInt64(Self.least)), UInt64(Self.most)))
        (latencies, answers) = (0, 0)
    }
}
