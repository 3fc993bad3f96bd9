import APNSBatch
import ArgumentParser
import Foundation

struct CopyCampaign: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy-campaign",
        abstract: "Copies a campaign, with the files that it names, for machines that send parts of its rows.",
        discussion: """
            The copy has the templates, strings and certificates to trust, and the settings
            that say what is sent and how. It has no rows, no credentials, no directories,
            no hooks, and no limits for all rows together; the printed JSON object lists
            them under left_out. Other machines send it with run, to which they give rows,
            a run directory, --campaign-id and --provider-token-file.

            The object also has the path of the copy (campaign), name, campaign_id,
            credentials (signing_key, provider_token, certificate or none), rate (requests
            per second), lanes and connections, as the campaign gives them.

            Examples:
              apns-batch copy-campaign campaign.yaml /mnt/shared/tonight/campaign

            Exit codes: 0 the copy is complete; 64 the campaign is wrong, a file cannot be
            read, or the directory is not empty; 75 the copy cannot be written.
            """)

    @Argument(help: CampaignFlags.fileHelp, completion: .campaign) var campaign: String

    @Argument(help: "Directory for the copy, created if needed.", completion: .directory) var directory: String

    @OptionGroup var flags: CampaignFlags

    func run() throws {
        let call = try reporting { try CampaignCall(flags: flags.settings, file: campaign) }
        let copy = try call.reporting { try CampaignCopy(of: call, into: directory) }
        Output.line(try JSONLine.text(copy))
        guard Output.isComplete() else { throw ExitStatus.interrupted }
    }
}
