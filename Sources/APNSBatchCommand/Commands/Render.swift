import APNSBatch
import ArgumentParser
import Foundation

struct Render: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Prints path, headers and payload of the first rows, or of one row, without sending.",
        discussion: """
            The arguments are those of send. The provider token is not shown.

            Examples:
              apns-batch render campaign.yaml
              apns-batch render campaign.yaml --row 1042
              apns-batch render --input rows.csv --template payload.json \\
                --to simulator --rows 0 --json
            """)

    @Argument(help: CampaignFlags.fileHelp, completion: .campaign) var campaign: String?

    @OptionGroup var flags: CampaignFlags

    @Option(help: "Number of rows to print, or 0 for all. (default: 10)")
    var rows: Int?

    @Option(help: "Number of the only row to print, as check and results.csv number it.")
    var row: UInt64?

    @Flag(help: "Treat the rows as broadcasts, like the command broadcast.")
    var broadcast = false

    @Flag(help: "Print one JSON object per line: row, path, headers and payload (a string), or row and invalid.")
    var json = false

    func run() async throws {
        let call = try reporting { try CampaignCall(flags: flags.settings, file: campaign) }
        let settings = call.settings
        let simulator = try call.reporting { try EmbeddedSimulator.forRendering(settings) }
        try reporting { try checkRows() }
        var left = row == nil ? rows ?? 10 : 1
        if rows == 0 { left = .max }
        var invalid = false
        try call.reporting {
            let input = try settings.campaignInput()
            var campaign = try settings.campaign(simulator: simulator, for: .showing)
            if broadcast { campaign.recipients = try settings.channels(of: campaign) }
            let preview = try CampaignPreview(campaign, input: input)
            var last: UInt64 = 0
            while left > 0, let next = try preview.next() {
                last = next.row
                if let row, next.row != row { continue }
                if next.isLeftOut {
                    if row == nil { continue }
                    throw UsageError("--row: row \(next.row) would not be sent: only or from_row leaves it out")
                }
                left -= 1
                if next.invalid != nil { invalid = true }
                show(next)
            }
            if let row, left > 0 {
                let rest = last == 0 ? "the input has no rows" : "the last one is row \(last)"
                throw UsageError("--row: there is no row \(row); \(rest)")
            }
        }
        if !Output.isComplete() { throw ExitStatus.interrupted }
        if invalid { throw ExitStatus.someRowsLeft }
    }

    func checkRows() throws {
        if row != nil, rows != nil { throw UsageError("--row and --rows: give one of them") }
        if row == 0 { throw UsageError("--row: expected 1 or more, found 0") }
        if let rows, rows < 0 { throw UsageError("--rows: expected 0 or more, found \(rows)") }
    }

    private func show(_ row: CampaignPreview.Row) {
        Output.lines(json ? [RenderedLine.json(row)] : Self.lines(row))
    }

    /// The payload is JSON on one line, whose strings may have escapes that it is not sent with.
    private static func lines(_ row: CampaignPreview.Row) -> [String] {
        if let invalid = row.invalid { return ["# row \(row.row): invalid: \(invalid)", ""] }
        let headers = row.headers.map { "\($0.name): \($0.value)" }
        return ["# row \(row.row)"] + headers + ["", String(decoding: row.payload, as: UTF8.self), ""]
    }
}
