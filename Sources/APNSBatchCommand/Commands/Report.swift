import APNSBatch
import APNSBatchReport
import ArgumentParser
import Foundation

struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Makes the report of a run again or of a run in parts, or compares several.",
        discussion: """
            Each process that works on a run writes report.html, report.txt and report.json
            into the run directory when it ends, unless report: none is set, and the files
            invalid-tokens.csv and doubtful-tokens.csv. This command writes all of them
            again, and prints the path of report.html. Of a run whose last process was killed
            it makes the report from the ledger, and no files of tokens.

            A run in parts is a directory with manifest.json, and with a run directory for
            each part below parts: 00000, 00001 and so on. It gets one report of all parts,
            with their sums, and files of tokens with the part of each row. Rows of parts
            that were not begun, or whose last process was killed, count as left.

            Of several runs it prints a comparison: a table as text, a page with plots as html,
            and a list of reports as json. It writes no files then.

            Examples:
              apns-batch report runs/tonight
              apns-batch report runs/tonight --format text | mail -s report ops@example.com
              apns-batch report runs/monday runs/tuesday --format html > compare.html
              apns-batch report /shared/campaign --format json

            Exit codes: 0 the report was made, whatever it says; 64 a directory holds no
            run, or manifest.json is wrong; 75 a process is working on a run or on a part,
            or the report cannot be written.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, html
    }

    @Argument(help: "Run directory, or directory of a run in parts; several are compared.", completion: .directory)
    var runDirectories: [String]

    @Option(help: "Print the report as text, json or html, and write no files. (default for several: text)")
    var format: Format?

    func run() throws {
        let reports = try reporting { try runDirectories.map(Self.report) }
        if reports.count == 1 { try showOne(reports[0]) } else { try compare(reports) }
    }

    private func showOne(_ report: RunReport) throws {
        switch format {
        case nil: try write(report)
        case .text: try Output.write(Array(ReportText.text(report).utf8))
        case .json: try Output.write(try ReportFiles.json(report))
        case .html: try Output.write(Array(ReportPage.html(report).utf8))
        }
    }

    private func compare(_ reports: [RunReport]) throws {
        let comparison = RunComparison(reports)
        switch format {
        case nil, .text: try Output.write(Array(ComparisonText.text(comparison).utf8))
        case .json: try Output.write(try ReportFiles.json(reports))
        case .html: try Output.write(Array(ComparisonPage.html(comparison).utf8))
        }
    }

    private static func report(of directory: String) throws -> RunReport {
        if let run = try DistributedRun(ifIn: directory) { return try RunReport(of: run, ReportContext(run)) }
        let arguments = try RunArguments(of: try RunOpening(of: directory))
        return try RunReport(ofEndedRunIn: directory, ReportContext(arguments)) { $0.countUnread(inRun: directory) }
    }

    private func write(_ report: RunReport) throws {
        do {
            // What a killed process has left of results.csv is completed when the run is resumed.
            if report.isOfKilledRun != true { try TokenFiles.write(of: report) }
            Output.line(try ReportFiles.write(report))
        } catch {
            complainOfFailure("\(error)")
            throw ExitStatus.interrupted
        }
        guard Output.isComplete() else { throw ExitStatus.interrupted }
    }
}
