import APNSBatchModel

/// What a campaign's history and its configured input are, as far as the decision about a start depends on it.
struct BookFacts: Equatable {
    /// An unfinished run.
    struct Unfinished: Equatable {
        var directory: String
        /// Whether the run directory has the rows, so that the run can be finished without its input.
        var isKept = false
        var isAtWork = false
        /// Whether it is unknown which rows were sent, because the ledger is gone, or the rows.
        var isLost = false
        /// Whether it has another template or other header fields than the start, so that it cannot be resumed with those.
        var isOther = false
        /// Whether this start has tried to finish it, and cannot.
        var isUnfinishable = false
        /// Whether it began in an earlier night.
        var isEarlier = false
        /// When it began, in UTC.
        var began = ""
    }

    /// What the configured input is.
    enum Input: Equatable {
        /// It is not there, for this reason.
        case absent(String)
        /// It can be read only once, and was not read yet: what it is, is decided when it was read.
        case unread
        /// A program makes it, which was not started yet.
        case produced
        case new
        /// A complete run has sent it.
        case sent(by: String, tonight: Bool)
        /// Complete runs have sent some of its files.
        case partlySent(files: [String], by: String)
        /// An operator has given up a run that has sent a part of it, or may have.
        case abandoned(by: String)
        /// A run of this night has its rows with another template or other header fields.
        case changed(by: String)
        case unfinished(Unfinished)
        /// An unfinished run of another input has begun to send rows of this one.
        case shared(Unfinished)
        /// A run has sent the rows with which it begins.
        case grown(from: String, rows: UInt64)
    }

    var input: Input
    /// The unfinished runs of other inputs, in the order in which they began.
    var unfinished: [Unfinished] = []
    /// With ``Campaign/BookRules/again``, the unfinished runs whose rows the input has, too, so that they are not to be finished any more.
    var superseded: [Unfinished] = []
    /// The directory of a complete run of this night.
    var completeTonight: String?
    /// Likewise, but not one that this start has finished before.
    var sentTonight: String?
}

extension BookFacts.Unfinished {
    /// Whether a start can finish it without its input.
    var isFinishable: Bool { isKept && !isAtWork && !isLost && !isOther && !isUnfinishable }
}

/// Decides what a start does. It reads nothing.
enum BookTable {
    static func decision(_ facts: BookFacts, _ rules: Campaign.BookRules) -> CampaignBook.Decision {
        let finishable = facts.unfinished.first(where: \.isFinishable)?.directory
        switch facts.input {
        case .unfinished(let run): return decision(run, rules)
        case .absent(let reason):
            if let finishable { return .finish(finishable) }
            if !rules.again, let complete = facts.completeTonight { return .answer(complete) }
            return .wait(.absent(reason))
        case .unread: return rules.finishesEarlier ? finishable.map { .finish($0) } ?? .send : .send
        case .produced:
            // Another query of the same night has other rows every time: the run of the night is the one that began.
            if !rules.again, let complete = facts.completeTonight { return .answer(complete) }
            return send(facts, finishable, rules)
        case .shared(let run): return decision(shared: run, rules)
        case .sent(let run, let tonight):
            if rules.again { return .send }
            if tonight { return .answer(run) }
            if rules.repeatsNightly { return send(facts, finishable, rules) }
            if let finishable { return .finish(finishable) }
            if let complete = facts.completeTonight { return .answer(complete) }
            return .wait(.sent(by: run))
        case .partlySent(let files, let run):
            return rules.again ? .send : .refuse(.partlySent(files: files, by: run))
        case .abandoned(let run): return rules.again ? .send : .refuse(.abandoned(by: run))
        case .changed(let run): return rules.again ? .send : .refuse(.changed(by: run))
        case .grown(let run, let rows):
            return rules.again ? .send : .refuse(.grown(from: run, rows: rows))
        case .new: return send(facts, finishable, rules)
        }
    }

    private static func decision(_ run: BookFacts.Unfinished, _ rules: Campaign.BookRules) -> CampaignBook.Decision {
        if run.isAtWork { return .busy(run.directory) }
        // Where an input is sent once each night, the rest of an earlier night's is not this night's.
        guard run.isLost else {
            return rules.repeatsNightly && run.isEarlier && !run.isUnfinishable
                ? .finish(run.directory) : .resume(run.directory)
        }
        return rules.again ? .send : .refuse(.lost(run.directory))
    }

    private static func decision(
        shared run: BookFacts.Unfinished, _ rules: Campaign.BookRules
    ) -> CampaignBook.Decision {
        if run.isAtWork { return .busy(run.directory) }
        if rules.again { return .send }
        if rules.finishesEarlier, run.isFinishable { return .finish(run.directory) }
        return .refuse(run.isLost ? .lost(run.directory) : .shared(by: run.directory))
    }

    /// The decision about rows that were not sent.
    private static func send(
        _ facts: BookFacts, _ finishable: String?, _ rules: Campaign.BookRules
    ) -> CampaignBook.Decision {
        if rules.finishesEarlier, let finishable { return .finish(finishable) }
        guard !rules.again, let complete = facts.sentTonight else { return .send }
        return .refuse(.another(complete))
    }
}
