import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending

/// Where the rows of a session are read from. Of an input that can be read only once, rows can be looked at only when they are kept, so that
/// a run with such an input takes its place before it is planned.
struct RunSource {
    /// The input, as the caller gives it.
    let given: RunInput
    /// That, or its copy in the run directory.
    let input: RunInput
    /// What this session has copied; nil if there is no copy, or one of an earlier session.
    let kept: Kept?

    /// A copy in the place of the run.
    struct Kept {
        let place: RunPlace
        let content: CopiedInput
        /// The rows of a correction; nil for another run.
        let corrected: CorrectedRows?
    }

    /// Copies the input if it has to be kept.
    init(_ terms: RunTerms, _ request: RunRequest) throws(CampaignError) {
        given = request.input
        if let past = terms.past {
            (input, kept) = (past.header.isCopied ? Self.copy(of: past.header, in: terms.campaign) : given, nil)
        } else if terms.takesDirectory, request.keeping.copies(given) {
            (input, kept) = try Self.keep(given, terms, request)
        } else {
            (input, kept) = (given, nil)
        }
    }

    /// The copy of the input that an earlier session made.
    private static func copy(of header: LedgerHeader, in campaign: Campaign) -> RunInput {
        RunInput(copy: DirectoryFiles(campaign.runDirectory ?? "").inputCopyPath, of: header.inputName)
    }

    private static func keep(
        _ given: RunInput, _ terms: RunTerms, _ request: RunRequest
    ) throws(CampaignError) -> (RunInput, Kept) {
        let copying = try request.keeping.copying(given, of: terms.campaign)
        try copying.requireFreshness(terms.campaign, now: request.surroundings.seconds())
        let place = try RunPlace(terms)
        let content = try copying.write(into: place)
        let copy = RunInput(copy: place.inputCopy, of: given.name, parts: given.parts)
        do throws(CampaignError) {
            let isCorrection = terms.campaign.book?.correcting != nil
            let corrected = isCorrection ? try CorrectedRows(terms.campaign, copy, content) : nil
            return (copy, Kept(place: place, content: content, corrected: corrected))
        } catch {
            place.removeInputCopy()
            throw error
        }
    }

    /// Calls a function, and removes the copy if it fails: nothing was sent of it then.
    func orRemoved<Result>(_ body: () throws(CampaignError) -> Result) throws(CampaignError) -> Result {
        do throws(CampaignError) {
            return try body()
        } catch {
            kept?.place.removeInputCopy()
            throw error
        }
    }
}
