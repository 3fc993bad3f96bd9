import APNSBatchModel
import APNSBatchRecords

/// All that is wrong with a campaign, so that it is reported at once.
extension CampaignPlan {
    /// What is wrong with values by themselves, whatever the input is.
    package static func faults(of campaign: Campaign) -> CampaignFaults {
        var faults = CampaignFaults()
        if !campaign.recipients.areChannels { HeaderDefaults.collectFaults(of: campaign.headers, in: &faults) }
        if let canary = campaign.canary {
            faults.collect { () throws(CampaignError) in _ = try Canary(canary) }
        }
        faults.collect { () throws(CampaignError) in
            try Campaign.Number.check(campaign)
            _ = try CircuitBreaker.Limits(campaign.circuitBreaker)
        }
        return faults
    }

    /// Throws all faults of values and of what names columns, if there are several. An input without its own columns is not the one that was
    /// meant: then only that is reported.
    static func refuseFaults(_ campaign: Campaign, _ input: InputFacts, isResumed: Bool) throws(CampaignError) {
        let (columns, file) = (isResumed ? input.columns : input.first?.names ?? input.columns, input.name)
        let hasTemplate = campaign.template != nil || campaign.templates != nil
        do throws(CampaignError) {
            _ = try ColumnRoles(
                columns: columns, file: file, hasTemplate: hasTemplate, recipients: campaign.recipients)
        } catch {
            return
        }
        var faults = Self.faults(of: campaign)
        faults.collect { () throws(CampaignError) in
            _ = try RowSelection(campaign.only, columns: columns, file: file)
        }
        faults.collect { () throws(CampaignError) in
            _ = try TemplateChoice(campaign, columns: columns, file: file)
        }
        faults.collect { () throws(CampaignError) in _ = try SealingPlan(campaign, columns: columns, file: file) }
        faults.collect { () throws(CampaignError) in
            _ = try ResultColumns(campaign.resultColumns, columns: columns, file: file, isSecret: { _ in false })
        }
        faults.collect { () throws(CampaignError) in
            try ResultColumns.check(reportBy: campaign.reportBy, among: campaign.resultColumns)
        }
        if let text = campaign.headers.collapseID {
            faults.collect { () throws(CampaignError) in
                try HeaderDefaults.checkCollapseID(text, columns: columns)
            }
        }
        try faults.throwSeveral()
    }
}
