/// Which answers are noted: the first thousand, and of the others every sixteenth. Of all of them it knows the longest time.
struct AnswerSampler: Equatable, Sendable {
    private var answers: UInt32 = 0
    /// Microseconds.
    private(set) var longest: UInt32 = 0

    /// So many tell more than a sample.
    static let all: UInt32 = 1000
    static let share: UInt32 = 16

    /// Whether this answer is noted.
    mutating func takes(_ microseconds: UInt32) -> Bool {
        longest = max(longest, microseconds)
        answers &+= 1
        return answers % Self.share == 0 || answers <= Self.all
    }
}
