// Sends a campaign whose rows this program makes, is stopped, and continues where it was.
import APNSBatch
import APNSSimulator
import Foundation

let runDirectory = FileManager.default.temporaryDirectory.appending(path: "program-rows-\(UUID())").path
defer { try? FileManager.default.removeItem(atPath: runDirectory) }

// snippet.row
struct User: CampaignRow {
    var id: Int
    var token: String
    var name: String

    static let columns = ["token", "name", "user_id"]

    func encode(into row: inout RowEncoder) {
        row.append(token)
        row.append(name)
        row.append(id)
    }
}
// snippet.end

/// In place of a database.
struct Users: AsyncSequence, Sendable {
    var range = 0..<20_000

    struct AsyncIterator: AsyncIteratorProtocol {
        var ids: Range<Int>.Iterator

        mutating func next() async throws -> User? {
            ids.next().map { id in
                let digits = String(id, radix: 16)
                let token = String(repeating: "0", count: 64 - digits.count) + digits
                return User(id: id, token: token, name: "User \(id)")
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(ids: range.makeIterator()) }
}

let users = Users()
let template = #"{"aps":{"alert":"Hello {{name}}"}}"#

try await withSimulator { simulator in
    var campaign = Campaign(destination: .production, topic: "com.example.app", credentials: .none)
    campaign.redirect(to: simulator)
    // snippet.campaign
    campaign.template = .init(json: Array(template.utf8), name: "greeting")
    campaign.resultColumns = ["user_id"]
    campaign.runDirectory = runDirectory
    // snippet.end

    // snippet.sequence
    let run = try CampaignRun(campaign, rows: users, resuming: .ifStarted)
    // snippet.end
    async let first = run.send()
    try await simulator.waitForRequests(5_000)
    run.stop()
    let (stopped, sent) = (try await first, simulator.requestsForgotten + simulator.requests.count)
    print(stopped.verdict, sent)

    // snippet.closure
    let second = try CampaignRun(
        campaign, columns: ["token", "name", "user_id"], resuming: .ifStarted
    ) { writer in
        // The first rows that an earlier session took are in the run directory.
        writer.skipTakenRows()
        for try await user in Users(range: Int(writer.taken)..<20_000) {
            try await writer.write { row in
                row.append(user.token)
                row.append(user.name)
                row.append(user.id)
            }
        }
    }
    let summary = try await second.send()
    // snippet.end
    print(summary.verdict)
    precondition(summary.accepted == 20_000 && summary.sessions == 2, summary.verdict)

    // snippet.again
    // A program that is started again finds the run complete: no row is made or sent.
    let third = try CampaignRun(campaign, rows: users, resuming: .ifStarted)
    let same = try await third.send()
    precondition(third.wasComplete && same.accepted == summary.accepted)
    // snippet.end
    let report = await simulator.report()
    precondition(report.deviceTokens == 20_000 && report.deviceTokensAgain == 0, "\(report)")
}
