import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows

/// The state in which earlier processes left a run, read before this process begins.
package struct RunPast: Sendable {
    package let header: LedgerHeader
    /// The content of the ledger, with its unavailable rows reopened if that was requested.
    package let reading: LedgerReader.Reading
    /// Whether rows are to be reopened, which is not in the ledger yet.
    package let isReopening: Bool
    package let ledger: any AppendFile
    /// The length of the ledger when it was read, with what is torn at its end.
    let lengthFound: UInt64
    /// `results.csv` when it was read; nil if it was missing, or is not on a disk.
    private let resultsFound: FileStamp?
    /// Whether `results.csv` is unchanged up to the last mark.
    let hasSoundResults: Bool
    /// The notes of the last session's lanes; nil if they cannot be trusted.
    private let notes: [UInt64: Int]?

    /// Opens, locks and reads the ledger.
    ///
    /// - Parameter reopening: whether rows that ended as unavailable count as not sent.
    package init(_ files: any RunFiles, name: String, reopening: Bool = false) throws(CampaignError) {
        ledger = try files.openLedger()
        lengthFound = ledger.length
        let found = try Self.read(ledger, files, name: name)
        var reading = found.reading
        isReopening = reopening && Outcome.allCases.contains { $0.canBeReopened && reading.history.tally[$0] > 0 }
        if isReopening { Self.reopen(&reading) }
        self.reading = reading
        (notes, resultsFound) = (found.notes, found.resultsFound)
        // The lines of reopened rows must not stay.
        hasSoundResults = found.hasSoundResults && !isReopening
        guard let header = reading.history.header else { throw Self.explain(.notOne, name: name) }
        guard header.isResumable else {
            throw CampaignError(
                .configuration,
                "a campaign from standard input or a pipe, or from a program whose rows are not kept, cannot be resumed: "
                    + "its rows are gone")
        }
        self.header = header
    }

    /// Applies what `RunLedger.settle` will write to the ledger: nothing of `results.csv` counts any more.
    private static func reopen(_ reading: inout LedgerReader.Reading) {
        try? reading.reopen(at: reading.length)
        reading.history.takeMark(resultsLength: 0)
        reading.afterMark = []
    }

    /// The content of a ledger that agrees with the notes and with `results.csv`.
    struct Proven {
        var reading: LedgerReader.Reading
        var notes: [UInt64: Int]?
        var hasSoundResults: Bool
        var resultsFound: FileStamp?
    }

    /// Reads a ledger that no process writes, and throws if it does not agree with the other files.
    static func read(
        _ ledger: any AppendFile, _ files: any RunFiles, name: String
    ) throws(CampaignError) -> Proven {
        let (handOvers, results) = (HandOverNotes(files.notes()), try files.resultsToRead())
        let resultsFound = results?.stamp
        var reader = LedgerReader(ledger)
        do {
            let reading = try reader.read(boot: files.boot)
            let proof = LedgerProof(history: reading.history, handOvers: handOvers, boot: files.boot)
            return Proven(
                reading: reading, notes: proof.notes, hasSoundResults: try proof.check(results: results),
                resultsFound: resultsFound)
        } catch let failure as LedgerReader.Failure {
            throw explain(failure, handOvers: handOvers, results: results, name: name)
        } catch let doubt as LedgerProof.Doubt {
            let lastRow = handOvers.flatMap { files.boot != (0, 0) && $0.boot == files.boot ? $0.lastRow : nil }
            throw CampaignError(.results, doubt.explanation(name, lastRow: lastRow))
        } catch {
            throw CampaignError(.results, "\(error)", cause: error)
        }
    }

    /// Throws if `results.csv` is not the file that was read together with the ledger, or was written since: the lock keeps other runs
    /// away from it, but not other programs.
    func confirm(_ results: any AppendFile) throws(StorageError) {
        guard let now = results.stamp else { return }
        guard resultsFound.map({ now == $0 }) ?? (results.length == 0) else {
            throw StorageError("write", RunDirectory.results, code: StorageError.changed)
        }
    }

    /// Reads a ledger while a process may write it. The other files prove nothing then, because they may be ahead of what
    /// was read.
    static func readUnproven(
        _ ledger: any AppendFile, _ files: any RunFiles, name: String
    ) throws(CampaignError) -> LedgerReader.Reading {
        var reader = LedgerReader(ledger)
        do {
            return try reader.read(boot: files.boot)
        } catch {
            throw explain(error, name: name)
        }
    }

    /// Explains a failure. A missing header counts as damage if the other files show that the run had begun.
    static func explain(
        _ failure: LedgerReader.Failure, handOvers: HandOverNotes?, results: (any AppendFile)?, name: String
    ) -> CampaignError {
        let isBegun = (try? LedgerProof.isBegun(handOvers: handOvers, results: results)) ?? true
        return explain(failure == .notOne && isBegun ? .damaged(at: 0) : failure, name: name)
    }

    static func explain(_ failure: LedgerReader.Failure, name: String) -> CampaignError {
        switch failure {
        case .storage(let error): CampaignError(.results, "\(error)", cause: error)
        case .notOne: CampaignError(.results, "\(name)/\(RunDirectory.ledger) is not a ledger; nothing was sent")
        case .damaged(let offset):
            CampaignError(
                .results,
                "\(name)/\(RunDirectory.ledger) is damaged at byte \(offset): the outcomes of its rows are unknown, "
                    + "so nothing is sent; restore the complete ledger")
        case .newer(let offset):
            CampaignError(
                .results,
                "\(name)/\(RunDirectory.ledger) was written by a newer version of this program (byte \(offset)), so "
                    + "nothing is sent; resume the run with that version")
        }
    }

    /// The part of the input that belongs to the campaign.
    package var extent: InputExtent? {
        header.inputBytes.map { bytes in
            InputExtent(
                bytes: bytes, endsWhole: header.packing != nil || reading.history.ranges.last?.facts.end == bytes)
        }
    }

    /// The offset after the last row that was announced.
    package var end: UInt64 { reading.history.ranges.last?.facts.end ?? 0 }

    /// Returns how many of a range's first rows may have been sent.
    func handed(_ range: LedgerHistory.Range) -> Int { reading.history.handed(range, handOvers: notes) }

    /// The ranges with rows that may have been sent and have no outcome, where that is not in the ledger yet.
    var newlyHanded: [(firstRow: UInt64, rows: Int)] {
        reading.history.ranges.compactMap { range in
            guard range.remaining > 0 else { return nil }
            let rows = handed(range)
            return rows > range.handed ? (range.facts.firstRow, rows) : nil
        }
    }

    /// The ranges that are read again, in order: those with rows left, and the last one, after which reading continues.
    package var ranges: [PastRange] {
        reading.history.ranges.enumerated().compactMap { index, range in
            let isLast = index == reading.history.ranges.count - 1
            guard range.remaining > 0 || isLast else { return nil }
            return PastRange(range, handed: handed(range), isReopening: isReopening)
        }
    }

    /// Throws if the campaign id differs.
    package func check(_ id: CampaignID?) throws(CampaignError) {
        guard let id, id.words != header.identity else { return }
        throw CampaignError(.configuration, "campaign id: the run began with another one")
    }

    /// What follows the cause if the input is the copy that the run keeps: only this program writes it.
    package static let damagedCopy =
        "; the copy of the input in the run directory is damaged, so resuming does not help: apns-batch status shows which "
        + "rows are left and which of them may have been sent, and another run can send them"

    /// Throws if the campaign or the input differs.
    ///
    /// - Parameter input: the input that this session reads.
    package func check(_ now: LedgerHeader, input: ChunkReader) throws(CampaignError) {
        try Self.check(digest: now.digest, since: header)
        let advice = header.isCopied ? Self.damagedCopy : ""
        guard now.columnsSum == header.columnsSum else {
            throw CampaignError(.configuration, "\(now.inputName): the input changed: it has other columns\(advice)")
        }
        try Self.check(resultColumns: now.resultColumns, since: header)
        guard now.isSpooled == header.isSpooled else {
            throw CampaignError(
                .configuration,
                "\(now.inputName): the input changed: the run began with "
                    + (header.isSpooled ? "rows of a program" : "the file \(header.inputName)"))
        }
        // Of a copy only the header row is left when all rows have ended.
        guard !header.isCopied || !reading.history.isComplete else { return }
        guard now.inputBytes == header.inputBytes else {
            let (had, has) = (header.inputBytes ?? 0, now.inputBytes ?? 0)
            throw CampaignError(
                .configuration, "\(now.inputName): the input changed: it had \(had) bytes and has \(has)\(advice)")
        }
        if !Self.isSame(now.inputName, header.inputName) {
            try InputProof.check(input, name: now.inputName, holds: reading.history.ranges)
        }
    }

    /// Throws if a setting differs that decides what the rows become.
    static func check(digest: [UInt8], since header: LedgerHeader) throws(CampaignError) {
        let differences = CampaignDigest.differences(digest, header.digest)
        guard !differences.isEmpty else { return }
        throw CampaignError(
            .configuration,
            "\(differences.joined(separator: ", ")): changed since the run began, which would change what the rows "
                + "become: restore it, or start a new run")
    }

    static func check(resultColumns: [String], since header: LedgerHeader) throws(CampaignError) {
        guard resultColumns != header.resultColumns else { return }
        let names = header.resultColumns.isEmpty ? "none" : header.resultColumns.joined(separator: ", ")
        throw CampaignError(
            .configuration, "result columns cannot change when a run is resumed: it began with \(names)")
    }

    /// Whether two paths may name the same file: one may be relative.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        one == other || one.hasSuffix("/" + other) || other.hasSuffix("/" + one)
    }
}
