/// The counts of lanes besides outcomes.
package struct LaneAccount: Sendable, Equatable {
    /// The number of requests that were followed by another one for the same row, by the cause.
    package var retries: [String: UInt64] = [:]
    /// The number of connections that were established, by the cause of their end.
    package var connectionEnds: [String: UInt64] = [:]
    /// The times of answers. A lane counts them apart, and they are added when its account is read.
    package var answerTimes = AnswerTimeCounts()

    package init() {}

    /// The maximum number of different texts that are counted, since a peer can send any number of them.
    private static let textsMax = 64
    /// The maximum length of a text, in bytes; longer ones are cut.
    private static let textLimit = 256
    private static let others = "other"

    /// The number of all retries.
    package var retryCount: UInt64 { retries.values.reduce(0, &+) }

    package mutating func noteRetry(after cause: String) { Self.add(1, to: cause, in: &retries) }

    package mutating func noteEnd(ofConnection cause: String) { Self.add(1, to: cause, in: &connectionEnds) }

    private static func add(_ number: UInt64, to text: String, in counts: inout [String: UInt64]) {
        let text = text.utf8.count > textLimit ? String(decoding: text.utf8.prefix(textLimit), as: UTF8.self) : text
        let isKept = counts[text] != nil || counts.count < textsMax
        counts[isKept ? text : others, default: 0] &+= number
    }

    package mutating func add(_ other: LaneAccount) {
        // Sorted, so that the same texts are kept in every order of adding up.
        for (text, number) in other.retries.sorted(by: { $0.key < $1.key }) { Self.add(number, to: text, in: &retries) }
        for (text, number) in other.connectionEnds.sorted(by: { $0.key < $1.key }) {
            Self.add(number, to: text, in: &connectionEnds)
        }
        answerTimes.add(other.answerTimes)
    }
}
