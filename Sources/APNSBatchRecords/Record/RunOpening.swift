import APNSBatchBasics
import APNSBatchModel
import Glibc

/// The settings with which a run began, read from its ledger without reading its rows.
public struct RunOpening: Sendable, Equatable {
    /// The ``Campaign/note`` of the last process that worked on the run.
    public var note: [UInt8]
    /// The policy of the last process that worked on the run, which may differ from the first one's; nil if there was none.
    public var onUnknown: UnknownPolicy?
    /// Whether a process was working on the run when the ledger was read.
    public var isAtWork: Bool
    /// The id of that process; nil if no process is at work, or if it has not entered its id yet.
    public var worker: UInt32?
    /// The number of processes that have worked on the run.
    public var sessions: Int
    /// When the first of them began, in UTC, such as `2026-11-21T03:00:00Z`.
    public var began: String
    /// Whether the run directory keeps the rows that are left, as it does for an input that can be read only once.
    public var keepsRows: Bool
    package var header: LedgerHeader

    /// Reads a run directory, also while a process works on the run.
    ///
    /// - Returns: Nil if the directory holds no run, or only the beginning of one, from which no row can have been sent.
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results``.
    public init?(ifBegunIn directory: String) throws(CampaignError) {
        let files = DirectoryFiles(directory)
        guard files.hasLedger, try !files.isUnbegun() else { return nil }
        try self.init(of: directory)
    }

    /// Reads a run directory whose rows are known.
    ///
    /// - Returns: Nil if the directory holds no run, or if its ledger is damaged or gone.
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if that is not known, because the files cannot be read: another user has
    ///   them, or the disk fails.
    public init?(ifReadableIn directory: String) throws(CampaignError) {
        do {
            guard let opening = try RunOpening(ifBegunIn: directory) else { return nil }
            _ = try RunStatus(of: directory)
            self = opening
        } catch {
            if error.saysNothing { throw error }
            return nil
        }
    }

    /// Reads a run directory, also while a process works on the run.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results``.
    public init(of directory: String) throws(CampaignError) {
        let files = DirectoryFiles(directory)
        let storage = try files.ledgerToRead()
        isAtWork = try CampaignError.mapping(.results) { try storage.isLocked() }
        var reader = LedgerReader(storage)
        do {
            let (header, session) = try reader.opening()
            note = session.map(\.note).flatMap { $0.isEmpty ? nil : $0 } ?? header.note
            onUnknown = session?.policy
            sessions = Int(session?.number ?? 0)
            began = Timestamp.text(ofSeconds: header.start)
            (keepsRows, self.header) = (header.isKept, header)
            worker = isAtWork ? session?.runningProcess : nil
        } catch {
            throw RunPast.explain(
                error, handOvers: HandOverNotes(files.notes()), results: try files.resultsToRead(), name: directory)
        }
    }
}

extension LedgerSession {
    /// The process of the session, if it exists. A process that takes over a run has the lock before it enters its session, so
    /// that the last session may be that of a process that is gone.
    var runningProcess: UInt32? {
        kill(pid_t(bitPattern: process), 0) == 0 || errno == EPERM ? process : nil
    }
}

extension CampaignError {
    /// Whether files of a run could not be read, which does not mean that they are damaged or gone.
    package var saysNothing: Bool { (cause as? StorageError).map { !$0.isMissing } ?? false }
}
