import APNSBatchModel

/// What a run was begun with, read from its ledger without a look at its rows.
public struct RunOpening: Sendable, Equatable {
    /// ``Campaign/note`` of the last process that worked on it.
    public var note: [UInt8]
    /// Of the last process that worked on it, which need not be that of the first; nil if none came so far.
    public var onUnknown: UnknownPolicy?

    /// Reads it from a run directory, also while a process is at work there.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Kind/results``.
    public init(of directory: String) throws(CampaignError) {
        let files = DirectoryFiles(directory)
        let storage = try files.ledgerToRead()
        var reader = LedgerReader(storage)
        do {
            let (header, session) = try reader.opening()
            note = session.map(\.note).flatMap { $0.isEmpty ? nil : $0 } ?? header.note
            onUnknown = session?.policy
        } catch {
            throw RunPast.explain(
                error, board: BoardNotes(files.notes()), results: try files.resultsToRead(), name: directory)
        }
    }
}
