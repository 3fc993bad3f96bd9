import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending

/// Ends a session: completes the files of the run and its line in the history, and makes the summary.
struct RunFinish {
    let facts: RunFacts
    let place: RunPlace
    let panel: RunPanel
    let meter: RunMeter

    private var directory: String { place.directory }
    private var past: RunPast? { facts.past }

    /// The account of a session in which no row ends: it has the counts of earlier sessions.
    var nothingDone: SessionAccount {
        var account = SessionAccount()
        account.reasons = past?.reading.history.reasons ?? OutcomeReasons()
        return account
    }

    // MARK: The ways to end

    /// Adds to the account of a session what is read back from the files of the run.
    func completed(_ account: SessionAccount) -> SessionAccount {
        var account = account
        account.breakdowns = breakdowns
        if panel.control.stopCause == nil {
            account.notSentFile = writeNotSent(account.tally.outcomes, facts.outcomesBefore)
        }
        return account
    }

    /// Ends a session of this account.
    func ended(_ account: SessionAccount) -> CampaignSummary {
        var account = account
        if account.figures.lanes == nil { account.figures = meter.figures(withLanes: true) }
        let summary = summarize(account)
        // Before the summary is that of a complete run, which would make it the run of its night.
        enterGivenUp(summary)
        return recorded(write(summary, account))
    }

    /// Ends a session of a run that was complete before.
    func again(_ past: RunPast) -> CampaignSummary {
        let summary = finished(past)
        enterGivenUp(summary)
        return recorded(summary)
    }

    /// Enters in the history that an operator has given the run up, if one has.
    private func enterGivenUp(_ summary: CampaignSummary) {
        guard panel.control.isAbandoned, summary.ending == .complete else { return }
        facts.history?.giveUp(directory, began: summary.campaign.began, logger: facts.plan.log.logger)
    }

    /// Adds the summary to the history, and removes what no later session needs.
    private func recorded(_ summary: CampaignSummary) -> CampaignSummary {
        // Rows that ended as unavailable are read again if the run is resumed for them, and rows that were not sent as long as no file has them.
        let hasFile = summary.notSentFile != nil || panel.control.isAbandoned
        let isNeeded = summary.rows { $0.canBeReopened || !hasFile && $0.canBeCorrected } > 0
        if summary.ending == .complete, !isNeeded { dropKeptRows() }
        facts.history?.add(
            summary, directory: directory, input: summary.ending == .complete ? contents : nil,
            logger: facts.plan.log.logger)
        return summary
    }

    /// Removes rows that no later session needs. Of a copy the header row stays, or what is in its place, so that the run can
    /// still be opened.
    private func dropKeptRows() {
        if facts.input.spooled != nil { place.files.removeSpool(of: place.ledger) }
        guard facts.input.isCopy else { return }
        DirectoryFiles(directory).replaceInputCopy(of: place.ledger) { [reader = facts.reader] file in
            try InputCopy.write(reader.format.beginning(columns: reader.columns), to: file)
        }
    }

    /// What was read of each file of the input; nil if it is not known.
    private var contents: [KnownInput.Content]? {
        let reader = facts.reader
        let files = reader.reader.filesRead
        if !files.isEmpty { return files.map { .init(length: $0.fingerprint.bytes, sum: $0.fingerprint.sum) } }
        return reader.checksum.map { [.init(length: reader.reader.size, sum: $0)] }
    }

    /// What else the campaign has to finish.
    private var unfinished: [UnfinishedRun] {
        facts.history?.unfinished(besides: directory, start: facts.plan.start, logger: facts.plan.log.logger) ?? []
    }

    // MARK: Summaries

    /// Returns the summary of a run without remaining rows, after completing its files. Its figures do not change.
    private func finished(_ past: RunPast) -> CampaignSummary {
        let history = past.reading.history
        do throws(CampaignError) {
            _ = try past.settle(try place.files.results(of: place.ledger, isNew: false), name: directory)
        } catch {
            panel.fail(error)
            return summarize(nothingDone)
        }
        let known = RunDirectory.readSummary(directory)
        if let known, known.agrees(with: summary(of: history, notSent: nil)), hasNotSent(known) { return known }
        let file = writeNotSent(history.tally.outcomes)
        var summary = summary(of: history, notSent: file)
        if let known, file == nil, known.agrees(with: summary) { return known }
        summary.breakdowns = breakdowns
        do {
            try RunDirectory.write(summary, to: directory)
        } catch {
            panel.fail(error)
        }
        return summary
    }

    /// The summary of a run without remaining rows, from its ledger alone.
    private func summary(of history: LedgerHistory, notSent file: String?) -> CampaignSummary {
        CampaignSummary(
            history, campaign: identity(ended: history.lastTime), judge: panel.judge, unfinished: unfinished,
            correctionOf: CampaignBook.corrected(by: directory), notSentFile: file)
    }

    private func write(_ summary: CampaignSummary, _ account: SessionAccount) -> CampaignSummary {
        do {
            try RunDirectory.write(summary, to: directory)
            return summary
        } catch {
            panel.fail(error)
            return summarize(account)
        }
    }

    func summarize(_ account: SessionAccount) -> CampaignSummary {
        var summary = CampaignSummary(
            account, before: past?.reading.history, changes: panel.journal.all, stop: panel.control.stopCause,
            campaign: identity(ended: facts.plan.surroundings.seconds()), judge: panel.judge, unfinished: unfinished,
            correctionOf: directory.isEmpty ? nil : CampaignBook.corrected(by: directory))
        if let failure = panel.failure, LostRecord.isCause(of: failure, in: directory, start: facts.plan.start) {
            summary.lose(LostRecord.sentence(summary, isKnown: facts.history?.decidesStarts ?? false))
        }
        return summary
    }

    /// - Parameter ended: In seconds since 1970-01-01 00:00 UTC.
    private func identity(ended: UInt64) -> CampaignSummary.Identity {
        let checksum = panel.control.stopCause == nil ? facts.reader.checksum : nil
        return .init(facts.plan, facts.header, template: facts.template, checksum: checksum, ended: ended)
    }

    /// The status of a run that ended early, from the ledger. The unread rows are counted, or only estimated after
    /// ``CampaignRun/stopAtOnce()``.
    func status(_ ledger: RunLedger) -> RunStatus? {
        var status = ledger.history().flatMap { history in
            try? RunStatus(history, notes: ledger.handOvers.snapshot, boot: place.files.boot, isFree: true)
        }
        if !panel.control.urgent, let path = facts.input.path {
            status?.countUnread(in: path, FormatChoice(facts.reader.format))
        }
        return status
    }

    /// The rows of all sessions by the values of columns. A failure is only logged: the run has its results.
    private var breakdowns: [CampaignSummary.Breakdown]? {
        guard !facts.reportBy.isEmpty, !directory.isEmpty else { return nil }
        do throws(CampaignError) {
            return try CampaignSummary.Breakdown.all(ofRunIn: directory, by: facts.reportBy)
        } catch {
            facts.plan.log.logger.printable.warning("the rows were not counted by column: \(error)")
            return nil
        }
    }
}
