import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending
import Logging

extension CampaignRun {
    /// Removes rows that no later session needs. Of a copy the header row stays, or what is in its place, so that the run can
    /// still be opened.
    func dropKeptRows() {
        if input.spooled != nil { files.removeSpool(of: ledger) }
        guard input.isCopy else { return }
        DirectoryFiles(directory).replaceInputCopy(of: ledger) { [reader] file in
            try InputCopy.write(reader.format.beginning(columns: reader.columns), to: file)
        }
    }

    /// Creates a run, or resumes one, and sets where its input is kept.
    ///
    /// - Parameters:
    ///   - campaign: The settings.
    ///   - input: The source of the rows. It is not read if the run is resumed and its input was kept.
    ///   - spool: Whether the input is read to its end before the first push, and kept in the run directory; nil to do so with inputs that can
    ///     be read only once. With ``Spool/none``, such an input is sent while it is read, and the run cannot be resumed.
    ///   - resuming: Whether to continue the run in ``Campaign/runDirectory``.
    ///   - logger: Receives messages about connections, retries and failures. Tokens are shortened in them, and secrets never
    ///     appear. It also receives what a program of ``CampaignInput/program(_:environment:patience:)`` writes to standard error.
    ///   - onSpooling: Is called once, on the calling thread, before an input is read to its end, which may take long.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input`, `results`, or `busy` if another
    ///   process is working on the run.
    public convenience init(
        _ campaign: Campaign, input: CampaignInput, spool: Spool?, resuming: Resuming = .never,
        logger: Logger = .current, onSpooling: @escaping (InputSpooling) -> Void = { _ in }
    ) throws(CampaignError) {
        try self.init(
            campaign, input: try RunInput(input, logger: logger), spooling: InputKeeping(spool, tell: onSpooling),
            resuming: try resuming.resumes(campaign), logger: logger)
    }
}

/// How an input is kept.
package struct InputKeeping {
    private let spool: CampaignRun.Spool?
    private let tell: (InputSpooling) -> Void

    package init(_ spool: CampaignRun.Spool? = nil, tell: @escaping (InputSpooling) -> Void = { _ in }) {
        (self.spool, self.tell) = (spool, tell)
    }

    /// Whether an input is copied before the first push.
    func copies(_ input: RunInput) -> Bool {
        guard input.canBeCopied else { return false }
        switch spool {
        case nil: return !input.isFile
        case .runDirectory?: return true
        case CampaignRun.Spool.none?: return false
        }
    }

    /// Copies an input into a directory, whose ledger was locked. If that fails, nothing of it is kept.
    ///
    /// - Returns: The copy.
    func copy(
        _ input: RunInput, of campaign: Campaign, to directory: String, _ ledger: any AppendFile
    ) throws(CampaignError) -> (copy: RunInput, of: CopiedInput) {
        let files = DirectoryFiles(directory)
        let format = try FormatChoice(of: input, campaign)
        let copied: CopiedInput
        do throws(InputError) {
            let copy = InputCopy(of: input.location, windowLog: campaign.zstdWindow, format: format)
            let file = try Self.file(of: files, ledger)
            // The caller can cancel it from here on, and its program is not running yet.
            tell(InputSpooling(copy, of: input.name, to: files.inputCopyPath))
            copied = try copy.write(to: file)
        } catch {
            files.removeInputCopy(of: ledger)
            let code: CampaignError.Code = if case .cannotSpool = error { .results } else { .input }
            throw CampaignError(code, "\(error.message(input: input.name)); nothing was sent", cause: error)
        }
        return (RunInput(copy: files.inputCopyPath, of: input.name, parts: input.parts), copied)
    }

    private static func file(of files: DirectoryFiles, _ ledger: any AppendFile) throws(InputError) -> any AppendFile {
        do throws(StorageError) {
            return try files.makeInputCopy(of: ledger)
        } catch {
            throw .cannotSpool(error)
        }
    }
}
