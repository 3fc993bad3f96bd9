import APNSBatchBasics
import APNSBatchModel

/// The outcomes of a run, read from its ledger in the order in which they were recorded, also while a process appends to it.
/// It gives only outcomes that are durable: what it has given once is never different later.
///
/// A place is an offset in the ledger, after a record. What is durable of a ledger never changes, so that a reader that
/// keeps its place elsewhere can continue there in another process.
package struct RecordedOutcomes: ~Copyable, Sendable {
    /// What comes next in the ledger.
    package enum Event: Sendable, Equatable {
        /// Outcomes, which are in the batch.
        case outcomes
        /// From here on all rows that ended as unavailable have no outcome any more.
        case reopened
    }

    package let header: LedgerHeader
    /// Behind the record that was given last.
    package private(set) var place: UInt64 = 0
    /// The number of outcomes before the place.
    package private(set) var rowsBefore: UInt64 = 0
    /// The number of outcomes that are known to be durable, in the whole ledger.
    package private(set) var rowsDurable: UInt64 = 0

    private let storage: FileStorage
    private var reader: LedgerReader
    private let name: String
    /// The end of the records that were looked at, and the part of them that is durable.
    private var (seen, durable) = (0 as UInt64, 0 as UInt64)
    /// The records of outcomes between `durable` and `seen`.
    private var pending: [(start: UInt64, end: UInt64, rows: Int)] = []

    /// Opens the ledger of a run directory. Returns nil if it does not hold the beginning of a run yet.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    package init?(ifBegunIn directory: String) throws(CampaignError) {
        let files = DirectoryFiles(directory)
        guard files.hasLedger, try !files.isUnbegun() else { return nil }
        let storage = try files.ledgerToRead()
        header = try Self.header(of: storage, name: directory)
        reader = LedgerReader(storage)
        (self.storage, name) = (storage, directory)
    }

    private static func header(of ledger: FileStorage, name: String) throws(CampaignError) -> LedgerHeader {
        var reader = LedgerReader(ledger)
        do {
            return try reader.opening().header
        } catch {
            throw RunPast.explain(error, name: name)
        }
    }

    /// Looks at what was appended. What a mark covers is durable.
    package mutating func look() throws(CampaignError) {
        reader.forget()
        do {
            try storage.refreshLength()
            while let frame = try reader.record(at: seen) {
                let end = seen + UInt64(frame.recordLength)
                if frame.kind == .outcomes { pending.append((seen, end, try reader.outcomeCount(at: seen))) }
                if let mark = try reader.mark(at: seen), mark.position == seen { cover(mark.covered) }
                seen = end
            }
        } catch {
            throw explained(error)
        }
    }

    /// Looks at what was appended, and makes it durable without a mark, for a ledger to which nothing is appended any more. A
    /// record that the end of a process or a loss of power has left incomplete, and what follows it, is no part of the ledger.
    package mutating func settle() throws(CampaignError) {
        try look()
        var end = seen
        do {
            if let torn = try pending.first(where: { try !reader.textsHold(at: $0.start) }) { end = torn.start }
            try storage.sync()
        } catch {
            throw explained(error)
        }
        cover(end)
    }

    private mutating func cover(_ end: UInt64) {
        durable = max(durable, end)
        assert(
            zip(pending, pending.dropFirst()).allSatisfy { $0.end <= $1.start }, "records are looked at once, in order")
        let covered = pending.prefix { $0.end <= durable }
        for record in covered { rowsDurable += UInt64(record.rows) }
        pending.removeFirst(covered.count)
    }

    /// Continues at a place that an earlier reader of this run had. A place that this ledger does not have, because it was
    /// replaced by an older one, counts as the beginning.
    package mutating func seek(to wanted: UInt64) throws(CampaignError) {
        (place, rowsBefore) = (0, 0)
        do {
            while place < wanted, let frame = try reader.record(at: place) {
                rowsBefore += UInt64(try reader.outcomeCount(at: place))
                place += UInt64(frame.recordLength)
            }
        } catch {
            throw explained(error)
        }
        if place != wanted { (place, rowsBefore) = (0, 0) }
    }

    /// Reads on to the next event, and moves the place after it. Outcomes are read into a batch, which is emptied first.
    /// Returns nil if nothing follows that is durable.
    package mutating func next(into batch: OutcomeBatch) throws(CampaignError) -> Event? {
        do {
            while place < durable, let frame = try reader.record(at: place) {
                let start = place
                if frame.kind == .outcomes { _ = try reader.outcomes(at: start, into: batch) }
                place += UInt64(frame.recordLength)
                if frame.kind == .reopened { return .reopened }
                guard frame.kind == .outcomes else { continue }
                rowsBefore += UInt64(batch.count)
                return .outcomes
            }
            return nil
        } catch {
            throw explained(error)
        }
    }

    private func explained(_ error: any Error) -> CampaignError {
        if let failure = error as? LedgerReader.Failure { return RunPast.explain(failure, name: name) }
        return CampaignError(.results, "\(error)", cause: error)
    }
}
