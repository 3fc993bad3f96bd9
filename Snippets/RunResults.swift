// Takes the results of a campaign while it goes on, and removes the tokens of devices that have deleted the app.
import APNSBatch
import APNSSimulator
import Foundation

let folder = FileManager.default.temporaryDirectory.appending(path: "run-results-\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let rowsPath = folder.appending(path: "rows.csv").path
let tokens = (0..<5_000).map { String(repeating: "0", count: 60) + String($0 + 0x1000, radix: 16) }
try Data((["token,user_id"] + tokens.enumerated().map { "\($1),\($0)" }).joined(separator: "\n").utf8)
    .write(to: URL(filePath: rowsPath))

// snippet.store
/// The device tokens of the app's users.
actor TokenStore {
    private var registered: [String: UInt64]

    init(_ tokens: [String]) { registered = Dictionary(uniqueKeysWithValues: tokens.map { ($0, 0) }) }

    var count: Int { registered.count }

    /// Removes a token, unless the app has registered it again since APNs found that it is not active.
    func remove(_ token: String, inactiveSince time: UInt64) {
        if let since = registered[token], since < time { registered[token] = nil }
    }
}
// snippet.end

let store = TokenStore(tokens)

try await withSimulator { simulator in
    for token in tokens.prefix(10) { try simulator.answer(token, with: .unregistered) }
    var campaign = Campaign(destination: .production, topic: "com.example.app", credentials: .none)
    campaign.template = .init(json: Array(#"{"aps":{"alert":"Hello"}}"#.utf8), name: "hello")
    campaign.runDirectory = folder.appending(path: "run").path
    campaign.redirect(to: simulator)

    // snippet.stream
    campaign.resultColumns = ["user_id"]
    let run = try CampaignRun(campaign, input: .file(rowsPath))
    let results = run.makeResults()
    async let summary = run.send()
    for await batch in results {
        for result in batch {
            if result.status == 410, let time = result.inactiveSince {
                await store.remove(result.token, inactiveSince: time)
            } else if result.outcome != .accepted {
                print(result.columns[0], result.outcome, result.reason ?? "")
            }
        }
    }
    print(try await summary.verdict)
    // snippet.end
    let (accepted, left) = (try await summary.accepted, await store.count)
    precondition(accepted == 4_990 && left == 4_990, "\(accepted) accepted, \(left) left")
}
