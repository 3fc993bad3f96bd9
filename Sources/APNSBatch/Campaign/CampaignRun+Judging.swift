import APNSBatchModel
import APNSBatchRows
import APNSBatchSending

/// Whether the rows of an input are worth sending. A run that is resumed has judged them before.
extension CampaignRun {
    /// Throws if the rows are those of `not-sent.csv`, and it is unknown which run they correct: what was sent of them since would not be
    /// known.
    static func refuseReturned(_ plan: CampaignPlan, _ campaign: Campaign) throws(CampaignError) {
        guard campaign.book?.correcting == nil, plan.hasReturnedRows else { return }
        throw CampaignError(
            .configuration,
            "\(plan.inputName): it has \(ReturnedLines.rowColumn), as rows that a run has not sent; nothing was sent: give that run by "
                + "--correction RUN_DIR, or remove \(ReturnedLines.rowColumn) to send them as rows of an input of their own"
        )
    }

    /// Judges rows of a new run before the first push. An input that can be read only once is judged while it is read (``judgeOfChunks``).
    ///
    /// - Returns: Which rows were judged; nil for none.
    /// - Throws: `configuration` if the input is broken as a whole.
    static func judge(
        _ input: RunInput, of campaign: Campaign, _ plan: CampaignPlan, _ reader: InputReader,
        _ expectations: ExpectationJudge
    ) throws(CampaignError) -> InputJudge.Scope? {
        guard reader.isRepeatable, let scope = judged(of: campaign, plan, expectations) else { return nil }
        let second = try InputReader(campaign, input: input, lanes: 1, limits: plan.surroundings.rowLimits)
        try InputJudge(plan, scope, expectations, cursor: second.makeCursor()).judge(second)
        return scope
    }

    /// Which rows of an input that can be read twice are judged; nil for none.
    static func judged(
        of campaign: Campaign, _ plan: CampaignPlan, _ expectations: ExpectationJudge
    ) -> InputJudge.Scope? {
        if saysHowMany(campaign, expectations) { return .all }
        return plan.judgesRows ? .first : nil
    }

    /// Whether a campaign sets itself how many rows may be invalid, so that all of them are judged.
    private static func saysHowMany(_ campaign: Campaign, _ expectations: ExpectationJudge) -> Bool {
        if case .percent? = campaign.circuitBreaker.shares[Campaign.CircuitBreaker.invalidRows] { return true }
        return expectations.isOfInvalidRows
    }

    /// Whether an expectation alone limits how many rows of a file may be invalid. It was judged when the run began.
    static func allows(_ campaign: Campaign, _ expectations: ExpectationJudge) -> Bool {
        campaign.circuitBreaker.shares[Campaign.CircuitBreaker.invalidRows] == nil && expectations.isOfInvalidRows
    }

    /// Judges the chunks of an input before their rows are sent; nil if they were judged, or if an earlier session has sent some.
    var judgeOfChunks: InputJudge? {
        guard judged == nil, !reader.isRepeatable, plan.judgesRows, past?.reading.history.rows ?? 0 == 0 else {
            return nil
        }
        return InputJudge(plan, .first, .standard, cursor: reader.makeCursor())
    }
}
