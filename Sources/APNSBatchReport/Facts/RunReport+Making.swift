import APNSBatch
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRecords

extension RunReport {
    /// Makes the report of a run that has ended. It reads the timeline of the run and the history of earlier nights.
    ///
    /// - Parameter summary: The summary of the run.
    public init(of directory: String, _ summary: CampaignSummary, _ context: ReportContext) {
        self.init(of: directory, summary, context, isOfKilledRun: nil)
    }

    private init(
        of directory: String, _ summary: CampaignSummary, _ context: ReportContext, isOfKilledRun: Bool?
    ) {
        let earlier = Self.nights(before: summary, context)
        self.init(
            RunDirectory.absolute(directory), summary, context, earlier: earlier,
            course: RunCourse(of: directory), isOfKilledRun: isOfKilledRun)
    }

    /// Makes the report of a run on which no process is working: with the `summary.json` in its directory, or, if its last process was
    /// killed, with the content of the ledger.
    ///
    /// - Parameter count: Counts the rows of a killed run that were not read; without it their number is estimated.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/busy`` if a process is working on the run,
    ///   `results` if there is no run, or if its summary was removed.
    public init(
        ofEndedRunIn directory: String, _ context: ReportContext, counting count: (inout RunStatus) -> Void = { _ in }
    ) throws(CampaignError) {
        let opening = try RunOpening(of: directory)
        guard !opening.isAtWork else {
            throw CampaignError(
                .busy, "\(directory): a process is working on this run; see status, or wait for its end")
        }
        if let summary = RunDirectory.readSummary(directory), summary.sessions == opening.sessions {
            self.init(of: directory, summary, context)
            return
        }
        var status = try RunStatus(of: directory)
        guard status.state == .killed else {
            throw CampaignError(
                .results,
                "\(directory): there is no summary of the last process, because it was removed or is of an earlier version; "
                    + "resume the run, or see status")
        }
        count(&status)
        var summary = try CampaignSummary(ofKilledRunIn: directory, status)
        summary.breakdowns = try CampaignSummary.Breakdown.all(ofRunIn: directory, by: context.reportBy)
        self.init(of: directory, summary, context, isOfKilledRun: true)
    }

    init(
        _ directory: String, _ summary: CampaignSummary, _ context: ReportContext, earlier: [RunFigures],
        course: RunCourse?, parts: [PartLine]? = nil, isOfKilledRun: Bool? = nil
    ) {
        runDirectory = directory
        self.isOfKilledRun = isOfKilledRun
        campaign = context.campaign
        self.summary = summary
        let began = LocalTime.instant(summary.campaign.began) ?? 0
        let ended = max(began, LocalTime.instant(summary.campaign.ended) ?? began)
        localTime = LocalTime(zone: context.zone, interval: began...ended, offset: context.offset)
        nights = earlier.count
        self.course = course
        self.course?.add(summary.changes)
        self.parts = parts
        settings = context.settings
        (outcomes, reasons, nextSteps) = ([], [], [])
        outcomes = outcomeLines(earlier)
        reasons = reasonLines(earlier)
        nextSteps = NextStep.all(for: self, campaignFile: context.campaignFile)
    }

    /// The figures of the earlier nights with which a run is compared; empty if there are too few.
    private static func nights(before summary: CampaignSummary, _ context: ReportContext) -> [RunFigures] {
        guard let directory = context.stateDirectory, let campaign = context.campaign,
            let all = try? RunHistory(directory).figures(of: campaign, before: summary.campaign.began),
            all.count >= NightComparison.nightsAtLeast
        else { return [] }
        return all.suffix(NightComparison.nightsAtMost)
    }

    private func sharePercent(_ rows: UInt64) -> Double {
        rowsTotal > 0 ? (Double(rows) / Double(rowsTotal) * 1e6).rounded() / 1e4 : 0
    }

    private func compared(_ rows: UInt64, _ earlier: [UInt64]) -> NightComparison? {
        guard !earlier.isEmpty else { return nil }
        var compared = NightComparison(Double(rows), with: earlier.map { Double($0) })
        // Of a run with rows left, every number is unusual.
        if summary.ending != .complete { compared.deviates = false }
        return compared
    }

    private func outcomeLines(_ earlier: [RunFigures]) -> [OutcomeLine] {
        var lines = Outcome.allCases.map { outcome in
            OutcomeLine(
                outcome: "\(outcome.name)", rows: summary[outcome], sharePercent: sharePercent(summary[outcome]),
                earlier: compared(summary[outcome], earlier.map { $0[outcome] }))
        }
        if let left = summary.left, left > 0 {
            lines.append(OutcomeLine(outcome: "left", rows: left, sharePercent: sharePercent(left)))
        }
        return lines.filter { $0.outcome == "accepted" || $0.rows > 0 || ($0.earlier?.median ?? 0) > 0 }
    }

    private func reasonLines(_ earlier: [RunFigures]) -> [ReasonLine] {
        let lines = Outcome.allCases.flatMap {
            reasonLines(summary.totals[reasonsOf: $0], "\($0.name)", earlier)
        }
        return lines.sorted { ($1.rows, $0.reason) < ($0.rows, $1.reason) }
    }

    private func reasonLines(_ counts: [String: UInt64], _ outcome: String, _ earlier: [RunFigures]) -> [ReasonLine] {
        counts.map { reason, rows in
            var line = ReasonLine(
                reason: reason, outcome: outcome, rows: rows, sharePercent: sharePercent(rows), meaning: nil,
                remedy: nil)
            // The history counts all other reasons together.
            guard case .known(let known) = Reason(rawValue: reason) else { return line }
            (line.meaning, line.remedy) = (known.rule.note, known.remedy)
            line.earlier = compared(rows, earlier.map { $0.reasons[reason] ?? 0 })
            return line
        }
    }
}
