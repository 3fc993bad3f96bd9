import APNSBatchBasics
import APNSBatchModel

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

    /// `results.csv`, only to be looked at; nil where there is none.
    func resultsToRead() throws(CampaignError) -> (any LedgerStorage)?

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

    /// One without a header counts as new: its process was killed before it could say who it is, and sent nothing.
    package func makeLedger() throws(CampaignError) -> any LedgerStorage {
        let storage = try locked(.either)
        guard try isUnbegun(storage) else { throw RunDirectory.taken(directory) }
        try CampaignError.mapping(.results) { try storage.truncate(to: 0) }
        return storage
    }

    /// Whether nothing but the torn beginning of a ledger is there, or nothing.
    func isUnbegun() throws(CampaignError) -> Bool { try isUnbegun(try ledgerToRead()) }

    private func isUnbegun(_ storage: FileStorage) throws(CampaignError) -> Bool {
        // A board comes to its place only after the first words of the ledger are durable.
        if BoardNotes(notes()) != nil { return false }
        if storage.length == 0 { return true }
        var first = [UInt8](repeating: 0, count: 4)
        var reader = LedgerReader(storage)
        do {
            let count = try first.withUnsafeMutableBytes { try storage.read(at: 0, into: $0) }
            let isOurs = first[..<count].elementsEqual(LedgerFrame.headerTag.prefix(count))
            // A loss of power may leave zeros.
            guard isOurs || first.allSatisfy({ $0 == 0 }) else { return false }
            _ = try reader.opening()
            return false
        } catch LedgerReader.Failure.notOne {
            return true
        } catch let error as StorageError {
            throw CampaignError(.results, "\(error)")
        } catch {
            return false
        }
    }

    package func openLedger() throws(CampaignError) -> any LedgerStorage { try locked(.existing) }

    /// The ledger, for somebody who only looks.
    func ledgerToRead() throws(CampaignError) -> FileStorage {
        guard !directory.isEmpty else { throw RunDirectory.unnamed }
        do {
            return try FileStorage(ledgerPath, .readOnly)
        } catch {
            let missing = "\(directory) holds no run: \(ledgerPath) does not exist"
            throw CampaignError(.results, error.isMissing ? missing : "\(error)")
        }
    }

    private func locked(_ opening: FileStorage.Opening) throws(CampaignError) -> FileStorage {
        let (storage, isMine) = try CampaignError.mapping(.results) {
            let storage = try FileStorage(ledgerPath, opening)
            return (storage, try storage.lockPatiently())
        }
        guard isMine else {
            throw CampaignError(.configuration, "\(directory): another process is working on this run")
        }
        return storage
    }

    /// The names of both files survive a loss of power on return.
    package func results() throws(CampaignError) -> any LedgerStorage {
        try CampaignError.mapping(.results) {
            let storage = try FileStorage("\(directory)/\(RunDirectory.results)", .either)
            try FileStorage.syncDirectory(directory)
            return storage
        }
    }

    package func resultsToRead() throws(CampaignError) -> (any LedgerStorage)? {
        do {
            return try FileStorage("\(directory)/\(RunDirectory.results)", .readOnly)
        } catch {
            if error.isMissing { return nil }
            throw CampaignError(.results, "\(error)")
        }
    }

    package func notes() -> [UInt64] { HandOverBoard.read(path: boardPath) }

    package func makeBoard(slots: Int) throws(CampaignError) -> HandOverBoard {
        try CampaignError.mapping(.results) { try HandOverBoard(path: boardPath, slots: slots) }
    }
}
