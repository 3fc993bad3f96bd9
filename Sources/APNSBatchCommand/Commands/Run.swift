import APNSBatch
import APNSBatchBasics
import ArgumentParser

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Sends the campaign of this night, or continues it. It may be called any number of times.",
        discussion: """
            The run directory decides what happens. If it holds no run, the campaign is
            sent. If it holds one that is not complete, that is resumed, as by resume. If
            it holds a complete one, its summary is printed again, with already=complete in
            the last line and with its exit code, and nothing is sent. If another process
            is working on the run, the exit code is 75. A job of cron or of a systemd timer
            can therefore be repeated until it succeeds.

            With {date} in run_dir, each night has a run of its own. The date is that on
            which the night began, at night_starts in the timezone of the campaign: with
            12:00, a run of 23:50 and its restart at 00:20 share a directory. {campaign} is
            replaced by the name of the campaign.

            not-sent.csv in the run directory has the rows that were invalid, expired or
            unavailable. With --correction, its corrected lines are sent, and no others: a
            row that was accepted, or may have arrived, is refused before the first push.

            Examples:
              apns-batch run campaign.yaml --run-dir 'runs/{campaign}/{date}'
              apns-batch run campaign.yaml --lock-wait 10m
              apns-batch run campaign.yaml --correction runs/2026-11-24 --input fixed.csv

            Exit codes: see apns-batch --help. 64 also means that the directory holds the
            run of another campaign, a broadcast, or files of another program.
            """)

    @Argument(help: CampaignFlags.fileHelp, completion: .campaign) var campaign: String

    @OptionGroup var flags: CampaignFlags

    @Option(help: "How long to wait while another process works on the run, such as 10m. (default: 0s)")
    var lockWait: String?

    @Option(
        help: """
            Directory of a run whose not-sent.csv was corrected: sends the rows of --input, in a run \
            of its own beside it.
            """, completion: .directory)
    var correction: String?

    @OptionGroup var history: HistoryArguments

    @OptionGroup(title: "Supervision") var supervision: Leash

    @OptionGroup(title: "Output") var output: OutputArguments

    func run() async throws {
        Signals.ignoreHangup()
        output.begin()
        try reporting { try supervision.hold() }
        let given = try reporting { try flags.settings }
        var run = try RefusedCall.noting(given, file: campaign, isPart: history.part) { () throws -> IdempotentRun in
            if correction != nil, history.again { throw UsageError("--again: a correction has none") }
            return IdempotentRun(
                call: try history.applied(to: CampaignCall(flags: given, file: campaign, correcting: correction)),
                patience: try lockWait.map(Self.seconds) ?? 0, output: output)
        }
        try await run.complete()
    }

    private static func seconds(_ text: String) throws -> UInt64 {
        guard let seconds = CampaignSettings.seconds(text) else {
            throw UsageError("--lock-wait: expected a duration such as 90s, 10m or 2h, found \(text.quoted)")
        }
        return seconds
    }
}

/// What `send` does with a directory that holds a run.
enum ResumePolicy: String, ExpressibleByArgument, CaseIterable {
    case never
    case ifStarted = "if-started"
}
