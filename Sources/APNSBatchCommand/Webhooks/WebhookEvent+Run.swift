import APNSBatch
import APNSBatchWebhooks
import Foundation

extension WebhookEvent.Facts {
    /// - Parameters:
    ///   - campaign: The name of the campaign.
    ///   - directory: The run directory; nil if there is none.
    init(of campaign: String, in directory: String?) {
        self.init(campaign: campaign, host: Self.machine, version: ProductVersion.current)
        runDirectory = directory.map { CampaignSettings.path($0, from: FileManager.default.currentDirectoryPath) }
    }

    /// Tells how a run ended, or why it did not begin.
    init(of campaign: String, in directory: String?, _ end: RunEnd) {
        self.init(of: campaign, in: directory)
        (verdict, exitCode) = (end.verdict, end.exitCode.rawValue)
        campaignId = end.summary.map { "\($0.campaign.id)" }
        counts = end.summary.map { WebhookEvent.Counts($0) }
    }

    /// The name of this machine.
    private static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension WebhookEvent.Kind {
    init(_ end: RunEnd) {
        switch end.summary?.ending {
        case .complete?: self = .completed
        case .interrupted?: self = .stopped
        default: self = .failed
        }
    }
}

extension WebhookEvent.Counts {
    fileprivate init(_ summary: CampaignSummary) {
        self.init(
            rows: summary.rows,
            outcomes: Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ("\($0.name)", summary[$0]) }),
            left: summary.left, mayBeSent: summary.maybeSent, resent: summary.resent, sessions: summary.sessions,
            durationSeconds: summary.allSessions.elapsedSeconds)
    }
}
