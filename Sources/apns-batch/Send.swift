import APNSBatch
import ArgumentParser
import CAPNSProcess
import Foundation

/// `apns-batch send`.
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends a campaign and writes one line of results for each row.",
        discussion: """
            Columns token, payload, topic, push_type, priority, expiration, collapse_id
            and apns_id are used as what they are called; so are locale with templates by
            language and variant with templates by name. All others fill the template.
            docs/campaigns.md lists the keys of a campaign file.

            Examples:
              apns-batch send --input rows.csv --to simulator
              apns-batch send --input rows.csv --template payload.json \\
                --to production --topic com.example.app --run-dir runs/tonight \\
                --key-file AuthKey.p8 --key-id ABC123DEFG --team-id DEF123GHIJ
              zcat rows.csv.gz | apns-batch send campaign.yaml --input -

            The run directory holds results.csv (row, token, outcome, status, reason,
            timestamp, apns_id, attempts, apns_unique_id and the columns of
            --result-columns), summary.json and the ledger, which status and resume read.
            Exit codes: see apns-batch --help.

            A campaign file can name several providers, each with its key or certificate
            and its topics. Keys and certificates are read again when their files change,
            and on SIGHUP; new connections use them. SIGUSR1 pauses the sending and
            continues it. SIGINT or SIGTERM ends it in order; a second one, a second later
            or more, does not wait for answers: resume decides about the rows under way.
            """)

    @OptionGroup var arguments: CampaignArguments

    @OptionGroup(title: "Output") var output: OutputArguments

    func run() async throws {
        Signals.ignoreHangup()
        output.begin()
        let call = try reporting { try arguments.resolved() }
        try await Self.send(call, RunArguments(call), output: output)
    }

    /// Sends a campaign, shows how far it is, and ends with its exit code.
    static func send(
        _ call: CampaignCall, _ arguments: RunArguments, resuming: Bool = false, retryUnavailable: Bool = false,
        output: OutputArguments
    ) async throws {
        let simulator = try call.reporting {
            try EmbeddedSimulator.ifWanted(call.settings, broadcasts: arguments.isBroadcast)
        }
        defer { simulator?.stop() }
        // Read again when they change.
        let files = try call.reporting { simulator == nil ? try CredentialFiles(call) : nil }
        var campaign = try call.reporting { try arguments.campaign(call.settings, simulator: simulator) }
        campaign.retryUnavailable = retryUnavailable
        let run = try call.reporting {
            try CampaignRun(campaign, resuming: resuming, logger: output.logger)
        }
        for warning in run.warnings { output.say("warning: \(warning.text)") }
        Signals.onStop { name in
            // First: nobody may be there to read it, and the pipe full.
            run.stop()
            complain("\(name): taking no more rows, waiting for answers; send it again to stop waiting")
        } again: {
            run.stopAtOnce()
            complain(
                "stopped waiting: rows under way may have been sent, and resume decides about them (--on-unknown)")
        } hangup: {
            if let files { files.reloadNow(run) } else { complain("SIGHUP: the key of the simulator does not change") }
        } pause: {
            if run.isPaused { run.unpause() } else { run.pause() }
            complain(run.isPaused ? "SIGUSR1: paused; send it again to continue" : "SIGUSR1: continuing")
        }
        let display = Task {
            if !output.quiet && !output.noProgress { await ProgressDisplay().follow { run.progress } }
        }
        let watch = Task { await files?.follow(run) }
        // A line for the case that this process ends by a fault of its own.
        apns_process_run_set(run.directory)
        let summary = await run.run()
        apns_process_run_set(nil)
        watch.cancel()
        display.cancel()
        await display.value
        let isPrinted = report(summary, of: run, output)
        throw ExitStatus.of(summary, isPrinted: isPrinted)
    }

    /// Prints the account of a run. False when it could not be written.
    private static func report(_ summary: CampaignSummary, of run: CampaignRun, _ output: OutputArguments) -> Bool {
        if let cause = summary.cause { complainOfFailure(cause) }
        if summary.ending == .complete, summary.rows == 0 { output.say("warning: the input has no rows") }
        if let found = summary.lastSession.duplicateTokens {
            output.say("warning: \(found.description) [duplicate-token]")
        }
        if let found = summary.lastSession.unusualTokens { output.say("warning: \(found.description) [token-size]") }
        for line in SummaryText.invalid(summary) { complain(line) }
        let isBegun = summary.ending != .failed || (try? RunOpening(of: run.directory)) != nil
        if !isBegun {
            complain(CampaignCall.nothingBegun)
        } else if let advice = SummaryText.advice(summary, directory: run.directory) {
            complain(advice)
        }
        if output.json {
            print(SummaryText.json(summary), terminator: "")
        } else if !output.quiet || summary.exitCode != 0 {
            print(SummaryText.report(summary, directory: run.directory), terminator: "")
        }
        return Output.isComplete()
    }
}
