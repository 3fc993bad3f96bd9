import APNSProtocol

/// What became of the rows of a run, read from its ledger; also while the run goes on.
public struct RunStatus: Sendable, Equatable {
    /// What is known of a row.
    public enum Knowledge: Sendable, Equatable, CaseIterable {
        /// It has its outcome, and its line in `results.csv`.
        case ended
        /// It may have been handed to a connection, and has no outcome.
        case unknown
        /// It was never sent, or was answered in a way that lets it be sent again.
        case notSent
    }

    /// Rows one behind the other of which the same is known.
    public struct Rows: Sendable, Equatable {
        public var first: UInt64
        public var last: UInt64
        public var knowledge: Knowledge

        public var count: UInt64 { last - first + 1 }
    }

    /// How things are.
    public enum State: Sendable, Equatable {
        /// A process is at work on it.
        case running(process: UInt32)
        /// The last process ended in order.
        case ended
        /// The last process was killed, or its disk failed.
        case killed
    }

    public var state: State
    /// What the input was called.
    public var input: String
    /// Bytes of the input; nil for a pipe, which cannot be resumed.
    public var inputBytes: UInt64?
    /// Bytes of the input whose rows were announced.
    public var inputBytesRead: UInt64
    /// The last process ended in order, and had read the input to its end.
    public var isInputRead: Bool
    /// Processes that worked on it.
    public var sessions: Int
    /// Rows announced so far, by what is known of them, in order.
    public var rows: [Rows]
    /// Rows by outcome.
    public var outcomes: [Outcome: UInt64]
    /// ``Campaign/note``.
    public var note: [UInt8]

    /// Rows of which this is known.
    public func count(_ knowledge: Knowledge) -> UInt64 {
        rows.reduce(0) { $1.knowledge == knowledge ? $0 + $1.count : $0 }
    }

    /// Reads the ledger of a run directory, in time that grows with its size: some 10,000,000 rows a second.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Kind/results``.
    public init(of directory: String) throws(CampaignError) {
        let files = DirectoryFiles(directory)
        let storage = try files.ledgerToRead()
        let wasFree = try Self.isFree(storage)
        let history: LedgerHistory
        do throws(CampaignError) {
            history =
                wasFree
                ? try RunPast.read(storage, files, name: directory).reading.history
                : try RunPast.readUnproven(storage, files, name: directory).history
        } catch {
            // A process that began meanwhile writes what the others files have already.
            guard wasFree, try !Self.isFree(storage) else { throw error }
            history = try RunPast.readUnproven(storage, files, name: directory).history
        }
        try self.init(history, notes: files.notes(), boot: files.boot, isFree: wasFree)
    }

    private static func isFree(_ storage: FileStorage) throws(CampaignError) -> Bool {
        do {
            return try !storage.isLocked()
        } catch {
            throw CampaignError(.results, "\(error)")
        }
    }

    package init(
        _ history: LedgerHistory, notes: [UInt64], boot: (UInt64, UInt64), isFree: Bool
    ) throws(CampaignError) {
        guard let header = history.header else { throw RunPast.explain(.notOne, name: "") }
        input = header.inputName
        inputBytes = header.inputBytes
        note = header.note
        isInputRead = history.isInputRead
        sessions = Int(history.session?.number ?? 0)
        let isEnded = history.isEnded || history.session == nil
        state = isFree ? (isEnded ? .ended : .killed) : .running(process: history.session?.process ?? 0)
        inputBytesRead = history.ranges.last.map { $0.facts.offset + UInt64($0.facts.bytes) } ?? 0
        let tally = history.tally
        outcomes = [
            .accepted: tally.accepted, .rejected: tally.rejected, .unavailable: tally.unavailable,
            .invalid: tally.invalid, .unknown: tally.unknown,
            .expired: tally.expired, .suppressed: tally.suppressed,
        ]
        let board = LedgerProof(history: history, board: BoardNotes(notes), boot: boot).notes
        rows = []
        for range in history.ranges { add(range, handed: history.handed(range, board: board)) }
    }

    private mutating func add(_ range: LedgerHistory.Range, handed: Int) {
        let first = range.facts.firstRow
        var index = 0
        while index < range.facts.rows {
            let knowledge: Knowledge = range.isDone(index) ? .ended : index < handed ? .unknown : .notSent
            let end = range.end(ofRunAt: index)
            let last = knowledge == .unknown ? min(end, handed) : end
            add(first + UInt64(index), first + UInt64(last) - 1, knowledge)
            index = last
        }
    }

    private mutating func add(_ first: UInt64, _ last: UInt64, _ knowledge: Knowledge) {
        if let before = rows.last, before.knowledge == knowledge {
            rows[rows.count - 1].last = last
        } else {
            rows.append(Rows(first: first, last: last, knowledge: knowledge))
        }
    }
}
