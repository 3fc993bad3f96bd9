import APNSBatchModel

/// A run in the history: one line of `runs.ndjson`.
public struct RecordedRun: Sendable, Equatable, Codable {
    /// The name of the campaign.
    public var campaign: String
    /// The absolute path of the run directory.
    public var runDirectory: String
    /// When the first session began, in UTC, such as `2026-11-21T03:00:00Z`.
    public var began: String
    /// When the last session ended, in the same form.
    public var ended: String
    /// How the run ended: `complete`, `interrupted` or `failed`. A resumed run leaves another line.
    public var ending: String
    /// The exit code of the command.
    public var exitCode: Int32
    /// One sentence about the run, with the next step.
    public var verdict: String
    /// What expectations can be about.
    public var figures: RunFigures
    /// The absolute path of the run whose rows it sent again, corrected; nil for a run of an input of its own.
    public var correctionOf: String?
    /// What was read of each file of the input; nil if it is not known, or in lines of version 0.2.0.
    package var input: [KnownInput.Content]?

    package init(
        campaign: String, runDirectory: String, began: String, ended: String, ending: String, exitCode: Int32,
        verdict: String, figures: RunFigures, correctionOf: String? = nil, input: [KnownInput.Content]? = nil
    ) {
        (self.campaign, self.runDirectory, self.began, self.ended) = (campaign, runDirectory, began, ended)
        (self.ending, self.exitCode, self.verdict, self.figures) = (ending, exitCode, verdict, figures)
        (self.correctionOf, self.input) = (correctionOf, input)
    }

    enum CodingKeys: String, CodingKey {
        case campaign, began, ended, ending, verdict, figures, input
        case runDirectory = "run_dir"
        case exitCode = "exit_code"
        case correctionOf = "correction_of"
    }

    package var key: RunKey { RunKey(runDirectory: runDirectory, began: began) }
}
