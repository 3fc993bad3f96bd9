import APNSBatch
import ArgumentParser
import Foundation

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks every row, payload and header against all rules, without sending.",
        discussion: """
            The arguments are those of send, but credentials are not needed. Up to 20
            examples of each finding are printed, and 3 of suspect-text; findings.csv holds
            all of them (severity,rule,row,file,line,column,message).
            docs/reference/rules.md lists the rules.

            With --everything, it also tries all that run needs before its first push:
            files and rights, ports, programs, tables, the history, the run directory and
            its disk, and the server, which gets the credentials with a request that
            reaches no device. Call it as the user who calls run. It prints one line for
            each part, and has the exit code that run would have. It leaves nothing behind.

            Examples:
              apns-batch check campaign.yaml --input rows.csv
              apns-batch check campaign.yaml --everything
              apns-batch check --input rows.csv --template payload.json \\
                --topic com.example.app --strings App/

            Exit codes: 0 every row would be sent; 2 some rows would not be sent, or
            --everything has a warning; 64 usage or configuration is wrong, or the template
            breaks a rule in every row; 75 the check was interrupted. With --everything,
            0 also if expect allows that the other rows are not sent, 69 the server
            refuses the credentials or cannot be reached, and 71 and 75 as for run.
            """)

    @Argument(help: CampaignFlags.fileHelp, completion: .campaign) var campaign: String?

    @OptionGroup var flags: CampaignFlags

    @Option(help: "File to write all findings to.", completion: .file())
    var findings = "findings.csv"

    @Flag(help: "Treat the rows as broadcasts, like the command broadcast.")
    var broadcast = false

    @Flag(help: "Also try all that run needs before its first push, as this user.")
    var everything = false

    func run() async throws {
        let call = try reporting { try CampaignCall(flags: flags.settings, file: campaign) }
        if everything { throw try await tryEverything(call) }
        let settings = call.settings
        let simulator = try call.reporting { try EmbeddedSimulator.forRendering(settings) }
        let check = try call.reporting {
            let input = try settings.campaignInput()
            var campaign = try settings.campaign(simulator: simulator, for: .showing)
            if let name = call.name { campaign.name = name }
            if broadcast { campaign.recipients = try settings.channels(of: campaign) }
            return try CampaignCheck(campaign, input: input, findingsPath: findings)
        }
        let report: CheckReport
        do {
            report = try await Self.shown(check)
        } catch {
            complain(error.description)
            throw ExitStatus.whileChecking(error)
        }
        throw show(report)
    }

    /// Runs a check and shows its progress.
    private static func shown(_ check: CampaignCheck) async throws(CampaignError) -> CheckReport {
        Signals.onStop { name in
            complain("\(name): stopping the check")
            check.stop()
        }
        let display = Task { await ProgressDisplay().follow { check.progress } }
        let result: Result<CheckReport, CampaignError>
        do throws(CampaignError) { result = .success(try await check.run()) } catch { result = .failure(error) }
        display.cancel()
        await display.value
        return try result.get()
    }

    /// Prints a report, and returns the exit code of it.
    private func show(_ report: CheckReport) -> ExitCode {
        Output.lines(CheckText.whole(report))
        if !everything, let refusal = report.refusal {
            complain("warning: run would not begin: \(refusal.description)")
        }
        guard Output.isComplete(), report.isComplete else { return ExitStatus.interrupted }
        if report.isBroken { return ExitStatus.usage }
        if report.rows == report.rowsNotSelected {
            complain(
                report.rows == 0
                    ? "warning: the input has no rows"
                    : "warning: only and from_row leave out all of \(report.rows) rows: compare them with the input")
            return ExitStatus.someRowsLeft
        }
        return report.isClean ? .success : ExitStatus.someRowsLeft
    }

    // MARK: Everything

    /// Tries all that `run` needs, and returns its exit code.
    private func tryEverything(_ call: CampaignCall) async throws -> ExitCode {
        guard !broadcast else {
            throw reported(UsageError("--everything tries what run needs, and run sends no broadcasts"))
        }
        let preflight = Preflight(call, .call) { Output.lines($0.lines) }
        preflight.tryStart()
        let report = await rows(preflight, call.settings)
        if let report, report.isComplete {
            preflight.tryRoom(for: report.rows, sent: report.rows - report.rowsNotSelected)
        }
        await preflight.tryServer()
        let code = preflight.close()
        guard Output.isComplete() else { return ExitStatus.interrupted }
        let shown = report.map(show) ?? .success
        // Whether the campaign expects that some rows are not sent was judged before.
        return ExitStatus.worst([code, shown == ExitStatus.someRowsLeft ? .success : shown])
    }

    /// Checks the rows; nil if they cannot be read.
    private func rows(_ preflight: Preflight, _ settings: CampaignSettings) async -> CheckReport? {
        guard var campaign = preflight.campaign, let input = preflight.input else { return nil }
        // Its age was judged before, and an old file is more informative than none.
        campaign.inputAgeLimit = nil
        // A run has the number of rows when it has copied an input that can be read only once.
        if case .file = input {
        } else if (try? settings.spool) != CampaignRun.Spool.none {
            campaign.rateLimit.spread = nil
        }
        do throws(CampaignError) {
            let check = try CampaignCheck(campaign, input: input, findingsPath: findings)
            let report = try await Self.shown(check)
            preflight.note(report)
            return report
        } catch {
            preflight.note(unchecked: error)
            return nil
        }
    }
}

