import APNSBatch
import ArgumentParser
import Foundation

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks every row, payload and header against all rules, without sending.",
        discussion: """
            The arguments are those of send, but credentials are not needed. Up to 20
            examples of each finding are printed; findings.csv holds all of them
            (severity,rule,row,file,line,column,message). docs/reference.md lists the
            rules.

            Examples:
              apns-batch check campaign.yaml --input rows.csv
              apns-batch check --input rows.csv --template payload.json \\
                --topic com.example.app --strings App/

            Exit codes: 0 every row would be sent; 2 some rows would not be sent; 64 usage
            or configuration is wrong, or the template breaks a rule in every row; 75 the
            check was interrupted.
            """)

    @Argument(help: CampaignFlags.fileHelp, completion: .campaign) var campaign: String?

    @OptionGroup var flags: CampaignFlags

    @Option(help: "File to write all findings to.", completion: .file())
    var findings = "findings.csv"

    @Flag(help: "Treat the rows as broadcasts, like the command broadcast.")
    var broadcast = false

    func run() async throws {
        let call = try reporting { try CampaignCall(flags: flags.settings, file: campaign) }
        let settings = call.settings
        let simulator = try call.reporting { try EmbeddedSimulator.forRendering(settings) }
        let check = try call.reporting {
            let input = try settings.campaignInput()
            var campaign = try settings.campaign(simulator: simulator, for: .showing)
            if let name = call.name { campaign.name = name }
            if broadcast { campaign.recipients = try settings.channels(of: campaign) }
            return try CampaignCheck(campaign, input: input, findingsPath: findings)
        }
        Signals.onStop { name in
            complain("\(name): stopping the check")
            check.stop()
        }
        let display = Task { await ProgressDisplay().follow { check.progress } }
        let report: CheckReport
        do {
            report = try await check.run()
        } catch {
            display.cancel()
            await display.value
            complain(error.description)
            throw ExitStatus.whileChecking(error)
        }
        display.cancel()
        await display.value
        Output.lines(CheckText.whole(report))
        guard Output.isComplete(), report.isComplete else { throw ExitStatus.interrupted }
        if report.isBroken { throw ExitStatus.usage }
        if report.rows == 0 {
            complain("warning: the input has no rows")
            throw ExitStatus.someRowsLeft
        }
        if !report.isClean { throw ExitStatus.someRowsLeft }
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
        let more = group.count - UInt64(group.examples.count)
        return group.examples.map(line) + (more > 0 ? ["… and \(more) more findings of \(group.rule)"] : [])
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

    /// Ends with the line that scripts read.
    private static func end(_ report: CheckReport) -> [String] {
        let (errors, warnings) = (count(.error, report), count(.warning, report))
        let all = report.findingsPath.map { ["all findings: \($0)"] } ?? []
        let stopped = report.isComplete ? "" : " (stopped before the end of the input)"
        let counts =
            "rows=\(report.rows) good=\(report.rows - report.rowsWithErrors) bad=\(report.rowsWithErrors) "
            + "with_warnings=\(report.rowsWithWarnings) errors=\(errors) warnings=\(warnings)\(stopped)"
        return all + [counts]
    }
}
