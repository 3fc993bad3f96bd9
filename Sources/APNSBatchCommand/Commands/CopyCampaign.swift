import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Foundation

struct CopyCampaign: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy-campaign",
        abstract: "Copies a campaign, with the files that it names, for machines that send parts of its rows.",
        discussion: """
            The copy has the templates, strings and certificates to trust, and the settings
            that say what is sent and how. It has no rows, no credentials, no directories,
            and no limits for all rows together; the printed JSON object lists them under
            left_out. Other machines send it with run, to which they give rows, a run
            directory, --campaign-id and --provider-token-file.

            The object has what holds for all parts together, and is for whoever divides the
            rows: run_dir and night as they are now, rate and spread_seconds, not_after,
            min_rows, canary, lanes and connections. It also has the path of the copy
            (campaign), name, campaign_id, credentials (signing_key, provider_token,
            certificate or none), the columns that the campaign reads (needs), and warnings.
            late says that not_after or the expiration has passed: a run must not begin
            then, and the parts of one that has begun expire their rows.

            A setting that no part can keep and nobody could keep for all of them, such as
            expect, webhooks or state_dir, is refused. --without leaves it out.

            With --columns, the columns of the rows are compared with what the templates
            and the settings need, as check does for a file.

            Examples:
              apns-batch copy-campaign campaign.yaml /mnt/shared/tonight/campaign
              apns-batch copy-campaign campaign.yaml copy --columns token --columns name
              apns-batch copy-campaign campaign.yaml copy --without webhooks

            Exit codes: 0 the copy is complete; 64 the campaign is wrong, a column is
            missing, a file cannot be read, or the directory is not empty; 75 the copy
            cannot be written.
            """)

    @Argument(help: CampaignFlags.fileHelp, completion: .campaign) var campaign: String

    @Argument(help: "Directory for the copy, created if needed.", completion: .directory) var directory: String

    @OptionGroup var flags: CampaignFlags

    @Option(
        name: .customLong("columns"), parsing: .singleValue,
        help: "Column that the rows have; one flag for each column. Without it, columns are not compared.")
    var columns: [String] = []

    @Option(
        name: .customLong("without"), parsing: .singleValue,
        help: "Key of a setting to leave out, such as webhooks. Repeatable.")
    var without: [String] = []

    func run() throws {
        let call = try reporting {
            try CampaignCall(flags: flags.settings, file: campaign, without: without.map(Self.setting))
        }
        let copy = try call.reporting {
            try CampaignCopy(of: call, columns: columns.isEmpty ? nil : columns, into: directory)
        }
        Output.line(try JSONLine.text(copy))
        guard Output.isComplete() else { throw ExitStatus.interrupted }
    }

    /// Returns the name of a setting.
    private static func setting(_ key: String) throws -> String {
        if let setting = Setting.all.first(where: { $0.key == key }) { return setting.name }
        throw UsageError("--without: no setting \(key.quoted)\(WordList.hint(key, in: Setting.all.map(\.key)))")
    }
}
