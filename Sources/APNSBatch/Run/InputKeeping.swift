import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending

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

    /// The copying of an input, before anything is read.
    func copying(_ input: RunInput, of campaign: Campaign) throws(CampaignError) -> InputCopying {
        let format = try FormatChoice(of: input, campaign)
        let copy = InputCopy(of: input.location, windowLog: campaign.zstdWindow, format: format)
        return InputCopying(input: input, copy: copy, tell: tell)
    }
}

/// The copying of an input into a run directory.
struct InputCopying {
    let input: RunInput
    let copy: InputCopy
    /// Is called before the input is read.
    let tell: (InputSpooling) -> Void

    /// Throws if the input is too old, before anything is written. One file that is opened for that is also what is copied.
    func requireFreshness(_ campaign: Campaign, now: UInt64) throws(CampaignError) {
        guard let requirement = try AgeRequirement(campaign, of: input) else { return }
        let modified: UInt64?
        do throws(InputError) {
            modified = try copy.openEarly()
        } catch {
            throw CampaignError(.input, error.message(input: input.name), cause: error)
        }
        try requirement.check(modified.map { $0 / 1_000_000_000 }, now: now)
    }

    /// Copies the input. If that fails, nothing of it is kept.
    ///
    /// - Returns: What was read.
    func write(into place: RunPlace) throws(CampaignError) -> CopiedInput {
        do throws(InputError) {
            let file = try file(in: place)
            // The caller can cancel it from here on, and its program is not running yet.
            tell(InputSpooling(copy, of: input.name, to: place.inputCopy))
            return try copy.write(to: file)
        } catch {
            place.removeInputCopy()
            let code: CampaignError.Code = if case .cannotSpool = error { .results } else { .input }
            throw CampaignError(code, "\(error.message(input: input.name)); nothing was sent", cause: error)
        }
    }

    private func file(in place: RunPlace) throws(InputError) -> any AppendFile {
        do throws(StorageError) {
            return try DirectoryFiles(place.directory).makeInputCopy(of: place.ledger)
        } catch {
            throw .cannotSpool(error)
        }
    }
}