enum CheckText {
    static func whole(_ report: CheckReport) -> [String] {
        report.campaign.map(line) + report.groups.flatMap(group) + duplicates(report) + sizes(report) + end(report)
    }

    /// `rows.csv:3:5: error: badge: expected a number, found "five"`.
    private static func line(_ finding: CampaignFinding) -> String {
        let place = finding.file.map { "\($0):\(finding.line):\(finding.column): " } ?? ""
        return "\(place)\(finding.severity.rawValue): \(finding.message) [\(finding.rule)]"
    }

    private static func group(_ group: CheckReport.Group) -> [String] {
        // Many texts are suspect for one cause, and a few places show it.
        let shown = group.examples.prefix(group.rule == "suspect-text" ? 3 : CheckReport.exampleLimit)
        let more = group.count - UInt64(shown.count)
        return shown.map(line) + (more > 0 ? ["… and \(more) more findings of \(group.rule)"] : [])
    }

    private static func duplicates(_ report: CheckReport) -> [String] {
        guard let found = report.duplicateTokens, found.isEstimate else { return [] }
        return [found.description]
    }

    private static func sizes(_ report: CheckReport) -> [String] {
        let sizes = report.sizes
        guard sizes.maximum > 0 else { return [] }
        let shares = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99")]
            .map { "\($0.1) \(sizes.percentile($0.0)) bytes" }.joined(separator: ", ")
        let saved = sizes.payloads > 0 ? Double(sizes.bytesSaved) / Double(sizes.payloads) : 0
        return [
            "payload size: \(shares), largest \(sizes.maximum) bytes (row \(sizes.maximumRow))",
            "whitespace removed: \(sizes.bytesSaved) bytes, \(String(format: "%.1f", saved)) per payload",
        ]
    }

    private static func count(_ severity: CampaignFinding.Severity, _ report: CheckReport) -> UInt64 {
        report.groups.filter { $0.severity == severity }.reduce(0) { $0 + $1.count }
            + UInt64(report.campaign.count { $0.severity == severity })
    }

    private static func others(_ report: CheckReport) -> String {
        report.rowsNotSelected > 0 ? "not_selected=\(report.rowsNotSelected) " : ""
    }

    /// Ends with the line that scripts read.
    private static func end(_ report: CheckReport) -> [String] {
        let (errors, warnings) = (count(.error, report), count(.warning, report))
        let all = report.findingsPath.map { ["all findings: \($0)"] } ?? []
        let stopped = report.isComplete ? "" : " (stopped before the end of the input)"
        let counts =
            "rows=\(report.rows) good=\(report.rows - report.rowsWithErrors - report.rowsNotSelected) "
            + "bad=\(report.rowsWithErrors) \(others(report))with_warnings=\(report.rowsWithWarnings) errors=\(errors) warnings=\(warnings)\(stopped)"
        return all + [counts]
    }
}
