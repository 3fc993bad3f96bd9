import APNSBatch
import ArgumentParser
import Foundation

/// `apns-batch resume`.
struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Resumes a run that was interrupted, stopped or killed.",
        discussion: """
            Rows with an outcome are not sent again; rows that were never sent are sent.
            Rows that were under way when the process was killed may have arrived: they are
            sent again (resend), reported as unknown (report), or sent again if they have
            a collapse id (resend-if-collapsible).

            Settings are those of the last call. Whatever has changed in the campaign file
            since then replaces them, and so do flags of this call. Keys and certificates
            are read again. What decides what a row becomes must be as it was: the rows,
            template, headers, encryption and environment. Name an input that has moved with
            --input; its content must be the same.

            Examples:
              apns-batch status runs/tonight
              apns-batch resume runs/tonight
              apns-batch resume runs/tonight --key-file New.p8 --key-id NEWKEY1234
              apns-batch resume runs/tonight --stop-at Unregistered=never --canary 0
              apns-batch resume runs/tonight --on-unknown report
              apns-batch resume runs/tonight --retry-unavailable

            Exit codes: see apns-batch --help.
            """)

    @Argument(help: "Run directory.")
    var runDirectory: String

    @OptionGroup var flags: CampaignFlags

    @Flag(help: "Also send rows again that ended as unavailable: APNs answered 429 or 5xx to every attempt.")
    var retryUnavailable = false

    @OptionGroup(title: "Output") var output: OutputArguments

    func run() async throws {
        Signals.ignoreHangup()
        output.begin()
        let (call, arguments) = try reporting { try resolved() }
        try await Send.send(call, arguments, resuming: true, retryUnavailable: retryUnavailable, output: output)
    }

    /// This call, and what the next one has to know of it.
    private func resolved() throws -> (CampaignCall, RunArguments) {
        let opening = try RunOpening(of: runDirectory)
        var before = try RunArguments(of: opening)
        var flags = try flags.settings
        guard flags.runDir == nil else { throw UsageError("--run-dir: the run directory is the argument of resume") }
        flags.runDir = runDirectory
        if let policy = opening.onUnknown?.name { before.settings.onUnknown = policy }
        let call = try CampaignCall(flags: flags, resuming: before)
        return (call, RunArguments(call, isBroadcast: before.isBroadcast, bundleID: before.bundleID))
    }
}

/// What a run was called with, as it stands in its ledger: paths are absolute, secrets never in it.
struct RunArguments: Codable {
    var isBroadcast = false
    var bundleID: String?
    var campaignFile: String?
    /// What the campaign file said.
    var file: CampaignSettings?
    /// File and flags together.
    var settings: CampaignSettings

    init(_ call: CampaignCall, isBroadcast: Bool = false, bundleID: String? = nil) {
        let here = FileManager.default.currentDirectoryPath
        campaignFile = (call.file?.path ?? call.before?.campaignFile).map { CampaignSettings.path($0, from: here) }
        file = call.file?.settings.relative(to: here) ?? call.before?.file
        settings = call.settings.relative(to: here)
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

    /// The campaign of these settings, which are those of the call with paths as they were given.
    func campaign(_ settings: CampaignSettings, simulator: EmbeddedSimulator?) throws -> Campaign {
        var campaign = try settings.campaign(simulator: simulator)
        if isBroadcast { campaign.recipients = try settings.channels(of: campaign, bundleID: bundleID) }
        campaign.note = note
        return campaign
    }
}
