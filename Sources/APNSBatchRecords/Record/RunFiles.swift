import APNSBatchBasics
import APNSBatchModel
import Glibc

/// The files of a run, which a simulation can replace.
///
/// They belong to the holder of the ledger's lock, which lasts from the reading of the ledger to the last write of this life of the run.
/// What may change or remove one of the others asks for that ledger, and throws, or does nothing, if its lock was released or if the
/// ledger was replaced.
package protocol RunFiles: Sendable {
    /// The boot id of the system.
    var boot: (UInt64, UInt64) { get }

    /// Creates a ledger and locks it.
    func makeLedger() throws(CampaignError) -> any AppendFile

    /// Opens and locks the ledger of an earlier process.
    func openLedger() throws(CampaignError) -> any AppendFile

    /// Opens `results.csv`, and creates it if it is missing.
    ///
    /// - Parameter isNew: Whether the run is new, so that the file has at most a part of its first line.
    func results(of ledger: any AppendFile, isNew: Bool) throws(CampaignError) -> any AppendFile

    /// Opens `results.csv` for reading; returns nil if it is missing.
    func resultsToRead() throws(CampaignError) -> (any AppendFile)?

    /// Returns the words of the previous session's hand-over file; empty if it cannot be read.
    func notes() -> [UInt64]

    /// Creates an empty hand-over file.
    func makeHandOvers(slots: Int, of ledger: any AppendFile) throws(CampaignError) -> HandOverRecord

    /// Opens the file in which rows of a program are kept, and creates it if it is missing.
    func spool(of ledger: any AppendFile) throws(CampaignError) -> any AppendFile

    /// Removes that file.
    func removeSpool(of ledger: any AppendFile)

    /// Opens the timeline, and creates it if it is missing. Returns nil if the run has none.
    func timeline(of ledger: any AppendFile) throws(CampaignError) -> (any AppendFile)?
}

extension RunFiles {
    package func timeline(of ledger: any AppendFile) throws(CampaignError) -> (any AppendFile)? { nil }
}

