import APNSBatchModel

/// The time that a sender has to end, from ``close`` on: in a first part of it requests are started, and in the rest their answers are
/// awaited, so that none of them stays without one.
struct GracePeriod: Equatable {
    /// In nanoseconds, like all times here.
    let length: UInt64
    /// For how long requests are started.
    let starting: UInt64

    /// - Parameter answerTime: The time within which nearly all answers came; nil if there was none.
    init(_ length: UInt64, answerTime: UInt64?) {
        self.length = length
        starting = length - min(length, max(answerTime ?? 0, length / 2))
    }

    /// - Parameter answers: The times of answers until now.
    init(_ length: UInt64, _ answers: AnswerTimeCounts) {
        self.init(length, answerTime: answers.quantile(0.99).map { UInt64($0) * 1000 })
    }
}
