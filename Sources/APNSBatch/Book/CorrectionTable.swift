import APNSBatchModel

/// What a run and its corrections are, as far as the decision about a further correction depends on it.
struct CorrectionFacts: Equatable {
    enum State: Equatable {
        /// Every row has an outcome.
        case complete
        case unfinished
        /// A process is working on it.
        case atWork
        /// Its ledger is gone, or cannot be read.
        case lost
        /// Its ledger is there, but not the file with the rows of the corrected run that it has.
        case unnamed
    }

    /// A correction.
    struct Correction: Equatable {
        var directory: String
        var state: State
        /// Whether it has the input of the start.
        var hasInput = false
        /// Whether the history has its end, so that it cannot be given up any more.
        var isOver = false
    }

    /// The directory of the corrected run.
    var run: String
    /// Nil if the directory has no run.
    var state: State?
    /// In the order of their numbers.
    var corrections: [Correction] = []
}

/// Decides what a start with `--correction` does. It reads nothing. The rows are looked at after it has decided to send.
enum CorrectionTable {
    static func decision(_ facts: CorrectionFacts) -> CampaignBook.Decision {
        switch facts.state {
        case nil: return .refuse(.correction("\(facts.run) holds no run that could be corrected"))
        case .lost:
            return .refuse(
                .correction(
                    "\(facts.run): its ledger, which lists the rows that were not sent, cannot be read: restore the directory"
                ))
        case .atWork: return .busy(facts.run)
        case .unfinished, .unnamed:
            return .refuse(.correction("\(facts.run) is not finished: \(BookText.endings(of: facts.run))"))
        case .complete: break
        }
        if let busy = facts.corrections.first(where: { $0.state == .atWork }) { return .busy(busy.directory) }
        for correction in facts.corrections {
            if let text = BookText.obscurity(of: correction) { return .refuse(.correction(text)) }
        }
        guard let own = facts.corrections.last(where: \.hasInput) else { return .send }
        return own.state == .complete ? .answer(own.directory) : .resume(own.directory)
    }
}
