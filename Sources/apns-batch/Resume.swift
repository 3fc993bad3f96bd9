import APNSBatch
import ArgumentParser
import Foundation

/// `apns-batch resume`.
struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Goes on with a run that was interrupted, stopped or killed.",
        discussion: """
            Rows with an outcome are not sent again, rows that never left are sent. Rows
            that were under way when the process was killed may have arrived: they are
            sent again (resend), reported as unknown (report), or sent again if they have
            a collapse id (resend-if-collapsible).

            Arguments are those of the first call. Keys and certificates are read anew;
            the input, the template and the headers must not have changed.

            Examples:
              apns-batch status runs/tonight
              apns-batch resume runs/tonight
              apns-batch resume runs/tonight --on-unknown report
              apns-batch resume runs/tonight --retry-unavailable

            Exit codes: see apns-batch --help.
            """)

    @Argument(help: "Run directory.")
    var runDirectory: String

    @Option(help: "resend, report or resend-if-collapsible. (default: as the last time)")
    var onUnknown: String?

    @Flag(help: "Also send rows again that ended as unavailable: APNs answered 429 or 5xx to every attempt.")
    var retryUnavailable = false

    @OptionGroup var output: OutputArguments

    func run() async throws {
        Signals.ignoreHangup()
        let opening = try reporting { try RunOpening(of: runDirectory) }
        let arguments = try reporting { try RunArguments(of: opening) }
        var settings = arguments.settings
        settings.runDir = runDirectory
        settings.onUnknown = onUnknown ?? opening.onUnknown?.name ?? settings.onUnknown
        let simulator = try reporting {
            try EmbeddedSimulator.ifWanted(settings, broadcasts: arguments.isBroadcast)
        }
        defer { simulator?.stop() }
        let files = try reporting { simulator == nil ? try CredentialFiles(settings) : nil }
        var campaign = try reporting { try arguments.campaign(settings, simulator: simulator) }
        campaign.retryUnavailable = retryUnavailable
        try await Send.send(campaign, resuming: true, files: files, output: output)
    }
}

/// What a run was called with, as it stands in its ledger: paths are absolute, secrets never in it.
struct RunArguments: Codable {
    var isBroadcast = false
    var bundleID: String?
    var settings: CampaignSettings

    init(_ settings: CampaignSettings, isBroadcast: Bool = false, bundleID: String? = nil) {
        self.settings = settings.relative(to: FileManager.default.currentDirectoryPath)
        self.isBroadcast = isBroadcast
        self.bundleID = bundleID
    }

    /// Of a run.
    init(of run: RunOpening) throws {
        do {
            self = try JSONDecoder().decode(RunArguments.self, from: Data(run.note))
        } catch {
            throw UsageError("the run was not begun by this command: it does not say with which arguments")
        }
    }

    /// For the ledger.
    var note: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

    /// The campaign of these arguments, or of settings that replace them.
    func campaign(_ settings: CampaignSettings? = nil, simulator: EmbeddedSimulator?) throws -> Campaign {
        let settings = settings ?? self.settings
        var campaign = try settings.campaign(simulator: simulator)
        if isBroadcast { campaign.recipients = try settings.channels(of: campaign, bundleID: bundleID) }
        campaign.note = note
        return campaign
    }
}
