/// What lanes count besides outcomes: off the way of a row that goes well.
package struct LaneAccount: Sendable, Equatable {
    /// Requests that were followed by another one for the same row, by what became of them.
    package var retries: [String: UInt64] = [:]
    /// Connections that came up, by why they ended.
    package var connectionEnds: [String: UInt64] = [:]
    package var answerTimes = AnswerTimes()

    package init() {}

    /// Different texts that are counted; a peer may make up any number of them.
    private static let textsMax = 64
    /// Bytes of a text.
    private static let textLimit = 256
    private static let others = "other"

    package mutating func noteRetry(after cause: String) { Self.add(1, to: cause, in: &retries) }

    package mutating func noteEnd(ofConnection cause: String) { Self.add(1, to: cause, in: &connectionEnds) }

    private static func add(_ number: UInt64, to text: String, in counts: inout [String: UInt64]) {
        let text = text.utf8.count > textLimit ? String(decoding: text.utf8.prefix(textLimit), as: UTF8.self) : text
        let isKept = counts[text] != nil || counts.count < textsMax
        counts[isKept ? text : others, default: 0] &+= number
    }

    package mutating func add(_ other: LaneAccount) {
        // In order, so that the same texts are kept whenever they are added up.
        for (text, number) in other.retries.sorted(by: { $0.key < $1.key }) { Self.add(number, to: text, in: &retries) }
        for (text, number) in other.connectionEnds.sorted(by: { $0.key < $1.key }) {
            Self.add(number, to: text, in: &connectionEnds)
        }
        answerTimes.add(other.answerTimes)
    }
}
