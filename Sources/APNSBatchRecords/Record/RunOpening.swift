import APNSBatchModel

/// The settings with which a run began, read from its ledger without reading its rows.
public struct RunOpening: Sendable, Equatable {
    /// The ``Campaign/note`` of the last process that worked on the run.
    public var note: [UInt8]
    /// The policy of the last process that worked on the run, which may differ from the first one's; nil if there was none.
    public var onUnknown: UnknownPolicy?

    /// Reads a run directory, also while a process works on the run.
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
                error, handOvers: HandOverNotes(files.notes()), results: try files.resultsToRead(), name: directory)
        }
    }
}
