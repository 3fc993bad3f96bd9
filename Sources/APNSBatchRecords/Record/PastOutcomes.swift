import APNSBatchBasics
import APNSBatchModel

/// The outcomes that earlier sessions of a run recorded, read from the ledger while this session appends to it.
package struct PastOutcomes: ~Copyable, Sendable {
    private var reader: LedgerReader
    private var offset: UInt64 = 0
    /// The part of the ledger that earlier sessions wrote.
    private let end: UInt64
    /// The offset before which outcomes that can be reopened do not count any more.
    private let reopenedAt: UInt64
    private let name: String

    /// Opens the ledger once more, because that of the session belongs to its writer.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    package init(_ past: RunPast, in directory: String) throws(CampaignError) {
        reader = LedgerReader(try DirectoryFiles(directory).ledgerToRead())
        (end, reopenedAt, name) = (past.reading.length, past.reading.reopenedAt, directory)
    }

    /// Reads the next outcomes into a batch, which is emptied first. Returns false if there are none any more.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    package mutating func next(into batch: OutcomeBatch) throws(CampaignError) -> Bool {
        do throws(LedgerReader.Failure) {
            while offset < end, let frame = try reader.record(at: offset) {
                let place = offset
                offset += UInt64(frame.recordLength)
                guard frame.kind == .outcomes else { continue }
                _ = try reader.outcomes(at: place, into: batch)
                return true
            }
            return false
        } catch {
            throw RunPast.explain(error, name: name)
        }
    }

    /// Whether an outcome of the batch that was read last still counts: its row was not reopened.
    package func counts(_ outcome: Outcome) -> Bool { offset > reopenedAt || !outcome.canBeReopened }
}
