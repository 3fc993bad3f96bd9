import APNSBatch
import APNSBatchReport
import ArgumentParser
import Foundation

struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes a run that was interrupted, stopped or killed.",
        discussion: """
            Rows with an outcome are not sent again; rows that were never sent are sent.
            Rows whose requests were in flight when the process was killed may have
            arrived. --on-unknown selects what happens to them: resend sends them again,
            report ends them as unknown, and resend-if-collapsible sends again those that
            have a collapse id.

            The settings are those of the last call, except for those that have changed in
            the campaign file since then and those given as flags. Keys and certificates
            are read again. Everything that determines the notifications must be unchanged:
            rows, template, headers, encryption and environment. If the input file has
            moved, give its new path with --input; its content must be the same.

            Of a run in parts, it resumes each part that was begun and is not complete, one
            after the other, and then shows how all stand, as status does. Credentials are
            given as flags, because the provider token of its program exists only while
            that sends. Parts that were not begun are for that program.

            Examples:
              apns-batch status runs/tonight
              apns-batch resume runs/tonight
              apns-batch resume runs/tonight --key-file New.p8 --key-id NEWKEY1234
              apns-batch resume runs/tonight --stop-at Unregistered=never --canary 0
              apns-batch resume runs/tonight --on-unknown report
              apns-batch resume runs/tonight --retry-unavailable

            Exit codes: see apns-batch --help.
            """)

    @Argument(help: "Run directory.", completion: .directory)
    var runDirectory: String

    @OptionGroup var flags: CampaignFlags

    @Flag(help: "Also send rows again that ended as unavailable, after answers 429 or 5xx.")
    var retryUnavailable = false

    @OptionGroup(title: "Supervision") var supervision: Leash

    @OptionGroup(title: "Output") var output: OutputArguments

    func run() async throws {
        Signals.ignoreHangup()
        output.begin()
        try reporting { try supervision.hold() }
        let parts = try reporting { try DistributedRun(ifIn: runDirectory) }
        if let parts { throw try await resume(parts) }
        try await resume(runDirectory)
    }

    /// Resumes a run.
    func resume(_ runDirectory: String) async throws {
        let (call, arguments) = try reporting { try resolved(runDirectory) }
        // Damage of the ledger is reported by the run itself, and by its hooks.
        if let summary = (try? answered(runDirectory)) ?? nil {
            let hooks = try call.reporting { try RunHooks(call) }
            throw try await IdempotentRun(call: call, output: output).answer(summary, runDirectory, hooks)
        }
        try await Send.send(call, arguments, resuming: true, retryUnavailable: retryUnavailable, output: output)
    }

    /// Returns the summary of a complete run whose rows cannot be read again; nil for another run, and if rows of it are to be sent again.
    private func answered(_ runDirectory: String) throws -> CampaignSummary? {
        guard let summary = try CampaignSummary(ofCompleteRunIn: runDirectory), !summary.campaign.isResumable,
            !retryUnavailable || summary.unavailable == 0
        else { return nil }
        return summary
    }

    /// Returns this call, and the arguments that the ledger keeps for the next one.
    private func resolved(_ runDirectory: String) throws -> (CampaignCall, RunArguments) {
        let before = try RunArguments(of: try RunOpening(of: runDirectory))
        let flags = try flags.settings
        guard flags.runDir == nil else { throw UsageError("--run-dir: the run directory is the argument of resume") }
        try Self.requireCredentials(of: before, in: runDirectory, flags)
        let moved = MovedPart(before, in: runDirectory)
        var placed = flags
        if placed.input == nil, let input = moved.input { placed.input = input }
        let call = try before.resuming(in: runDirectory, placed, campaignFile: moved.campaignFile)
        return (call, RunArguments(call, isBroadcast: before.isBroadcast, bundleID: before.bundleID))
    }
}

/// The arguments of a run as its ledger stores them. Paths are absolute; secrets are not included.
struct RunArguments: Codable {
    var isBroadcast = false
    var bundleID: String?
    var campaignFile: String?
    /// The settings of the campaign file.
    var file: CampaignSettings?
    /// The settings of file and flags combined.
    var settings: CampaignSettings
    /// The directory that holds the nights of the campaign; nil in ledgers of version 0.2.0, and for parts of a run.
    var nights: String?
    /// The directory of the run whose rows are sent again, corrected; nil for a run of an input of its own.
    var correcting: String?

    init(_ call: CampaignCall, isBroadcast: Bool = false, bundleID: String? = nil) {
        let here = FileManager.default.currentDirectoryPath
        campaignFile = (call.file?.path ?? call.before?.campaignFile).map { CampaignSettings.path($0, from: here) }
        file = call.file?.settings.relative(to: here) ?? call.before?.file
        settings = call.settings.relative(to: here)
        nights = call.isPart ? nil : call.nights.map { CampaignSettings.path($0, from: here) }
        correcting = call.correcting.map { CampaignSettings.path($0, from: here) }
        self.isBroadcast = isBroadcast
        self.bundleID = bundleID
    }

    init(of run: RunOpening) throws {
        do {
            self = try JSONDecoder().decode(RunArguments.self, from: Data(run.note))
        } catch {
            throw UsageError("the run was not started by this command: its ledger holds no arguments")
        }
        if let policy = run.onUnknown?.name { settings.onUnknown = policy }
    }

    /// Returns the call that resumes the run of these arguments.
    ///
    /// - Parameters:
    ///   - directory: The run directory, under the name that it has now.
    ///   - flags: The flags of this call.
    ///   - file: The campaign file of this call, if it names one.
    func resuming(in directory: String, _ flags: CampaignSettings, campaignFile file: String? = nil) throws
        -> CampaignCall
    {
        var (flags, before) = (flags, self)
        flags.runDir = directory
        if let file { before.campaignFile = file }
        // Both directories may have been moved.
        if correcting != nil, let now = CampaignBook.correctedRun(by: directory) { before.correcting = now }
        return try CampaignCall(flags: flags, resuming: before)
    }

    /// The name of the campaign; nil if the call had neither a name nor a campaign file.
    var name: String? { get throws { try settings.campaignName(file: campaignFile) } }

    /// The form that the ledger stores.
    var note: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

    /// Returns the campaign that these settings describe. Paths are as they were given.
    ///
    /// - Parameter use: What credentials are read for.
    func campaign(
        _ settings: CampaignSettings, simulator: EmbeddedSimulator?, for use: CampaignSettings.Use = .sending
    ) throws -> Campaign {
        var campaign = try settings.campaign(simulator: simulator, for: use)
        if isBroadcast { campaign.recipients = try settings.channels(of: campaign, bundleID: bundleID) }
        campaign.note = note
        return campaign
    }
}
