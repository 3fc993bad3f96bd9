import APNSBatch
import APNSBatchBasics
import APNSBatchModel

extension RunReport.NextStep {
    /// What to do after a run, the most urgent first.
    static func all(for report: RunReport, campaignFile: String? = nil) -> [RunReport.NextStep] {
        let (summary, directory) = (report.summary, report.runDirectory.shellQuoted)
        var steps: [RunReport.NextStep] = []
        func add(_ rows: UInt64, _ text: (String) -> String?, _ command: String? = nil) {
            guard rows > 0, let text = text("\(rows.grouped) row\(rows == 1 ? "" : "s")") else { return }
            steps.append(.init(text: text, command: command))
        }
        if let parts = report.parts {
            steps += rest(of: parts, in: report.runDirectory)
        } else if summary.ending != .complete {
            steps.append(rest(of: summary, directory))
        }
        for outcome in Outcome.allCases {
            add(summary[outcome], { outcome.nextStep($0) }, command(about: outcome, report, directory))
            guard outcome == .invalid, report.parts == nil, let name = summary.notSentFile else { continue }
            add(
                summary.rows(where: \.canBeCorrected),
                { "Correct the lines of \($0) in \(name), and send them in a separate run." },
                campaignFile.map { "apns-batch run \($0.shellQuoted) --correction \(directory) --input CORRECTED" })
        }
        for run in summary.unfinished ?? [] where !run.isAtWork {
            let rows = run.left.map { "\($0.grouped) row\($0 == 1 ? " is" : "s are") left of it" }
            steps.append(
                .init(
                    text:
                        "Finish another run of the campaign: \(rows ?? (run.isLost ? "its ledger or its rows are gone" : "rows are left of it")).",
                    command: run.command))
        }
        for run in summary.othersAtWork {
            steps.append(
                .init(
                    text: "Wait for another run of the campaign, which was at work when this one ended.",
                    command: "apns-batch status --follow \(run.runDirectory.shellQuoted)"))
        }
        // The files are there when the run has been resumed.
        guard report.isOfKilledRun != true else { return steps }
        add(
            report.rows { $0 == .delete },
            { "Delete the tokens of \($0) that are gone for APNs: invalid-tokens.csv." })
        add(
            report.rows { $0 == .look },
            { "Look at the tokens of \($0), which may belong to another environment or app: doubtful-tokens.csv." })
        return steps
    }

    /// The command for the next step about rows with an outcome; nil if there is none.
    private static func command(about outcome: Outcome, _ report: RunReport, _ directory: String) -> String? {
        if outcome.canBeReopened {
            guard let parts = report.parts else { return "apns-batch resume --retry-unavailable \(directory)" }
            return retry(parts, in: report.runDirectory)
        }
        guard outcome.arrival == .maybeSent else { return nil }
        return report.parts == nil
            ? "grep ',\(outcome.name),' \("\(report.runDirectory)/results.csv".shellQuoted)"
            : "grep -r --include=results.csv ',\(outcome.name),' \("\(report.runDirectory)/parts".shellQuoted)"
    }

    private static func rest(of summary: CampaignSummary, _ directory: String) -> RunReport.NextStep {
        guard summary.campaign.isResumable else {
            return .init(
                text:
                    "The run cannot be resumed, because its input was a pipe. Start it again with the rows that are left."
            )
        }
        let cause =
            summary.ending == .failed ? "Remove the cause of the failure, and resume the run." : "Resume the run."
        guard summary.campaign.inputBytes != nil else {
            return .init(text: "\(cause) Its rows come from a program, which resumes it when it is started again.")
        }
        return .init(text: cause, command: "apns-batch resume \(directory)")
    }
}

extension RunReport {
    /// The rejected rows whose tokens get some feedback.
    fileprivate func rows(_ isWanted: (TokenFeedback) -> Bool) -> UInt64 {
        reasons.reduce(0) { rows, line in
            let feedback = line.outcome == "\(Outcome.rejected.name)" ? TokenFeedback(reason: line.reason) : nil
            return rows + (feedback.map(isWanted) == true ? line.rows : 0)
        }
    }
}
