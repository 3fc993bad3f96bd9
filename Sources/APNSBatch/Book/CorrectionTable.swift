import APNSBatchModel

/// What a run and its corrections are, as far as the decision about a further correction depends on it.
struct CorrectionFacts: Equatable {
    enum State: Equatable {
        /// Every row has an outcome.
        case complete
        case unfinished
        /// A process is working on it.
        case atWork
        /// Its record is gone, or cannot be read.
        case lost
    }

    /// A correction.
    struct Correction: Equatable {
        var directory: String
        var state: State
        /// Whether it has the input of the start.
        var hasInput = false
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
        case .lost: return .refuse(.lost(facts.run))
        case .atWork: return .busy(facts.run)
        case .unfinished:
            return .refuse(.correction("\(facts.run) is not finished: \(BookText.endings(of: facts.run))"))
        case .complete: break
        }
        if let busy = facts.corrections.first(where: { $0.state == .atWork }) { return .busy(busy.directory) }
        if let lost = facts.corrections.first(where: { $0.state == .lost }) { return .refuse(.lost(lost.directory)) }
        guard let own = facts.corrections.last(where: \.hasInput) else { return .send }
        return own.state == .complete ? .answer(own.directory) : .resume(own.directory)
    }
}
