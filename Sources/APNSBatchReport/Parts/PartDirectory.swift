import APNSBatch
import APNSBatchModel
import APNSBatchRecords

/// The run directory of a part.
struct PartDirectory {
    let path: String

    init(_ part: Int, in directory: String) { path = RunReport.PartLine.directory(of: part, in: directory) }

    /// The state of a part according to its run directory.
    enum Content {
        case notBegun
        /// The summary of the last process, which ended in order.
        case summary(CampaignSummary)
        /// The last process left no summary.
        case killed
        /// Why it cannot be read.
        case damaged(String)
    }

    /// Reads the ledger's beginning and the summary.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/busy`` if a process is working on the part.
    func content() throws(CampaignError) -> Content {
        let opening: RunOpening?
        do {
            opening = try RunOpening(ifBegunIn: path)
        } catch {
            return .damaged("\(error)")
        }
        guard let opening else { return .notBegun }
        guard !opening.isAtWork else {
            throw CampaignError(.busy, "\(path): a process is working on this part; see status, or wait for its end")
        }
        guard let summary = RunDirectory.readSummary(path), summary.sessions == opening.sessions else { return .killed }
        return .summary(summary)
    }
}
