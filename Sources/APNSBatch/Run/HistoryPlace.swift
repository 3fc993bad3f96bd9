import APNSBatchModel
import APNSBatchNotification
import APNSBatchRecords
import Glibc
import Logging

/// Where a run leaves its line for later nights.
struct HistoryPlace: Sendable {
    let campaign: String
    let history: RunHistory
    /// The rules of the campaign; nil without any.
    private let book: CampaignBook?

    /// Whether a start of the campaign looks for its runs in the history.
    var decidesStarts: Bool { book != nil }

    /// Nil for a campaign without a state directory and rules.
    init?(_ campaign: Campaign) throws(CampaignError) {
        guard let directory = campaign.stateDirectory ?? campaign.book?.directory else { return nil }
        (self.campaign, history) = (campaign.name, RunHistory(directory))
        book = try CampaignBook(campaign)
    }

    /// Enters a run before anything is sent.
    ///
    /// - Parameters:
    ///   - ledger: What identifies the file of its ledger, which is empty.
    ///   - corrected: The rows of a correction; nil for another run.
    ///   - input: What is known of its input; called only if there are rules.
    /// - Throws: ``CampaignError``, caused by a ``CampaignBook/Refusal``, if the rules do not permit it, and the
    ///   errors of `input`.
    func begin(
        in directory: String, ledger: String?, start: UInt64, corrected: CorrectedRows?,
        input: (CampaignBook) throws(CampaignError) -> KnownInput?
    ) throws(CampaignError) {
        guard let book else { return }
        try book.begin(try input(book), in: directory, ledger: ledger, start: start, corrected: corrected)
    }

    /// Enters a later session, where the history needs it.
    ///
    /// - Parameter reopening: Whether it may send rows again which had outcomes.
    func resume(
        in directory: String, start: UInt64, reopening: Bool
    ) throws(CampaignError) { try book?.resume(in: directory, start: start, reopening: reopening) }

    /// The unfinished runs of the campaign besides one; empty without rules. A failure is only logged.
    ///
    /// - Parameter start: When that one began, in seconds since 1970-01-01 00:00 UTC.
    func unfinished(besides directory: String, start: UInt64, logger: Logger) -> [UnfinishedRun] {
        guard let book else { return [] }
        do throws(CampaignError) {
            let (own, began) = (RunDirectory.absolute(directory), CampaignSummary.Identity.time(start))
            return try book.unfinished().filter { $0.runDirectory != own || $0.began != began }
        } catch {
            logger.printable.warning("the unfinished runs of the campaign are not known: \(error)")
            return []
        }
    }

    /// Enters that an operator has given a run up, so that it does not count as the one of its night. A failure is only logged.
    func giveUp(_ directory: String, began: String, logger: Logger) {
        do throws(CampaignError) {
            _ = try history.abandon(directory, began: began)
        } catch {
            logger.printable.warning("it is not in the history that this run was given up: \(error)")
        }
    }

    /// Adds the line of a run that has ended. A failure is only logged, because the run itself has its results.
    ///
    /// - Parameter input: What was read of each file of its input.
    func add(_ summary: CampaignSummary, directory: String, input: [KnownInput.Content]?, logger: Logger) {
        do throws(CampaignError) {
            try history.add(RecordedRun(summary, of: campaign, directory: directory, input: input))
        } catch {
            logger.printable.warning("the history has no line of this run: \(error)")
        }
    }
}

extension ExpectationJudge {
    /// Creates the judge of a campaign, with the earlier nights of its history.
    ///
    /// - Parameter start: The start of the run, in seconds since 1970-01-01 00:00 UTC; nil if it begins now. Later nights do
    ///   not count, so that a run is always judged in the same way.
    init(_ campaign: Campaign, start: UInt64? = nil) throws(CampaignError) {
        try self.init(campaign.expectations, history: try HistoryPlace(campaign), start: start)
    }

    /// - Parameter history: The history of earlier nights; nil if none is kept.
    init(
        _ expectations: [CampaignExpectation], history: HistoryPlace?, start: UInt64? = nil
    ) throws(CampaignError) {
        let needsHistory = expectations.first { if case .nearMedian = $0.condition { true } else { false } }
        guard let place = history else {
            if let needsHistory {
                throw CampaignError(
                    .configuration,
                    "expect: \(needsHistory): needs state_dir, which holds the history of earlier nights")
            }
            try self.init(expectations)
            return
        }
        let began = start.map(CampaignSummary.Identity.time)
        try self.init(expectations, earlier: try place.history.figures(of: place.campaign, before: began))
    }
}

extension RecordedRun {
    init(_ summary: CampaignSummary, of campaign: String, directory: String, input: [KnownInput.Content]?) {
        self.init(
            campaign: campaign, runDirectory: RunDirectory.absolute(directory), began: summary.campaign.began,
            ended: summary.campaign.ended, ending: summary.ending.rawValue, exitCode: summary.exitCode,
            verdict: summary.verdict, figures: summary.figures.withKnownReasons, correctionOf: summary.correctionOf,
            input: input)
    }
}

extension RunFigures {
    /// The figures with all reasons that APNs does not document counted as `other`: a server may send any text, even a device
    /// token.
    fileprivate var withKnownReasons: RunFigures {
        var figures = self
        figures.reasons = reasons.reduce(into: [:]) { counts, reason in
            let isKnown = if case .known = Reason(rawValue: reason.key) { true } else { false }
            counts[isKnown ? reason.key : "other", default: 0] += reason.value
        }
        return figures
    }
}
