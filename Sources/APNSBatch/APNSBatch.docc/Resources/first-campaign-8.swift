import APNSBatch
import APNSSimulator
import Foundation

let rows = """
    token,first_name,seats
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0,Zoë,3
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f1,,2
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f2,"O'Brien, Pat",4

    """
try Data(rows.utf8).write(to: URL(filePath: "rows.csv"))

let template = #"""
    {
      "aps": {
        "alert": { "title": "Hi {{first_name|there}}", "body": "Your table is ready." },
        "badge": "{{seats:number}}"
      }
    }
    """#

var campaign = Campaign(destination: .sandbox, topic: "com.example.app", credentials: .none)
campaign.template = .init(json: Array(template.utf8), name: "payload.json")

try await withSimulator { simulator in
    campaign.redirect(to: simulator)
    let gone = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f1"
    try simulator.answer(gone, with: .unregistered)

    let report = try await CampaignCheck(campaign, input: .file("rows.csv")).run()
    print("\(report.rowsWithErrors) of \(report.rows) rows would not be sent")

    let run = try CampaignRun(campaign, input: .file("rows.csv"))
    let results = run.makeResults()
    async let summary = run.send()
    for await batch in results {
        for result in batch where result.status == 410 { print("delete \(result.token)") }
    }
    print(try await summary.verdict)
}
