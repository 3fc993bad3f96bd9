import APNSBatchRecords
import APNSBatchSending
import Logging

@testable import APNSBatch
@testable import APNSBatchModel

/// A campaign and the rows that it is sent to, as a test has prepared them. It has the settings of the campaign.
@dynamicMemberLookup
struct StagedCampaign: Sendable {
    var campaign: Campaign
    var input: CampaignInput

    subscript<Value>(dynamicMember setting: WritableKeyPath<Campaign, Value>) -> Value {
        get { campaign[keyPath: setting] }
        set { campaign[keyPath: setting] = newValue }
    }
}

extension CampaignRun {
    convenience init(
        _ staged: StagedCampaign, resuming: Bool = false, files: (any RunFiles)? = nil,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        surroundings: Surroundings = .system
    ) throws(CampaignError) {
        try self.init(
            staged.campaign, input: RunInput(staged.input), resuming: resuming, files: files, logger: logger,
            surroundings: surroundings)
    }
}

extension CampaignCheck {
    convenience init(_ staged: StagedCampaign, findingsPath: String? = nil) throws(CampaignError) {
        try self.init(staged.campaign, input: staged.input, findingsPath: findingsPath)
    }
}

extension CampaignPreview {
    convenience init(_ staged: StagedCampaign) throws(CampaignError) {
        try self.init(staged.campaign, input: staged.input)
    }
}
