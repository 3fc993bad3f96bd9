import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

/// The record of a run that another program has removed or replaced while the run went on.
enum LostRecord {
    /// Whether a run has ended because its record is gone.
    ///
    /// - Parameter start: When the run began, in seconds since 1970-01-01 00:00 UTC.
    static func isCause(of error: CampaignError, in directory: String, start: UInt64) -> Bool {
        let isOfFile =
            switch error.cause {
            case let error as StorageError: error.isMissing || error.code == StorageError.changed
            case is OutputFileError: true
            default: false
            }
        guard isOfFile, !directory.isEmpty else { return false }
        return (try? RunOpening(of: directory))?.began != CampaignSummary.Identity.time(start)
    }

    /// What was sent, and what to do; nil if nothing was.
    ///
    /// - Parameter isKnown: Whether the history of the campaign has the run, so that a new start is refused.
    static func sentence(_ summary: CampaignSummary, isKnown: Bool) -> String? {
        let maybe = summary.maybeSent ?? 0
        guard summary.rows > 0 || maybe > 0 else { return nil }
        let flying = maybe > 0 ? " and \(maybe.grouped) more may have been sent" : ""
        let start =
            isKnown
            ? "a new start with this input is refused until then, and with --again it sends these rows again"
            : "a new start sends these rows again"
        return "\(summary.rows.grouped) rows have ended\(flying), but the record of the run is gone: restore the "
            + "directory and resume the run; \(start)"
    }
}
