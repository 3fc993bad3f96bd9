import APNSBatchModel
import APNSBatchRecords

extension CampaignRun {
    /// What a run does with an earlier one in ``Campaign/runDirectory``.
    ///
    /// A resumed run does not send rows again that have an outcome. It sends rows that were not sent, or were refused with an answer
    /// that allows another request, and ``Campaign/onUnknown`` decides about those that may have arrived. Input, template and
    /// header fields must be the same; credentials and other settings may differ.
    @nonexhaustive
    public enum Resuming: Sendable, Equatable {
        /// It is a new run. A directory that has another one is refused.
        case never
        /// It resumes the run in the directory if there is one, and otherwise begins. If that run is complete, ``CampaignRun/send()``
        /// returns its summary: a program that is started again and again sends each row once.
        case ifStarted
        /// It resumes the run in the directory, which must have one.
        case always
    }

    /// Where a run keeps rows that cannot be read again, so that it can be resumed.
    @nonexhaustive
    public enum Spool: Sendable, Equatable {
        /// In the run directory: in `rows.spool`, as CSV, while a program makes them, or in `input.zst` before the first push. Rows are
        /// durable there before the first of them is sent. The file is removed when the run is complete, unless some rows ended as unavailable.
        case runDirectory
        /// Nowhere. The run cannot be resumed; `results.csv` has the outcomes of the rows that were sent.
        case none
    }
}

extension CampaignRun.Resuming {
    /// Whether a run of the campaign continues an earlier one.
    func resumes(_ campaign: Campaign) throws(CampaignError) -> Bool {
        switch self {
        case .never: return false
        case .always: return true
        case .ifStarted:
            guard let directory = campaign.runDirectory else { return false }
            return try RunOpening(ifBegunIn: directory) != nil
        }
    }
}
