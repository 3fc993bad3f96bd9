import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The state of a run's rows, read from its ledger, also during the run.
public struct RunStatus: Sendable, Equatable {
    /// What is known about a row.
    @nonexhaustive
    public enum Knowledge: Sendable, Equatable, CaseIterable {
        /// It has an outcome, and a line in `results.csv`.
        case ended
        /// It may have been handed to a connection, and has no outcome.
        case unknown
        /// It was never sent, or the answer allows it to be sent again.
        case notSent
    }

    /// Consecutive rows about which the same is known.
    public struct Rows: Sendable, Equatable {
        /// The number of the first row, from 1.
        public var first: UInt64
        /// The number of the last row.
        public var last: UInt64
        /// What is known of them.
        public var knowledge: Knowledge

        /// How many they are.
        public var count: UInt64 { last - first + 1 }
    }

    /// The state of a run.
    @nonexhaustive
    public enum State: Sendable, Equatable {
        /// A process is working on it.
        case running(process: UInt32)
        /// The last process ended in order.
        case ended
        /// The last process was killed, or its disk failed.
        case killed
    }

    /// Whether the run has ended, and how.
    public var state: State
    /// The name of the input.
    public var input: String
    /// The length of the input in bytes, as it is stored; nil unless it is a file.
    public var inputBytes: UInt64?
    /// How the input is packed, `gzip` or `zstd`; nil if it is not.
    public var inputPacking: String?
    /// The path of the copy of the input in the run directory; nil if there is none.
    public var inputCopy: String?
    /// Whether the run can be resumed while it has rows left: its input is a file, or rows that are kept.
    public var isResumable: Bool
    /// The number of bytes of the input whose rows were read, unpacked.
    public var inputBytesRead: UInt64
    /// Whether the last process ended in order after reading the whole input.
    public var isInputRead: Bool
    /// The number of processes that worked on the run.
    public var sessions: Int
    /// The number of rows read so far: those that ended, may have been sent, or were not sent.
    public var rowsRead: UInt64
    /// The rows after those that were read.
    public var unread: UnreadRows
    /// When the first process began, in seconds since the epoch.
    public var start: UInt64
    /// The rows read so far, in order, by what is known about them.
    public var rows: [Rows]
    /// The rows that ended, by outcome, with their requests and reasons.
    public var totals: RunTotals
    /// See ``Campaign/note``.
    public var note: [UInt8]

    /// What operators changed while the run went on, in the order in which they did.
    public var changes: [RunChange]

    /// The offset at which the last range ends; nil before the first.
    package var readUpTo: UInt64?

    /// The number of rows in the whole input, an estimate if the rest was not counted; nil if it is unknown.
    public var rowsTotal: UInt64? { unread.rows.map { rowsRead + $0 } }

    /// The number of rows without an outcome, an estimate if the rest was not counted; nil if it is unknown.
    public var left: UInt64? { unread.rows.map { count(.unknown) + count(.notSent) + $0 } }

    /// Returns the number of rows about which `knowledge` holds.
    public func count(_ knowledge: Knowledge) -> UInt64 {
        rows.reduce(0) { $1.knowledge == knowledge ? $0 + $1.count : $0 }
    }

    /// Reads the ledger of a run directory. The time grows with its size: about 10,000,000 rows a second.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results``.
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
            // A process that began meanwhile may have changed the other files after this one read the ledger.
            guard wasFree, try !Self.isFree(storage) else { throw error }
            history = try RunPast.readUnproven(storage, files, name: directory).history
        }
        try self.init(history, notes: files.notes(), boot: files.boot, isFree: wasFree)
        if history.header?.isCopied == true { inputCopy = files.inputCopyPath }
    }

    /// Whether a process works on the run. Reads nothing, so that it takes no longer for a large run.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results``.
    public static func isRunning(_ directory: String) throws(CampaignError) -> Bool {
        try !isFree(try DirectoryFiles(directory).ledgerToRead())
    }

    private static func isFree(_ storage: FileStorage) throws(CampaignError) -> Bool {
        try CampaignError.mapping(.results) { try !storage.isLocked() }
    }

    package init(
        _ history: LedgerHistory, notes: [UInt64], boot: (UInt64, UInt64), isFree: Bool
    ) throws(CampaignError) {
        guard let header = history.header else { throw RunPast.explain(.notOne, name: "") }
        input = header.inputName
        inputBytes = header.inputBytes
        inputPacking = header.packing?.rawValue
        isResumable = header.isResumable
        note = header.note
        isInputRead = history.isInputRead
        sessions = Int(history.session?.number ?? 0)
        let isEnded = history.isEnded || history.session == nil
        state = isFree ? (isEnded ? .ended : .killed) : .running(process: history.session?.process ?? 0)
        let place = history.ranges.last?.facts.end
        readUpTo = place
        inputBytesRead = history.isInputRead && header.packing == nil ? header.inputBytes ?? place ?? 0 : place ?? 0
        rowsRead = history.rows
        unread =
            history.isInputRead
            ? .counted(0)
            : .estimate(
                rowsRead: history.rows, bytesRead: place ?? 0,
                bytesTotal: header.packing == nil ? header.inputBytes : nil)
        start = header.start
        changes = history.changes
        totals = history.totals
        let handOvers = LedgerProof(history: history, handOvers: HandOverNotes(notes), boot: boot).notes
        rows = []
        for range in history.ranges { add(range, handed: history.handed(range, handOvers: handOvers)) }
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

extension LedgerHistory {
    /// Reads the ledger of a run directory on which no process is working.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results``.
    package init(of directory: String) throws(CampaignError) {
        let files = DirectoryFiles(directory)
        self = try RunPast.read(try files.ledgerToRead(), files, name: directory).reading.history
    }
}
