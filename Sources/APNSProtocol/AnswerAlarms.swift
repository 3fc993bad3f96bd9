/// Watches for answers that are final for a row and, when nearly all rows get them, say that the campaign is wrong: tokens
/// of the other environment, another app's tokens, a fault that every row has.
///
/// Judged early, while a wrong campaign has done little harm: from the first ``answersMin`` answers on, and no more after
/// ``answersMax``. A list with many dead tokens is not stopped: those are answered 410.
package struct AnswerAlarms: Equatable, Sendable {
    /// Fewer say nothing.
    package static let answersMin: UInt64 = 500
    /// By then a campaign is what it should be.
    package static let answersMax: UInt64 = 20_000
    /// The share of answers that speaks of the campaign, in percent; of ``AnswerAlarm/everyRow`` it is all.
    package static let sharePercent: UInt64 = 80

    private var counts: [KnownReason: UInt64] = [:]

    package init() {}

    /// Another answer that a row was rejected with.
    ///
    /// - Parameter answered: all answers so far, this one among them.
    /// - Returns: what the campaign is to be stopped for, in words; nil when there is nothing to say.
    package mutating func note(_ answer: Answer, answered: UInt64) -> String? {
        guard answered <= Self.answersMax, let alarm = answer.alarm, case .known(let reason) = answer.reason else {
            return nil
        }
        let count = counts[reason, default: 0] + 1
        counts[reason] = count
        let wanted = alarm == .everyRow ? answered : (answered * Self.sharePercent + 99) / 100
        guard answered >= Self.answersMin, count >= wanted else { return nil }
        return "\(count) of \(answered) answers are \(reason.rule.text): \(alarm.meaning)"
    }
}

extension AnswerAlarm {
    fileprivate var meaning: String {
        switch self {
        case .wrongEnvironment: "are the tokens of the other environment, production or sandbox?"
        case .wrongTopic: "are the tokens of another app than the topic's?"
        case .everyRow: "every row has the same fault"
        }
    }
}
