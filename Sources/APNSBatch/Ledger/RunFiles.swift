/// The files of a run, so that a simulation can give others.
package protocol RunFiles: Sendable {
    /// Of the system since it was started.
    var boot: (UInt64, UInt64) { get }

    /// A new ledger, which nobody else may write.
    func makeLedger() throws(CampaignError) -> any LedgerStorage

    /// The ledger of an earlier process, which nobody else may write.
    func openLedger() throws(CampaignError) -> any LedgerStorage

    /// `results.csv`, empty where there is none.
    func results() throws(CampaignError) -> any LedgerStorage

    /// What the lanes of the process before this one noted; empty when nobody knows.
    func notes() -> [UInt64]

    /// An empty board.
    func makeBoard(slots: Int) throws(CampaignError) -> HandOverBoard
}

/// A run directory.
package struct DirectoryFiles: RunFiles {
    private let directory: String

    package init(_ directory: String) { self.directory = directory }

    private var ledgerPath: String { "\(directory)/\(RunDirectory.ledger)" }
    private var boardPath: String { "\(directory)/\(RunDirectory.board)" }

    package var boot: (UInt64, UInt64) { HandOverBoard.bootID() }

    package func makeLedger() throws(CampaignError) -> any LedgerStorage { try locked(.new) }

    package func openLedger() throws(CampaignError) -> any LedgerStorage { try locked(.existing) }

    /// The ledger, for somebody who only looks.
    func ledgerToRead() throws(CampaignError) -> FileStorage {
        do {
            return try FileStorage(ledgerPath, .readOnly)
        } catch {
            let missing = "\(directory) holds no run: there is no \(ledgerPath)"
            throw CampaignError(.results, error.isMissing ? missing : "\(error)")
        }
    }

    private func locked(_ opening: FileStorage.Opening) throws(CampaignError) -> FileStorage {
        let isMine: Bool
        let storage: FileStorage
        do {
            storage = try FileStorage(ledgerPath, opening)
            isMine = try storage.lockPatiently()
        } catch {
            throw CampaignError(.results, "\(error)")
        }
        guard isMine else {
            throw CampaignError(.configuration, "\(directory): another process is at work on this run")
        }
        return storage
    }

    package func results() throws(CampaignError) -> any LedgerStorage {
        let path = "\(directory)/\(RunDirectory.results)"
        do {
            do {
                return try FileStorage(path, .new)
            } catch  where error.isExisting {
                return try FileStorage(path, .existing)
            }
        } catch {
            throw CampaignError(.results, "\(error)")
        }
    }

    package func notes() -> [UInt64] { HandOverBoard.read(path: boardPath) }

    package func makeBoard(slots: Int) throws(CampaignError) -> HandOverBoard {
        do {
            return try HandOverBoard(path: boardPath, slots: slots)
        } catch {
            throw CampaignError(.results, "\(error)")
        }
    }
}