/// The files in a run directory.
package struct DirectoryFiles: RunFiles {
    let directory: String

    package init(_ directory: String) { self.directory = directory }

    var planPath: String { "\(directory)/\(RunDirectory.plan)" }
    private var ledgerPath: String { "\(directory)/\(RunDirectory.ledger)" }
    private var handOversPath: String { "\(directory)/\(RunDirectory.handOvers)" }
    private var timelinePath: String { "\(directory)/\(RunDirectory.timeline)" }

    /// Whether there is a file in the place of the ledger, or a link.
    var hasLedger: Bool {
        var facts = stat()
        return unsafe lstat(ledgerPath, &facts) == 0 || !RunDirectory.isAbsence(errno)
    }

    package var boot: (UInt64, UInt64) { BootID.read() }

    /// A ledger without a header counts as new: its process was killed before it had written one, and sent nothing.
    package func makeLedger() throws(CampaignError) -> any AppendFile {
        let storage = try lockedUnbegun(.either)
        // An empty one is not touched: the time at which it was written distinguishes it from others.
        if storage.length > 0 { try CampaignError.mapping(.results) { try storage.truncate(to: 0) } }
        return storage
    }

    /// Throws what ``makeLedger()`` would throw because of a ledger that is there, and changes nothing.
    func tryMakingLedger() throws(CampaignError) { if hasLedger { _ = try lockedUnbegun(.existing) } }

    private func lockedUnbegun(_ opening: FileStorage.Opening) throws(CampaignError) -> FileStorage {
        let storage = try locked(opening)
        guard try isUnbegun(storage) else { throw RunDirectory.taken(directory) }
        return storage
    }

    /// Whether the ledger is empty or contains only the beginning of a header.
    func isUnbegun() throws(CampaignError) -> Bool { try isUnbegun(try ledgerToRead()) }

    private func isUnbegun(_ storage: FileStorage) throws(CampaignError) -> Bool {
        // The hand-over file is put in place only after header and session are durable in the ledger.
        if HandOverNotes(notes()) != nil { return false }
        if storage.length == 0 { return true }
        var first = [UInt8](repeating: 0, count: 4)
        var reader = LedgerReader(storage)
        do {
            let count = try unsafe first.withUnsafeMutableBytes { try unsafe storage.read(at: 0, into: $0) }
            let isOurs = first[..<count].elementsEqual(LedgerFrame.headerTag.prefix(count))
            // A loss of power may leave zeros.
            guard isOurs || first.allSatisfy({ $0 == 0 }) else { return false }
            _ = try reader.opening()
            return false
        } catch LedgerReader.Failure.notOne {
            return true
        } catch let error as StorageError {
            throw CampaignError(.results, "\(error)", cause: error)
        } catch {
            return false
        }
    }

    package func openLedger() throws(CampaignError) -> any AppendFile { try locked(.existing) }

    /// Opens the ledger for reading, without the lock.
    func ledgerToRead() throws(CampaignError) -> FileStorage {
        guard !directory.isEmpty else { throw RunDirectory.unnamed }
        do {
            return try FileStorage(ledgerPath, .readOnly)
        } catch {
            let missing = "\(directory) holds no run: \(ledgerPath) does not exist"
            throw CampaignError(.results, error.isMissing ? missing : "\(error)", cause: error)
        }
    }

    private func locked(_ opening: FileStorage.Opening) throws(CampaignError) -> FileStorage {
        let (storage, isMine) = try CampaignError.mapping(.results) {
            let storage = try FileStorage(ledgerPath, opening)
            return (storage, try storage.lockPatiently())
        }
        guard isMine else {
            throw CampaignError(.busy, "\(directory): \(Self.holder(of: storage)) is working on this run")
        }
        return storage
    }

    /// Returns a description of the process that holds the lock of a ledger.
    private static func holder(of ledger: FileStorage) -> String {
        var reader = LedgerReader(ledger)
        let process = (try? reader.opening())?.session?.runningProcess
        return process.map { "process \($0)" } ?? "another process"
    }

    /// The names of both files are durable on return.
    package func results(of ledger: any AppendFile, isNew: Bool) throws(CampaignError) -> any AppendFile {
        try CampaignError.mapping(.results) {
            try ledger.confirmHeld()
            guard !isNew || RunDirectory.hasNoLines(directory) else { throw RunDirectory.taken(directory) }
            let storage = try FileStorage("\(directory)/\(RunDirectory.results)", .either)
            try FileStorage.syncDirectory(directory)
            return storage
        }
    }

    package func resultsToRead() throws(CampaignError) -> (any AppendFile)? {
        do {
            return try FileStorage("\(directory)/\(RunDirectory.results)", .readOnly)
        } catch {
            if error.isMissing { return nil }
            throw CampaignError(.results, "\(error)", cause: error)
        }
    }

    package func notes() -> [UInt64] { HandOverRecord.read(path: handOversPath) }

    package func makeHandOvers(slots: Int, of ledger: any AppendFile) throws(CampaignError) -> HandOverRecord {
        try CampaignError.mapping(.results) {
            try ledger.confirmHeld()
            return try HandOverRecord(path: handOversPath, slots: slots)
        }
    }

    package func spool(of ledger: any AppendFile) throws(CampaignError) -> any AppendFile {
        try CampaignError.mapping(.results) {
            try ledger.confirmHeld()
            let storage = try FileStorage("\(directory)/\(RunDirectory.spool)", .either)
            try FileStorage.syncDirectory(directory)
            return storage
        }
    }

    package func removeSpool(of ledger: any AppendFile) {
        if Self.isHeld(ledger) { unsafe unlink("\(directory)/\(RunDirectory.spool)") }
    }

    static func isHeld(_ ledger: any AppendFile) -> Bool { (try? ledger.confirmHeld()) != nil }

    /// The path of the copy of the input.
    package var inputCopyPath: String { "\(directory)/\(RunDirectory.inputCopy)" }

    /// Returns an empty file for a copy of the input. Its name is durable on return.
    package func makeInputCopy(of ledger: any AppendFile) throws(StorageError) -> any AppendFile {
        try ledger.confirmHeld()
        let storage = try emptyFile(inputCopyPath)
        try FileStorage.syncDirectory(directory)
        return storage
    }

    package func removeInputCopy(of ledger: any AppendFile) {
        if Self.isHeld(ledger) { unsafe unlink(inputCopyPath) }
    }

    /// Replaces the copy of the input by a file that `write` makes. If that fails, the copy stays.
    package func replaceInputCopy(of ledger: any AppendFile, _ write: (any AppendFile) throws -> Void) {
        let other = inputCopyPath + ".new"
        guard Self.isHeld(ledger), let storage = try? emptyFile(other) else { return }
        let isWritten = (try? write(storage)) != nil && (try? storage.sync()) != nil
        if unsafe !isWritten || rename(other, inputCopyPath) != 0 { unsafe unlink(other) }
    }

    func emptyFile(_ path: String) throws(StorageError) -> FileStorage {
        let storage = try FileStorage(path, .either)
        try storage.truncate(to: 0)
        return storage
    }

    package func timeline(of ledger: any AppendFile) throws(CampaignError) -> (any AppendFile)? {
        try CampaignError.mapping(.results) {
            try ledger.confirmHeld()
            return try FileStorage(timelinePath, .either)
        }
    }

    /// Opens the timeline for reading.
    func timelineToRead() throws(CampaignError) -> FileStorage {
        guard !directory.isEmpty else { throw RunDirectory.unnamed }
        do {
            return try FileStorage(timelinePath, .readOnly)
        } catch {
            let missing = "\(directory) holds no timeline: \(timelinePath) does not exist"
            throw CampaignError(.results, error.isMissing ? missing : "\(error)")
        }
    }
}
