// Sends a campaign at most once: a row that may have arrived is reported, and not sent again.
import APNSBatch
import APNSSimulator
import Foundation

let folder = FileManager.default.temporaryDirectory.appending(path: "at-most-once-\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let rowsPath = folder.appending(path: "rows.csv").path
let tokens = (0..<1_000).map { String(repeating: "0", count: 60) + String($0 + 0x1000, radix: 16) }
try Data((["token"] + tokens).joined(separator: "\n").utf8).write(to: URL(filePath: rowsPath))

// The connection breaks down once while answers are awaited.
let fault = Simulator.Fault.closeConnection(at: .request(500))
try await withSimulator(.init(answer: .init(status: 200, delay: .milliseconds(5)), faults: [fault])) { simulator in
    var campaign = Campaign(destination: .production, topic: "com.example.app", credentials: .none)
    campaign.template = .init(json: Array(#"{"aps":{"alert":"Your code is 4711."}}"#.utf8), name: "code")
    campaign.runDirectory = folder.appending(path: "run").path
    campaign.redirect(to: simulator)

    // snippet.policy
    campaign.onUnknown = .report
    let run = try CampaignRun(campaign, input: .file(rowsPath))
    let summary = try await run.send()
    print(summary.unknown, "rows may have arrived, and were not sent again")
    // snippet.end
    precondition(summary.rows == 1_000 && summary.unknown > 0 && summary.resent == 0, summary.verdict)

    // snippet.status
    let status = try RunStatus(of: run.directory)
    print(status.state, status.rowsRead, status.isInputRead)
    // snippet.end
    let report = await simulator.report()
    precondition(report.deviceTokensAgain == 0, "\(report)")
}
