/// Selects the answers whose times are recorded: the first thousand, and every sixteenth after them. Also keeps the longest
/// time of all answers.
struct AnswerSampler: Equatable, Sendable {
    private var answers: UInt32 = 0
    /// The longest time of all answers, in microseconds.
    private(set) var longest: UInt32 = 0

    /// The number of first answers that are all recorded, because a sample of so few would say less.
    static let all: UInt32 = 1000
    static let share: UInt32 = 16

    /// Counts an answer. Returns whether its time is recorded.
    mutating func takes(_ microseconds: UInt32) -> Bool {
        longest = max(longest, microseconds)
        answers &+= 1
        return answers % Self.share == 0 || answers <= Self.all
    }
}
