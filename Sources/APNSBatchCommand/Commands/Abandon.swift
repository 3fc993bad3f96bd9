import APNSBatch
import ArgumentParser
import Foundation

struct Abandon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "abandon",
        abstract: "Gives up a run that is not finished, so that nothing reminds of it any more. Nothing is sent.",
        usage: "apns-batch abandon <run-directory> [<options>]",
        discussion: """
            Every row that is left gets an outcome: rows that may have arrived end as
            unknown, and rows that were never sent as expired, with the reason Abandoned.
            results.csv then has a line for each row, and the run is complete: resume finds
            nothing to do. Neither keys nor a connection are needed.

            If the rows cannot be read any more, because the input was replaced and the run
            has kept no copy, they get no lines. If the whole run directory is gone, give
            the directory of the history (state_dir) unless it is the one that held the run
            directory. In both cases only the history says that the run was given up.

            Examples:
              apns-batch runs campaign.yaml
              apns-batch abandon runs/2026-11-24
              apns-batch abandon runs/2026-11-24 --state-dir state

            Exit codes: 0 the run is given up, or was complete before; 64 there is no such
            run; 75 another process is working on it, or its files cannot be written.
            """)

    @Argument(help: "Run directory.", completion: .directory)
    var runDirectory: String

    @Option(
        help: "Directory of the history, if the run directory is gone. (default: the one that held it)",
        completion: .directory)
    var stateDir: String?

    @Option(help: "When the run began, if another run has its directory by now, such as 2026-11-21T03:00:00Z.")
    var began: String?

    @OptionGroup(title: "Output") var output: OutputArguments

    func run() async throws {
        output.begin()
        let opening = try reporting { try RunOpening(ifReadableIn: runDirectory) }
        if let opening, isMeant(opening) {
            try await giveUp(opening)
        } else {
            try reporting { try forget() }
        }
    }

    private func isMeant(_ opening: RunOpening) -> Bool { began.map { $0 == opening.began } ?? true }

    /// Ends the rows of a run that has its record.
    private func giveUp(_ opening: RunOpening) async throws {
        let arguments = try reporting { try RunArguments(of: opening) }
        let call = try reporting { try arguments.resuming(in: runDirectory, CampaignSettings()) }
        let complete = try reporting { try CampaignSummary(ofCompleteRunIn: runDirectory) }
        if let summary = complete {
            return output.say("\(runDirectory): this run has been complete since \(summary.campaign.ended)")
        }
        let resumed = try call.reporting { try run(of: call, arguments) }
        guard let run = resumed else { return }
        run.abandon()
        let summary = try await run.send()
        RunReporting.write(summary, in: run.directory, of: arguments)
        if let failure = run.failure, [.input, .configuration].contains(failure.code),
            try forgotten(by: call, because: failure)
        {
            return
        }
        guard summary.ending == .complete else {
            complainOfFailure(summary.cause ?? "the run could not be ended")
            throw ExitCode(summary.exitCode)
        }
        output.say("\(runDirectory): the run is given up")
        if !output.show(summary, directory: run.directory) { throw ExitStatus.interrupted }
    }

    /// Resumes the run without keys. Nil if its rows cannot be read any more: then only the history contains that it was given up.
    private func run(of call: CampaignCall, _ arguments: RunArguments) throws -> CampaignRun? {
        let names = try EmbeddedSimulator.forRendering(call.settings)
        var campaign = try arguments.campaign(call.settings, simulator: names, for: .accounting)
        if let name = call.name { campaign.name = name }
        if !arguments.isBroadcast { campaign.book = try call.bookRules() }
        do {
            let input = try call.settings.campaignInput(resuming: true)
            return try CampaignRun(campaign, input: input, resuming: .always, logger: output.logger)
        } catch let error as CampaignError where [.input, .configuration].contains(error.code) {
            guard try forgotten(by: call, because: error) else { throw error }
            return nil
        }
    }

    /// Gives up a run in the history only, because its rows cannot be read any more. Returns false if the history does not have it.
    private func forgotten(by call: CampaignCall, because error: CampaignError) throws -> Bool {
        guard let rules = try call.bookRules(), try RunHistory(rules.directory).abandon(runDirectory, began: began) > 0
        else { return false }
        output.say("warning: \(error)")
        output.say("\(runDirectory): the run is given up; the rows that are left have no lines in results.csv")
        return true
    }

    /// Gives up a run whose directory is gone.
    private func forget() throws {
        let directory = stateDir ?? URL(filePath: runDirectory).deletingLastPathComponent().path
        guard try RunHistory(directory).abandon(runDirectory, began: began) > 0 else {
            throw UsageError(
                "\(runDirectory): no run, and the history in \(directory) has no unfinished run of this directory")
        }
        output.say(
            "\(runDirectory): the run is given up; its ledger is gone, so it is unknown which rows were sent")
    }
}
