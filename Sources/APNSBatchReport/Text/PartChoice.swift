import APNSBatchBasics

/// The parts that a table shows: those that need attention first.
struct PartChoice: Equatable {
    private(set) var lines: [RunReport.PartLine]
    /// A sentence about the parts that are not shown; nil if all are.
    private(set) var rest: String?

    init(_ parts: [RunReport.PartLine], most: Int) {
        let sorted = parts.sorted { ($0.rank, $0.part) < ($1.rank, $1.part) }
        lines = Array(sorted.prefix(most))
        guard sorted.count > most else { return }
        let others = sorted.dropFirst(most)
        var counts: [(word: String, count: UInt64)] = []
        for part in others {
            if counts.last?.word != part.verdictWord { counts.append((part.verdictWord, 0)) }
            counts[counts.count - 1].count += 1
        }
        let texts = counts.map { "\($0.count.grouped) \($0.word)" }.joined(separator: ", ")
        rest = "and \(UInt64(others.count).grouped) more parts (\(texts))"
    }
}

extension RunReport.PartLine {
    /// `OK` or `LOOK` for a complete part, and the state of another one.
    var verdictWord: String {
        guard state == .complete else { return state.words }
        return verdict.hasPrefix("OK:") ? "OK" : "LOOK"
    }

    /// The rows with another outcome than accepted or rejected.
    var others: UInt64 { rows { $0 != .accepted && $0 != .rejected } }

    /// The less, the more attention it needs. Parts with the same word have the same rank.
    fileprivate var rank: Int {
        switch state {
        case .failed: 0
        case .damaged: 1
        case .wrongRows: 2
        case .killed: 3
        case .interrupted: 4
        case .notBegun: 5
        case .complete: verdictWord == "LOOK" ? 6 : 7
        }
    }
}
