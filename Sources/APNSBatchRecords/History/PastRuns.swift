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
        /// The number of rows that have ended, as far as it is known.
        package var rows: UInt64 = 0

        /// Whether every row has an outcome, or an operator has given the run up.
        package var isOver: Bool { isAbandoned || ended?.ending == "complete" }

        init(_ key: RunKey) { self.key = key }
    }

    /// In the order in which they began.
    package private(set) var runs: [Run] = []

    package init() {}

    /// - Parameter campaign: Lines of other campaigns are left out.
    package init(_ entries: [HistoryEntry], of campaign: KnownCampaign) {
        var known: [RunKey: Run] = [:]
        for entry in entries {
            switch entry {
            case .began(let run):
                // Also if it is of another campaign: the directory is the same.
                if run.foundEmptyLedger == true { known = known.filter { !$0.value.isVoid(by: run) } }
                guard run.campaign == campaign else { continue }
                known[run.key, default: Run(run.key)].take(run)
            case .abandoned(let run) where run.campaign == campaign:
                known[run.key, default: Run(run.key)].isAbandoned = true
            // A line of an ended run does not say of which environment and topic it is: that of its beginning does.
            case .ended(let run): known[run.key]?.take(run)
            default: break
            }
        }
        runs = known.values.sorted {
            ($0.key.began, $0.key.runDirectory) < ($1.key.began, $1.key.runDirectory)
        }
    }
}

extension PastRuns.Run {
    fileprivate mutating func take(_ run: BegunRun) {
        (input, message) = (run.input ?? input, run.message)
        // A session that has begun since may have opened rows again.
        ended = nil
    }

    /// Whether it has sent nothing, because its ledger was still empty when another run took its directory.
    fileprivate func isVoid(by run: BegunRun) -> Bool {
        key.runDirectory == run.runDirectory && key != run.key && !isOver && rows == 0
    }

    fileprivate mutating func take(_ run: RecordedRun) {
        ended = run
        rows = run.figures.rows
        if let sum = run.inputSum { take(inputSum: sum) }
    }

    /// Takes the checksum that is known once the whole input was sent; those of several files were known before.
    package mutating func take(inputSum sum: String) { if input?.files.count == 1 { input?.files[0].sum = sum } }
}
