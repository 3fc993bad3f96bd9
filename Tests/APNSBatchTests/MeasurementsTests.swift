import APNSBatchIdentities
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("What is measured of a run") struct MeasurementsTests {
    @Test("Answers, refusals, retries and turns of a run that has ended agree with its summary")
    func counts() async throws {
        let script = SimulatorScript(rules: [
            SimulatorRule(share: 0.1, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
            SimulatorRule(share: 0.1, status: 429, reason: "TooManyRequests", times: 1),
            SimulatorRule(share: 0.1, status: 499, reason: "Odd"),
        ])
        let stage = try Stage(script: script)
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        let rows = (0..<2000).map { "\(token($0)),\(payload)\n" }.joined()
        var campaign = try stage.campaign(rows: "token,payload\n" + rows + "zz,\(payload)\n")
        campaign.retryDelay = .milliseconds(5)
        let run = try CampaignRun(campaign)
        #expect(run.measurements.turns == 0 && run.measurements.answers.total == 0)
        let summary = try await run.send()
        let measured = run.measurements
        #expect(summary.accepted > 1000 && measured.accepted == summary.accepted)
        var refused: [String: UInt64] = [:]
        measured.refusals.forEach { status, reason, count in
            if count > 0 { refused["\(status) \(reason)"] = count }
        }
        let retries = summary.lastSession.retries.values.reduce(0, +)
        #expect(
            refused == [
                "410 Unregistered": summary.reasons["Unregistered"], "4xx other": summary.reasons["Odd"],
                "429 TooManyRequests": retries,
            ])
        #expect(retries > 100 && measured.progress.account?.retryCount == retries)
        #expect(measured.answers.total == measured.accepted + measured.refusals.total)
        #expect(measured.progress.invalid == 1 && measured.turns > 0)
        #expect(measured.cpuSeconds > 0 && measured.rssBytes > 1 << 20)
    }

    @Test("The end of a client certificate is known by its name")
    func certificates() async throws {
        let stage = try Stage()
        let client = try SelfSignedClient.make(userID: "com.example.app", commonName: "Push", days: 90)
        var campaign = try stage.campaign(rows: "token,payload\n")
        campaign.credentials = .certificate(chainPEM: client.certificatePEM, keyPEM: client.keyPEM)
        let ends = try CampaignRun(campaign).measurements.certificateEnds
        let days = Double(ends["Push"] ?? 0) / 86_400 - Date.now.timeIntervalSince1970 / 86_400
        #expect(ends.count == 1 && abs(days - 90) < 1)
    }
}
