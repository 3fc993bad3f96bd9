import APNSBatch
import APNSBatchBasics
import ArgumentParser
import CAPNSProcess
import Foundation

struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Sends a campaign and writes one line of results for each row.",
        discussion: """
            The columns token, payload, topic, push_type, priority, expiration, collapse_id
            and apns_id set these properties of the notification. The column locale selects
            a template by language, and the column variant a template by name. All other
            columns fill the template. docs/reference/settings.md lists the keys of a
            campaign file.

            Examples:
              apns-batch send --input rows.csv --to simulator
              apns-batch send --input rows.csv --template payload.json \\
                --to production --topic com.example.app --run-dir runs/tonight \\
                --key-file AuthKey.p8 --key-id ABC123DEFG --team-id DEF123GHIJ
              apns-batch send --input rows.csv --to simulator --run-dir runs/tonight \\
                --resume if-started
              xzcat rows.csv.xz | apns-batch send campaign.yaml --input -

            The run directory holds results.csv (row, token, outcome, status, reason,
            timestamp, apns_id, attempts, apns_unique_id and the columns of
            --result-columns), summary.json, and the ledger, which status and resume read.

            A campaign file can name several providers, each with its key or certificate
            and its topics. When the files of keys and certificates change, and on SIGHUP,
            they are read again and used for new connections.

            SIGUSR1 pauses the run, and a second SIGUSR1 continues it. SIGINT or SIGTERM
            ends the run: no new rows are taken, and the answers to requests in flight are
            awaited. A second signal, at least one second later, ends the run without
            waiting; resume then decides about the rows in flight.

            Exit codes: see apns-batch --help.
            """)

    @Argument(help: CampaignFlags.fileHelp, completion: .campaign) var campaign: String?

    @OptionGroup var flags: CampaignFlags

    @Option(
        help:
            "if-started: a run that --run-dir holds is resumed or shown, as by run. never: it is refused. (default: never)"
    )
    var resume: ResumePolicy?

    @OptionGroup var history: HistoryArguments

    @OptionGroup(title: "Supervision") var supervision: Leash

    @OptionGroup(title: "Output") var output: OutputArguments

    func run() async throws {
        Signals.ignoreHangup()
        output.begin()
        try reporting { try supervision.hold() }
        let given = try reporting { try flags.settings }
        let (call, hasBook) = try RefusedCall.noting(given, file: campaign, isPart: history.part) {
            () throws -> (CampaignCall, Bool) in
            let call = history.applied(to: try CampaignCall(flags: given, file: campaign))
            return (call, try call.reporting { try call.bookRules() != nil })
        }
        guard hasBook || resume == .ifStarted else {
            return try await Self.send(call, RunArguments(call), output: output)
        }
        var run = IdempotentRun(call: call, continues: resume == .ifStarted, output: output)
        try await run.complete()
    }

    /// Sends a campaign, calls the hooks, and throws its exit code.
    static func send(
        _ call: CampaignCall, _ arguments: RunArguments, resuming: Bool = false, retryUnavailable: Bool = false,
        output: OutputArguments
    ) async throws {
        let hooks = try call.reporting { try RunHooks(call) }
        throw try await hooks.around {
            let session = try await call.reporting {
                try await Session(call, arguments, resuming: resuming, retryUnavailable: retryUnavailable, output)
            }
            return try await send(session, hooks, output: output)
        }
    }

    /// A run that is ready to send: its settings, keys and columns have been read, and its directory belongs to this process.
    struct Session {
        let run: CampaignRun
        /// The arguments that the ledger keeps.
        let arguments: RunArguments
        /// The files of keys and certificates, which are read again when they change; nil with a simulator.
        fileprivate let files: CredentialFiles?
        fileprivate let simulator: EmbeddedSimulator?
        /// The export of its results; nil without `results_to`.
        let export: RunExport?

        init(
            _ call: CampaignCall, _ arguments: RunArguments, resuming: Bool, retryUnavailable: Bool = false,
            _ output: OutputArguments
        ) async throws {
            self.arguments = arguments
            simulator = try EmbeddedSimulator.ifWanted(call.settings, broadcasts: arguments.isBroadcast)
            do {
                files = simulator == nil ? try CredentialFiles(call) : nil
                let (input, spool) = (try call.settings.campaignInput(resuming: resuming), try call.settings.spool)
                var campaign = try call.campaign(arguments, simulator: simulator)
                campaign.retryUnavailable = retryUnavailable
                export = try RunExport(call.settings, campaign: campaign.name)
                try export?.check(columns: campaign.resultColumns)
                let reading = InputReading(output)
                run = try await reading.shown { [campaign] in
                    try CampaignRun(
                        campaign, input: input, spool: spool, resuming: resuming ? .always : .never,
                        logger: output.logger, onSpooling: reading.begin)
                }
            } catch {
                simulator?.stop()
                throw error
            }
        }
    }

    /// Sends a campaign, and shows its progress.
    static func send(_ session: Session, _ hooks: RunHooks, output: OutputArguments) async throws -> RunEnd {
        let (run, files, export) = (session.run, session.files, session.export)
        defer { session.simulator?.stop() }
        let publication = try hooks.metrics.begin(run, say: output.say)
        hooks.webhooks.begin(run)
        ServiceManager.shared.ready("the run has begun: \(run.directory)")
        for warning in run.warnings { output.say("warning: \(warning.text)") }
        Signals.onStop { name in
            if export?.giveUp() == true { return complain("\(name): no more results are exported") }
            // The run is stopped first, because writing the message may block on a full pipe.
            run.stop()
            complain("\(name): taking no more rows, waiting for answers; the next signal stops waiting")
        } again: {
            if export?.giveUp() == true { return complain("no more results are exported") }
            run.stopAtOnce()
            complain(
                "stopped waiting: rows in flight may have been sent; resume decides about them (--on-unknown)")
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
        let service = Task { await ServiceManager.shared.follow(run) }
        let control = openControl(of: run)
        defer { control?.end() }
        // If this process crashes, its signal handler prints how to resume the run.
        apns_process_run_set(run.directory.shellQuoted)
        export?.begin(run.directory)
        let summary = try await run.send()
        apns_process_run_set(nil)
        await publication.end()
        service.cancel()
        watch.cancel()
        display.cancel()
        await display.value
        RunReporting.write(summary, in: run.directory, of: session.arguments)
        let isPrinted = report(summary, of: run, output)
        let campaignFile = session.arguments.nights == nil ? nil : session.arguments.campaignFile
        if let text = SummaryText.correction(summary, directory: run.directory, campaignFile: campaignFile) {
            output.say(text)
        }
        let end = RunEnd(
            summary, directory: run.directory, exitCode: ExitStatus.of(summary, isPrinted: isPrinted))
        return end.exporting(left: await export?.end(run.directory, output) ?? 0)
    }

    /// Without a socket the run continues, and can be changed by its campaign file and by signals only.
    private static func openControl(of run: CampaignRun) -> ControlSocket? {
        do {
            return try ControlSocket(run)
        } catch {
            complain("warning: apns-batch control cannot reach this run: \(error)")
            return nil
        }
    }

    /// Prints the summary of a run. Returns false if it could not be written.
    private static func report(_ summary: CampaignSummary, of run: CampaignRun, _ output: OutputArguments) -> Bool {
        if let cause = summary.cause { complainOfFailure(cause) }
        if summary.ending == .complete, summary.rows == 0 { output.say("warning: the input has no rows") }
        for expectation in summary.expectations where expectation.holds == nil {
            output.say("warning: \(expectation.sentence)")
        }
        if let found = summary.lastSession.duplicateTokens {
            output.say("warning: \(found.description) [duplicate-token]")
        }
        if let found = summary.lastSession.unusualTokens { output.say("warning: \(found.description) [token-size]") }
        for line in SummaryText.invalid(summary) { complain(line) }
        for other in summary.othersAtWork { output.say("another run of this campaign goes on: \(other.sentence)") }
        let isBegun = summary.ending != .failed || (try? RunOpening(of: run.directory)) != nil
        if let sentence = summary.lostRecord {
            complain(sentence)
        } else if !isBegun {
            complain(CampaignCall.nothingBegun)
        } else if let advice = SummaryText.advice(summary, directory: run.directory) {
            complain(advice)
        }
        return output.show(summary, directory: run.directory)
    }
}
