import APNSBatchModel
import APNSBatchRows

/// What an earlier process left of a run, read before this one begins.
package struct RunPast: Sendable {
    package let header: LedgerHeader
    /// Of the ledger, with its unavailable rows reopened where that was asked for.
    package let reading: LedgerReader.Reading
    /// Rows are to be reopened: the ledger does not say so yet.
    let isReopening: Bool
    package let ledger: any LedgerStorage
    /// `results.csv` is, up to the last mark, as it was written.
    let hasSoundResults: Bool
    /// What its lanes noted, where that can be believed.
    private let notes: [UInt64: Int]?

    /// Opens and reads the ledger; nobody else may be at work on it.
    ///
    /// - Parameter reopening: rows that ended as unavailable count as not sent.
    package init(_ files: any RunFiles, name: String, reopening: Bool = false) throws(CampaignError) {
        ledger = try files.openLedger()
        let found = try Self.read(ledger, files, name: name)
        var reading = found.reading
        isReopening = reopening && reading.history.tally[.unavailable] > 0
        if isReopening { Self.reopen(&reading) }
        self.reading = reading
        notes = found.notes
        // Lines of rows that are reopened are not to stay.
        hasSoundResults = found.hasSoundResults && !isReopening
        guard let header = reading.history.header else { throw Self.explain(.notOne, name: name) }
        guard header.inputBytes != nil else {
            throw CampaignError(
                .configuration, "a campaign from standard input or a pipe cannot be resumed: its rows are gone")
        }
        self.header = header
    }

    /// As it will be when `RunLedger.reopen` has said so in the ledger: nothing of `results.csv` counts any more.
    private static func reopen(_ reading: inout LedgerReader.Reading) {
        try? reading.history.takeReopened()
        reading.history.takeMark(resultsLength: 0)
        reading.reopenedAt = reading.length
        reading.afterMark = []
    }

    /// A ledger that was read, and holds against what stands beside it.
    struct Proven {
        var reading: LedgerReader.Reading
        var notes: [UInt64: Int]?
        var hasSoundResults: Bool
    }

    /// Reads a ledger that nobody writes, and refuses one that cannot be believed.
    static func read(
        _ ledger: any LedgerStorage, _ files: any RunFiles, name: String
    ) throws(CampaignError) -> Proven {
        let (board, results) = (BoardNotes(files.notes()), try files.resultsToRead())
        var reader = LedgerReader(ledger)
        do {
            let reading = try reader.read(boot: files.boot)
            let proof = LedgerProof(history: reading.history, board: board, boot: files.boot)
            return Proven(
                reading: reading, notes: proof.notes, hasSoundResults: try proof.check(results: results))
        } catch let failure as LedgerReader.Failure {
            throw explain(failure, board: board, results: results, name: name)
        } catch let doubt as LedgerProof.Doubt {
            let lastRow = board.flatMap { files.boot != (0, 0) && $0.boot == files.boot ? $0.lastRow : nil }
            throw CampaignError(.results, doubt.explanation(name, lastRow: lastRow))
        } catch {
            throw CampaignError(.results, "\(error)")
        }
    }

    /// The same while a process may be at work on it: what it appends meanwhile explains what stands beside it.
    static func readUnproven(
        _ ledger: any LedgerStorage, _ files: any RunFiles, name: String
    ) throws(CampaignError) -> LedgerReader.Reading {
        var reader = LedgerReader(ledger)
        do {
            return try reader.read(boot: files.boot)
        } catch {
            throw explain(error, name: name)
        }
    }

    /// A ledger without a beginning beside which stands what a run has left is damaged.
    static func explain(
        _ failure: LedgerReader.Failure, board: BoardNotes?, results: (any LedgerStorage)?, name: String
    ) -> CampaignError {
        let isBegun = (try? LedgerProof.isBegun(board: board, results: results)) ?? true
        return explain(failure == .notOne && isBegun ? .damaged(at: 0) : failure, name: name)
    }

    static func explain(_ failure: LedgerReader.Failure, name: String) -> CampaignError {
        switch failure {
        case .storage(let error): CampaignError(.results, "\(error)")
        case .notOne: CampaignError(.results, "\(name)/\(RunDirectory.ledger) is not a ledger; nothing was sent")
        case .damaged(let offset):
            CampaignError(
                .results,
                "\(name)/\(RunDirectory.ledger) is damaged at byte \(offset): the outcomes of its rows are unknown, "
                    + "so nothing is sent; restore the complete ledger")
        }
    }

    /// What of the input is the campaign's.
    package var extent: InputExtent? {
        header.inputBytes.map { bytes in
            InputExtent(bytes: bytes, endsWhole: reading.history.ranges.last?.facts.end == bytes)
        }
    }

    /// Rows of a range that may have been sent, from its first on.
    func handed(_ range: LedgerHistory.Range) -> Int { reading.history.handed(range, board: notes) }

    /// Of ranges with rows that have no outcome, where the ledger does not say it yet.
    var newlyHanded: [(firstRow: UInt64, rows: Int)] {
        reading.history.ranges.compactMap { range in
            guard range.remaining > 0 else { return nil }
            let rows = handed(range)
            return rows > range.handed ? (range.facts.firstRow, rows) : nil
        }
    }

    /// The ranges that are read again, in order: those with rows left, and the last one, behind which reading goes on.
    package var ranges: [PastRange] {
        reading.history.ranges.enumerated().compactMap { index, range in
            let isLast = index == reading.history.ranges.count - 1
            guard range.remaining > 0 || isLast else { return nil }
            return PastRange(range, handed: handed(range), isReopening: isReopening)
        }
    }

    /// Refuses another campaign's id.
    package func check(_ identity: (UInt64, UInt64)?) throws(CampaignError) {
        guard let identity, identity != header.identity else { return }
        throw CampaignError(.configuration, "campaign id: the run began with another one")
    }

    /// Refuses another campaign or another input.
    ///
    /// - Parameter path: of the input.
    package func check(_ now: LedgerHeader, path: String) throws(CampaignError) {
        let differences = CampaignDigest.differences(now.digest, header.digest)
        guard differences.isEmpty else {
            throw CampaignError(
                .configuration,
                "\(differences.joined(separator: ", ")): changed since the run began, which would change what the rows "
                    + "become: restore it, or start a new run")
        }
        guard now.columnsSum == header.columnsSum else {
            throw CampaignError(.configuration, "\(now.inputName): the input changed: it has other columns")
        }
        guard now.resultColumns == header.resultColumns else {
            let names = header.resultColumns.isEmpty ? "none" : header.resultColumns.joined(separator: ", ")
            throw CampaignError(
                .configuration, "result columns cannot change when a run is resumed: it began with \(names)")
        }
        guard now.inputBytes == header.inputBytes else {
            let (had, has) = (header.inputBytes ?? 0, now.inputBytes ?? 0)
            throw CampaignError(
                .configuration, "\(now.inputName): the input changed: it had \(had) bytes and has \(has)")
        }
        if !Self.isSame(now.inputName, header.inputName) {
            try InputProof.check(path, holds: reading.history.ranges)
        }
    }

    /// Whether two paths name the same file as far as can be told: one may be relative.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        one == other || one.hasSuffix("/" + other) || other.hasSuffix("/" + one)
    }
}

/// A range of an earlier session that is read again.
package final class PastRange: Sendable {
    package let range: LedgerHistory.Range
    /// So many of its first rows may have been sent.
    package let handed: Int
    /// Its unavailable rows have been reopened just now: nobody sent them since APNs answered them.
    private let isReopening: Bool

    init(_ range: LedgerHistory.Range, handed: Int, isReopening: Bool = false) {
        self.range = range
        self.handed = handed
        self.isReopening = isReopening
    }

    /// Whether APNs refused the row, so that no earlier request for it can have arrived.
    package func wasAnswered(_ index: Int) -> Bool { isReopening && range.attempts(ofReopened: index) > 0 }
}
