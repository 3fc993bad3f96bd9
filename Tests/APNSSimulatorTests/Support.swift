import APNSBatch
import APNSSimulator
import Foundation

/// A row of a campaign, as a program has it.
struct Push: CampaignRow, Sendable {
    var token: String
    var text = "Hi"

    static let columns = ["token", "text"]

    func encode(into row: inout RowEncoder) {
        row.append(token)
        row.append(text)
    }
}

/// Returns a device token that is different for each number.
func token(_ number: Int) -> String {
    let hex = String(number, radix: 16)
    return String(repeating: "0", count: 64 - hex.count) + hex
}

/// A campaign that is sent to a simulator, from a run directory of its own, which is removed with this object.
final class Trial: Sendable {
    let run: CampaignRun
    private let directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")

    /// - Parameter change: Changes settings of the campaign.
    init(
        _ rows: [Push], to simulator: Simulator, change: (inout Campaign) -> Void = { _ in }
    ) throws {
        var campaign = Campaign(
            destination: .production, topic: "com.example.app",
            credentials: .providerToken(keyPEM: [], keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
        campaign.template = .init(json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "payload.json")
        campaign.runDirectory = directory.path
        campaign.lanes = 1
        campaign.retryDelay = .milliseconds(5)
        // An answer may take long on a busy machine.
        (campaign.requestTimeout, campaign.answerPatience, campaign.pingPatience) = (
            .seconds(600), .seconds(600), .seconds(600)
        )
        campaign.redirect(to: simulator)
        change(&campaign)
        run = try CampaignRun(campaign, columns: Push.columns) { writer in
            for row in rows { try await writer.write(row) }
        }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Sends the campaign, and returns its summary and the results by token.
    func send() async throws -> (summary: CampaignSummary, results: [String: RowResult]) {
        let results = run.makeResults()
        async let summary = run.send()
        var found: [String: RowResult] = [:]
        for await batch in results { for result in batch { found[result.token] = result } }
        return (try await summary, found)
    }
}
