import APNSBatchBasics
import APNSBatchNotification

/// Compares a ledger with the lanes' notes and `results.csv`. If the ledger does not explain them, it has lost its end or
/// belongs to another run, and nothing may be sent.
///
/// The proof relies on the order of writes: a session is durable in the ledger before its hand-over file is in place, a
/// range before a lane notes rows of it, and an outcome is written to the ledger before its line is written to
/// `results.csv`.
struct LedgerProof {
    /// Why the ledger does not belong to the other files, or is incomplete.
    enum Doubt: Error, Equatable {
        /// The notes belong to another run.
        case otherHandOvers
        /// `results.csv` belongs to another run, and nothing shows which of the two files belongs here.
        case otherResults
        /// The ledger lacks a session that began.
        case missingSession
        /// The ledger lacks a row that was sent according to `file`.
        case missingRow(UInt64, file: String)
    }

    let history: LedgerHistory
    /// The notes of the last session that had a hand-over file; nil if there are no valid ones.
    let handOvers: HandOverNotes?
    /// The current boot id of the system.
    let boot: (UInt64, UInt64)

    /// The notes of the last session's lanes; nil if they cannot be trusted, for example because the system was restarted
    /// since.
    var notes: [UInt64: Int]? {
        guard let session = history.session, let handOvers, handOvers.session == session.number, isSameBoot else {
            return nil
        }
        return handOvers.rows
    }

    /// Whether the system has not been restarted since the last session began, so that all it wrote is there.
    private var isSameBoot: Bool { boot != (0, 0) && history.session?.boot ?? (0, 0) == boot }

    /// Compares the ledger with the notes and with `results.csv`.
    ///
    /// - Returns: whether `results.csv` is unchanged up to the last mark.
    func check(results storage: (any AppendFile)?) throws -> Bool {
        try checkHandOvers()
        guard let storage else { return false }
        let scan = ResultsScan(storage)
        let length = history.resultsLength
        let isSound = try length > 0 && history.resultsSum != nil && scan.sum(ofFirst: length) == history.resultsSum
        try check(scan, isSound: isSound)
        return isSound
    }

    private func checkHandOvers() throws(Doubt) {
        guard let handOvers else { return }
        guard handOvers.campaign == history.header?.sum else { throw .otherHandOvers }
        guard handOvers.session <= history.session?.number ?? 0 else { throw .missingSession }
        for (firstRow, rows) in handOvers.rows where rows > 0 {
            let range = history.range(of: firstRow)
            guard let range, range.facts.firstRow == firstRow, range.session >= handOvers.session else {
                throw .missingRow(firstRow, file: RunDirectory.handOvers)
            }
        }
    }

    /// - Parameter isSound: whether the part that the last mark covers is unchanged. Then the lines after it also count as
    ///   this run's, unless the power was lost since, which may have left any bytes there. Otherwise a line counts if its
    ///   apns-id derives from this run and row.
    private func check(_ scan: ResultsScan, isSound: Bool) throws {
        guard let identity = history.header?.identity else { return }
        var missing: UInt64?
        var (ownLines, otherLines) = (0, 0)
        try scan.forEachLine(from: isSound ? history.resultsLength : 0) { line in
            let isOwn = line.messageID == Array(MessageID(campaign: identity, row: line.row).text.utf8)
            if isOwn || isSound && isSameBoot {
                ownLines += 1
                if missing == nil, !explains(line) { missing = line.row }
            } else if line.hasDerivedID {
                otherLines += 1
            }
        }
        if let missing { throw Doubt.missingRow(missing, file: RunDirectory.results) }
        // A loss of power may have changed bytes of a few lines, so a few lines of another run prove nothing. With a
        // hand-over file of this run, it is `results.csv` that was exchanged, and it is written anew.
        if otherLines > ownLines, !isSound, handOvers == nil { throw Doubt.otherResults }
    }

    /// Whether the ledger explains a line. A loss of power may take outcomes whose lines were written; those rows may have
    /// been sent.
    private func explains(_ line: ResultsScan.Line) -> Bool {
        guard let range = history.range(of: line.row) else { return false }
        let index = Int(line.row - range.facts.firstRow)
        // Unavailable rows may have been reopened while their lines are still there.
        if range.isDone(index) || line.outcome.canBeReopened { return true }
        return !isSameBoot && index < history.handed(range, handOvers: notes)
    }

    /// Whether a run began although its ledger has no header, which proves that the ledger is damaged. A line of results
    /// proves it. The line of column names does not: it may itself be torn if the power was lost before anything was
    /// durable.
    static func isBegun(handOvers: HandOverNotes?, results: (any AppendFile)?) throws(StorageError) -> Bool {
        if handOvers != nil { return true }
        guard let results else { return false }
        var hasLine = false
        try ResultsScan(results).forEachLine(from: 0) { _ in hasLine = true }
        return hasLine
    }
}

extension LedgerProof.Doubt {
    /// - Parameters:
    ///   - name: the run directory.
    ///   - lastRow: the last row in the notes; nil if they cannot be trusted.
    func explanation(_ name: String, lastRow: UInt64?) -> String {
        let ledger = "\(name)/\(RunDirectory.ledger)"
        switch self {
        case .otherHandOvers:
            return "\(ledger) and \(name)/\(RunDirectory.handOvers) belong to different runs, so nothing is sent: "
                + "restore the files that belong together"
        case .otherResults:
            return
                "\(ledger) and \(name)/\(RunDirectory.results) belong to different runs, so nothing is sent: "
                + "restore the files that belong together, or, if the ledger is the right one, move "
                + "\(RunDirectory.results) away"
        case .missingSession:
            return "\(ledger) is truncated: it has no record of the last process that worked on the run"
                + Self.remedy(lastRow)
        case .missingRow(let row, let file):
            return "\(ledger) is truncated: it has no entry of row \(row), which was sent according to \(name)/\(file)"
                + Self.remedy(lastRow)
        }
    }

    private static func remedy(_ lastRow: UInt64?) -> String {
        let sent = lastRow.map { "rows up to \($0) may have been sent" } ?? "it is unknown which rows were sent"
        return
            "; nothing is sent, because rows could be sent twice: restore the complete ledger; if it is lost, \(sent)"
    }
}
