import APNSBatch
import APNSBatchBasics
import ArgumentParser

struct Broadcast: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broadcast",
        abstract: "Sends to broadcast channels: one request and one line of results for each row.",
        discussion: """
            Arguments and results are those of send. Each row has a channel_id instead of
            a token. The columns payload, priority and expiration set these properties of
            the broadcast; all other columns fill the template. Every broadcast needs an
            expiration, which is 0 for channels that store no message. A payload has at
            most 5,120 bytes.

            Examples:
              apns-batch broadcast --input channels.csv --template score.json \\
                --expiration 1h --to simulator
              apns-batch broadcast campaign.yaml --input channels.csv

            Exit codes: see apns-batch --help.
            """)

    @Argument(help: CampaignFlags.fileHelp, completion: .campaign) var campaign: String?

    @OptionGroup var flags: CampaignFlags

    @Option(help: "Bundle id of the app that owns the channels. (default: the topic)")
    var bundleId: String?

    @OptionGroup(title: "Supervision") var supervision: Leash

    @OptionGroup(title: "Output") var output: OutputArguments

    func run() async throws {
        Signals.ignoreHangup()
        output.begin()
        try reporting { try supervision.hold() }
        let call = try reporting { try CampaignCall(flags: flags.settings, file: campaign) }
        try await Send.send(call, RunArguments(call, isBroadcast: true, bundleID: bundleId), output: output)
    }
}

extension CampaignSettings {
    private static let broadcastType = "liveactivity"

    /// Returns the recipients of a broadcast. Throws for settings that a broadcast cannot have.
    func channels(of campaign: Campaign, bundleID: String? = nil) throws -> Campaign.Recipients {
        if let pushType = self.pushType, pushType != Self.broadcastType {
            throw UsageError("push type: expected \(Self.broadcastType) for a broadcast, found \(pushType.quoted)")
        }
        if self.collapseId != nil { throw UsageError("collapse id: a broadcast cannot have one") }
        if let bundleID { return .channels(bundleID: bundleID) }
        return .channels(bundleID: try Self.app(of: campaign.headers.topic))
    }
}
