import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

/// Finds rows of a correction that must not be sent: a device that got the push of such a row, or may have got it, would get it again.
struct CorrectionCheck {
    /// The corrections before it.
    struct Earlier {
        var directory: String
        var record: CorrectionRecord
    }

    /// The directory of the corrected run.
    let run: String
    let earlier: [Earlier]

    /// Says which row must not be sent, and why, in one sentence; nil if all may be.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results`` if a ledger cannot be read.
    func objection(to rows: CorrectedRows) throws(CampaignError) -> String? {
        var states = RowStates(rows.numbers)
        if let (first, second) = states.repeated {
            return "\(rows.place(of: second)): it has the row of \(rows.place(of: first)), too"
        }
        try RunOutcomes.forEach(ofRunIn: run) { entry, _ in
            states.set(entry.row, entry.outcome)
        } onReopening: {
            states.reopen()
        }
        states.judge(missing: "is no row of \(run)", by: run)
        for correction in earlier { try look(at: correction, &states) }
        guard let first = states.objections.min(by: { $0.key < $1.key }) else { return nil }
        let others = UInt64(states.objections.count - 1)
        let more = others == 0 ? "" : ", and \(others.grouped) more row\(others == 1 ? "" : "s")"
        return "\(rows.place(of: first.key)): row \(rows.numbers[first.key]) \(first.value)\(more)"
    }

    private func look(at correction: Earlier, _ states: inout RowStates) throws(CampaignError) {
        let numbers = correction.record.rows
        var outcomes = [Outcome?](repeating: nil, count: numbers.count)
        try RunOutcomes.forEach(ofRunIn: correction.directory) { entry, _ in
            guard entry.row >= 1, entry.row <= UInt64(outcomes.count) else { return }
            outcomes[Int(entry.row - 1)] = entry.outcome
        } onReopening: {
            for index in outcomes.indices where outcomes[index]?.canBeReopened == true { outcomes[index] = nil }
        }
        // A row that a correction left out was not sent.
        for (number, outcome) in zip(numbers, outcomes) where outcome != .suppressed {
            states.judge(
                number, outcome, missing: "is left in \(correction.directory), which is not finished",
                by: correction.directory)
        }
    }
}

/// The rows of a correction by their numbers in the corrected run.
private struct RowStates {
    /// The indices of the rows, in the order of their numbers.
    private let order: [Int]
    /// The numbers in this order.
    private let numbers: [UInt64]
    /// What became of them.
    private var outcomes: [Outcome?]
    /// Why rows must not be sent, by their indices.
    private(set) var objections: [Int: String] = [:]

    init(_ rows: [UInt64]) {
        let sorted = rows.indices.sorted { (rows[$0], $0) < (rows[$1], $1) }
        (order, numbers) = (sorted, sorted.map { rows[$0] })
        outcomes = Array(repeating: nil, count: rows.count)
    }

    /// The indices of two rows with the same number; nil if there are none.
    var repeated: (Int, Int)? {
        zip(numbers.indices, numbers.indices.dropFirst()).first { numbers[$0] == numbers[$1] }
            .map { (order[$0], order[$1]) }
    }

    private func place(of number: UInt64) -> Int? {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < numbers.count && numbers[low] == number ? low : nil
    }

    mutating func set(_ number: UInt64, _ outcome: Outcome) {
        if let place = place(of: number) { outcomes[place] = outcome }
    }

    mutating func reopen() {
        for place in outcomes.indices where outcomes[place]?.canBeReopened == true { outcomes[place] = nil }
    }

    /// Judges all rows by their outcomes in the corrected run.
    mutating func judge(missing: String, by run: String) {
        for place in numbers.indices { judge(numbers[place], outcomes[place], missing: missing, by: run) }
    }

    /// Judges a row, unless it must not be sent already, or does not belong to these.
    mutating func judge(_ number: UInt64, _ outcome: Outcome?, missing: String, by run: String) {
        guard let place = place(of: number), objections[order[place]] == nil else { return }
        guard let outcome else {
            objections[order[place]] = missing
            return
        }
        if outcome.canBeCorrected { return }
        let words = outcome.arrival == .maybeSent ? "may have arrived" : "was \(outcome.name)"
        objections[order[place]] = "\(words) in \(run)"
    }
}
