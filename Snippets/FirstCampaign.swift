// Checks and sends a campaign whose rows are in a CSV file, and reads what became of them.
import APNSBatch
import APNSSimulator
import Foundation

let folder = FileManager.default.temporaryDirectory.appending(path: "first-campaign-\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let rowsPath = folder.appending(path: "rows.csv").path
let runDirectory = folder.appending(path: "run").path

// snippet.files
let rows = """
    token,first_name,seats
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0,Zoë,3
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f1,,2
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f2,"O'Brien, Pat",4

    """
let template = #"""
    {
      "aps": {
        "alert": { "title": "Hi {{first_name|there}}", "body": "Your table is ready." },
        "badge": "{{seats:number}}"
      }
    }
    """#
// snippet.end
try Data(rows.utf8).write(to: URL(filePath: rowsPath))
let pem: [UInt8] = []

try await withSimulator { simulator in
    // snippet.campaign
    var campaign = Campaign(
        destination: .production, topic: "com.example.app",
        credentials: .providerToken(keyPEM: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
    campaign.template = .init(json: Array(template.utf8), name: "payload.json")
    campaign.runDirectory = runDirectory
    // snippet.end

    // snippet.redirect
    // The second device has deleted the app.
    let gone = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f1"
    try simulator.answer(gone, with: .unregistered)
    campaign.redirect(to: simulator)
    // snippet.end

    // snippet.check
    let report = try await CampaignCheck(campaign, input: .file(rowsPath)).run()
    for group in report.groups { print(group.count, group.rule, group.examples.first?.text ?? "") }
    guard report.isClean else { fatalError("\(report.rowsWithErrors) rows would not be sent") }
    // snippet.end

    // snippet.send
    let run = try await CampaignRun.prepare { [campaign] in
        try CampaignRun(campaign, input: .file(rowsPath))
    }
    let summary = try await run.send()
    print(summary.verdict)
    print(summary.accepted, summary.reasons)
    // snippet.end

    // snippet.results
    let results = try String(contentsOfFile: run.directory + "/results.csv", encoding: .utf8)
    print(results)
    // snippet.end
    precondition(summary.accepted == 2 && summary.reasons == ["Unregistered": 1], summary.verdict)
    precondition(simulator.requests(to: gone).count == 1)
}
