import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// Where a run is written.
struct RunPlace: Sendable {
    /// The path of the run directory; empty in a simulation.
    let directory: String
    let files: any RunFiles
    /// The ledger. Its lock is what allows this process to change files of the run: from the first look at them to the end of the session.
    let ledger: any AppendFile

    private init(_ directory: String, _ files: (any RunFiles)?, _ ledger: any AppendFile) {
        (self.directory, self.files, self.ledger) = (directory, files ?? DirectoryFiles(directory), ledger)
    }

    /// Takes the place of a run: that of the run which is resumed, or a new one.
    init(_ terms: RunTerms) throws(CampaignError) {
        if terms.takesDirectory {
            let (path, ledger) = try RunDirectory.take(terms.campaign.runDirectory)
            self.init(path, nil, ledger)
        } else {
            let directory = terms.campaign.runDirectory ?? ""
            let files = terms.files ?? DirectoryFiles(directory)
            if let past = terms.past {
                self.init(directory, files, past.ledger)
            } else {
                self.init(directory, files, try files.makeLedger())
            }
        }
    }

    /// The path of a copy of the input.
    var inputCopy: String { DirectoryFiles(directory).inputCopyPath }

    func removeInputCopy() { DirectoryFiles(directory).removeInputCopy(of: ledger) }

    /// Names the file in which rows of a program are kept.
    func attach(_ spooled: SpooledSource, _ facts: RunFacts) throws(CampaignError) {
        let (file, end) = (try files.spool(of: ledger), facts.past?.end ?? 0)
        let name = "\(directory)/\(RunDirectory.spool)"
        if facts.past == nil, try !RunDirectory.hasNoRows(file) {
            throw CampaignError(
                .results, "\(name) has rows, but its ledger is missing: restore it, or move the rows away")
        }
        guard file.length >= end else {
            throw CampaignError(
                .results,
                "\(name) is truncated: it has \(file.length) bytes, and rows up to byte \(end) were taken; nothing was "
                    + "sent")
        }
        try CampaignError.mapping(.results) {
            try spooled.attach(file, resumingAt: end, isWhole: facts.isInputRead)
        }
    }

    /// Returns nil if the run has no timeline, or none that can be written.
    func timeline(of facts: RunFacts, warn: (String) -> Void) -> TimelineWriter? {
        do throws(CampaignError) {
            guard let storage = try files.timeline(of: ledger) else { return nil }
            let name = "\(directory)/\(RunDirectory.timeline)"
            return try TimelineWriter(storage, of: facts.past?.header ?? facts.header, name: name)
        } catch {
            warn("\(error)")
            return nil
        }
    }
}
