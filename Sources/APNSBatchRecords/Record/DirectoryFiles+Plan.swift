import APNSBatchBasics
import APNSBatchModel
import Glibc

/// The file of a run's plan.
extension DirectoryFiles {
    /// Writes the plan. It has its name only when it is whole and durable. If that fails, nothing is left of it.
    ///
    /// - Parameters:
    ///   - ledger: That of the run, which is locked.
    ///   - write: Writes to an empty file, and makes it durable.
    package func writePlan<Value, Failure: Error>(
        of ledger: any AppendFile, failed: (StorageError) -> Failure,
        _ write: (any AppendFile) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let unfinished = planPath + ".new"
        var isNamed = false
        defer { if !isNamed { unsafe unlink(unfinished) } }
        let storage = try Self.stored(failed) { () throws(StorageError) -> any AppendFile in
            try ledger.confirmHeld()
            return try emptyFile(unfinished)
        }
        let value = try write(storage)
        try Self.stored(failed) { () throws(StorageError) in
            guard unsafe rename(unfinished, planPath) == 0 else {
                throw StorageError("rename", unfinished, code: errno)
            }
            isNamed = true
            try FileStorage.syncDirectory(directory)
        }
        return value
    }

    private static func stored<Value, Failure: Error>(
        _ failed: (StorageError) -> Failure, _ body: () throws(StorageError) -> Value
    ) throws(Failure) -> Value {
        do throws(StorageError) {
            return try body()
        } catch {
            throw failed(error)
        }
    }

    /// Opens the plan for reading.
    ///
    /// - Throws: ``CampaignError`` with `results`.
    package func planToRead() throws(CampaignError) -> any AppendFile {
        do {
            return try FileStorage(planPath, .readOnly)
        } catch {
            let gone =
                "\(planPath) is gone: it is not known which rows are to be sent, so nothing is sent; restore the file"
            throw CampaignError(.results, error.isMissing ? gone : "\(error)", cause: error)
        }
    }
}
