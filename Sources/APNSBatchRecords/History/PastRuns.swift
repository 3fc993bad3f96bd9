/// The runs of one campaign, as its history has them.
package struct PastRuns: Sendable, Equatable {
    /// One run: all its lines.
    package struct Run: Sendable, Equatable {
        package let key: RunKey
        /// Nil if it is not known.
        package var input: KnownInput?
        package var message = ""
        /// The last line of a session that ended; nil if none did.
        package var ended: RecordedRun?
        package var isAbandoned = false
        /// The directory of the run whose rows it sends again, corrected; nil for a run of an input of its own.
        package var correctionOf: String?
        /// What identifies the file of its ledger while that was empty; nil if that is not known.
        fileprivate var ledger: String?
        /// The number of rows that have ended, as far as it is known.
        package var rows: UInt64 = 0

        /// Whether every row has an outcome, or an operator has given the run up.
        package var isOver: Bool { isAbandoned || ended?.ending == "complete" }

        /// The number of its first line in the history.
        fileprivate let line: Int

        init(_ key: RunKey, line: Int = 0) { (self.key, self.line) = (key, line) }
    }

    /// The runs of inputs of their own, in the order in which they began. They alone decide what a start sends.
    package private(set) var runs: [Run] = []
    /// The corrections of these runs, likewise.
    package private(set) var corrections: [Run] = []

    package init() {}

    /// - Parameter campaign: Lines of other campaigns are left out.
    package init(_ entries: [HistoryEntry], of campaign: KnownCampaign) {
        var known: [RunKey: Run] = [:]
        for (line, entry) in entries.enumerated() {
            switch entry {
            case .began(let run):
                // Also if it is of another campaign: the directory is the same.
                known = known.filter { !$0.value.isVoid(by: run) }
                guard run.campaign == campaign else { continue }
                known[run.key, default: Run(run.key, line: line)].take(run)
            case .abandoned(let run) where run.campaign == campaign:
                known[run.key, default: Run(run.key, line: line)].abandon(run)
            // A line of an ended run does not have its environment and topic: that of its beginning does.
            case .ended(let run): known[run.key]?.take(run)
            default: break
            }
        }
        // Of those that began in the same second, the line that was written first is that of the first one.
        let all = known.values.sorted { ($0.key.began, $0.line) < ($1.key.began, $1.line) }
        (runs, corrections) = (all.filter { $0.correctionOf == nil }, all.filter { $0.correctionOf != nil })
    }
}

extension PastRuns.Run {
    fileprivate mutating func take(_ run: BegunRun) {
        (input, message, ledger) = (run.input ?? input, run.message, run.ledger ?? ledger)
        correctionOf = run.correctionOf ?? correctionOf
        // A session that has begun since may have opened rows again.
        ended = nil
    }

    fileprivate mutating func abandon(_ run: BegunRun) {
        (isAbandoned, correctionOf) = (true, run.correctionOf ?? correctionOf)
    }

    /// Whether it has sent nothing, because another run found its ledger as empty as it had found it.
    fileprivate func isVoid(by run: BegunRun) -> Bool {
        key.runDirectory == run.runDirectory && key != run.key && ledger != nil && ledger == run.ledger
    }

    fileprivate mutating func take(_ run: RecordedRun) {
        (ended, correctionOf) = (run, run.correctionOf ?? correctionOf)
        rows = run.figures.rows
        if let input = run.input { take(input) }
    }

    /// Takes what is known once the whole input was sent.
    package mutating func take(_ contents: [KnownInput.Content]) {
        guard let count = input?.files.count, count == contents.count else { return }
        for (index, content) in contents.enumerated() {
            input?.files[index].sum = content.sum
            if let length = content.length { input?.files[index].length = length }
        }
    }
}
