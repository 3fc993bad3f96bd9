import APNSBatchBasics
import APNSBatchNotification

/// Holds a ledger against what stands beside it: the lanes' notes and `results.csv`. A ledger that lost its end, or that is
/// another run's, does not explain them, and nothing may be sent on its word.
///
/// What is relied on: a session is durable in the ledger before its board is there, a range before a lane notes rows of it,
/// and an outcome is written to the ledger before its line is written.
struct LedgerProof {
    /// Why the ledger cannot be the one that the other files were written with.
    enum Doubt: Error, Equatable {
        /// The notes are of another run.
        case otherBoard
        /// `results.csv` is of another run, and nothing else tells which of the two belongs here.
        case otherResults
        /// It does not know a session that began.
        case missingSession
        /// It does not know a row that was sent, as this file says.
        case missingRow(UInt64, file: String)
    }

    let history: LedgerHistory
    /// Those of the last session that had a board; nil where there are none that hold.
    let board: BoardNotes?
    /// Of the system now.
    let boot: (UInt64, UInt64)

    /// What the lanes of the last session noted, where it is believed: not if the system was started anew since.
    var notes: [UInt64: Int]? {
        guard let session = history.session, let board, board.session == session.number, isSameBoot else { return nil }
        return board.rows
    }

    /// The system was not started anew since the last session began, so that what it wrote is all there.
    private var isSameBoot: Bool { boot != (0, 0) && history.session?.boot ?? (0, 0) == boot }

    /// Compares all there is.
    ///
    /// - Returns: whether `results.csv` is, as far as the last mark tells, what was written.
    func check(results storage: (any LedgerStorage)?) throws -> Bool {
        try checkBoard()
        guard let storage else { return false }
        let scan = ResultsScan(storage)
        let length = history.resultsLength
        let isSound = try length > 0 && history.resultsSum != nil && scan.sum(ofFirst: length) == history.resultsSum
        try check(scan, isSound: isSound)
        return isSound
    }

    private func checkBoard() throws(Doubt) {
        guard let board else { return }
        guard board.campaign == history.header?.sum else { throw .otherBoard }
        guard board.session <= history.session?.number ?? 0 else { throw .missingSession }
        for (firstRow, rows) in board.rows where rows > 0 {
            let range = history.range(of: firstRow)
            guard let range, range.facts.firstRow == firstRow, range.session >= board.session else {
                throw .missingRow(firstRow, file: RunDirectory.board)
            }
        }
    }

    /// - Parameter isSound: what the last mark covers is as it was written. What follows it is then ours as well, unless the
    ///   power was lost since, which may have left anything there. Otherwise a line counts if its apns-id is the one of this
    ///   run and row.
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
        // A loss of power may have changed a few bytes of a line, so a few lines of another run are no proof. With a board of
        // this run it is `results.csv` that was exchanged, and it is written anew.
        if otherLines > ownLines, !isSound, board == nil { throw Doubt.otherResults }
    }

    /// Whether the ledger knows why there is such a line. A loss of power may take outcomes that had their lines; those rows
    /// may have been sent.
    private func explains(_ line: ResultsScan.Line) -> Bool {
        guard let range = history.range(of: line.row) else { return false }
        let index = Int(line.row - range.facts.firstRow)
        // What was unavailable may have been reopened, and its line not be gone yet.
        if range.isDone(index) || line.outcome.canBeReopened { return true }
        return !isSameBoot && index < history.handed(range, board: notes)
    }

    /// Whether a run was begun whose ledger says nothing: it is damaged then, and not without a beginning. A line of results
    /// proves that; the line of columns may itself be torn, when the power was lost before anything was durable.
    static func isBegun(board: BoardNotes?, results: (any LedgerStorage)?) throws(StorageError) -> Bool {
        if board != nil { return true }
        guard let results else { return false }
        var hasLine = false
        try ResultsScan(results).forEachLine(from: 0) { _ in hasLine = true }
        return hasLine
    }
}

extension LedgerProof.Doubt {
    /// - Parameters:
    ///   - name: the run directory.
    ///   - lastRow: the last row that the board tells of; nil where it cannot be believed.
    func explanation(_ name: String, lastRow: UInt64?) -> String {
        let ledger = "\(name)/\(RunDirectory.ledger)"
        switch self {
        case .otherBoard:
            return "\(ledger) and \(name)/\(RunDirectory.board) belong to different runs, so nothing is sent: "
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
            return "\(ledger) is truncated: it has no record of row \(row), which \(name)/\(file) says was sent"
                + Self.remedy(lastRow)
        }
    }

    private static func remedy(_ lastRow: UInt64?) -> String {
        let sent = lastRow.map { "rows up to \($0) may have been sent" } ?? "it is unknown which rows were sent"
        return
            "; nothing is sent, because rows could be sent twice: restore the complete ledger; if it is lost, \(sent)"
    }
}
