import APNSBatchModel
import APNSBatchRows
import APNSBatchSending

extension CampaignPlan {
    /// Throws if the rows are those of `not-sent.csv`, and it is unknown which run they correct: what was sent of them since would not be
    /// known.
    func refuseReturnedRows(_ campaign: Campaign) throws(CampaignError) {
        guard campaign.book?.correcting == nil, hasReturnedRows else { return }
        throw CampaignError(
            .configuration,
            "\(inputName): it has \(ReturnedLines.rowColumn), as rows that a run has not sent; nothing was sent: give that run by "
                + "--correction RUN_DIR, or remove \(ReturnedLines.rowColumn) to send them as rows of an input of their own"
        )
    }
}

extension InputJudge.Scope {
    /// Which rows of an input that can be read twice are judged before the first push; nil for none.
    init?(_ campaign: Campaign, _ plan: CampaignPlan, _ expectations: ExpectationJudge) {
        if Self.saysHowMany(campaign, expectations) {
            self = .all
        } else if plan.judgesRows {
            self = .first
        } else {
            return nil
        }
    }

    /// Whether a campaign sets itself how many rows may be invalid, so that all of them are judged.
    private static func saysHowMany(_ campaign: Campaign, _ expectations: ExpectationJudge) -> Bool {
        if case .percent? = campaign.circuitBreaker.shares[Campaign.CircuitBreaker.invalidRows] { return true }
        return expectations.isOfInvalidRows
    }
}

extension ExpectationJudge {
    /// Whether an expectation alone limits how many rows of a file may be invalid. It is judged before the run begins.
    func aloneLimitsInvalidRows(of campaign: Campaign) -> Bool {
        campaign.circuitBreaker.shares[Campaign.CircuitBreaker.invalidRows] == nil && isOfInvalidRows
    }
}
