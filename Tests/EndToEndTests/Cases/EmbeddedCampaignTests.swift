import APNSBatch
import Foundation
import Testing

extension EndToEnd {
    /// A campaign that the command sends, and the same campaign of a program that embeds the library.
    @Suite struct EmbeddedCampaign {
        private static let id = "0b4f1f3c-7d6e-4a8f-9b1a-2c3d4e5f6071"
        private static let script = Script(
            seed: 5,
            rules: [
                .init(share: 0.2, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
                .init(share: 0.1, status: 503, reason: "ServiceUnavailable", times: 1),
            ])

        @Test func `the ids, the results and the summary are those of the command`() async throws {
            let sender = try Sender()
            let input = try sender.makeRows(300)
            let flags = ["--template", Sender.template, "--campaign-id", Self.id, "--retry-delay", "1"]
            let first = try SimulatorProcess(sender, script: Self.script)
            let sent = try sender.send(input, to: first.port, flags, expecting: 0).results
            let second = try SimulatorProcess(sender, script: Self.script)
            let embedded = try await embed(sender, input, to: second.port)

            #expect(embedded.lines == sent.lines && embedded.lines.count == 300)
            #expect(embedded.count("accepted") > 0 && embedded.count("rejected") > 0)
            #expect(try facts(embedded) == facts(sent))
            #expect(try second.stop() == first.stop())
        }

        /// Sends the campaign with the library, and returns what it wrote.
        private func embed(_ sender: Sender, _ input: String, to port: UInt16) async throws -> RunResults {
            var campaign = Campaign(
                destination: .host("localhost", port: port), topic: TestCredentials.topic,
                credentials: .providerToken(
                    keyPEM: try bytes(sender.credentials.providerKey), keyID: TestCredentials.keyID,
                    teamID: TestCredentials.teamID))
            campaign.authorities = try bytes(sender.credentials.authority)
            campaign.template = .init(json: try bytes(Sender.template), name: Sender.template)
            campaign.id = CampaignID(Self.id)
            campaign.retryDelay = .milliseconds(1)
            campaign.runDirectory = sender.newRunDirectory()
            let run = try await CampaignRun.prepare { [campaign] in
                try CampaignRun(campaign, input: .file(input))
            }
            let summary = try await run.send()
            let results = try RunResults(run.directory)
            #expect(summary.accepted == UInt64(results.count("accepted")) && summary.isClean)
            return results
        }

        private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

        /// The summary without what differs between any two runs: times, connections, places and resources.
        private func facts(_ results: RunResults) throws -> [String: String] {
            var summary = results.summary
            summary["all_sessions"] = nil
            summary["last_session"] = nil
            var campaign = try #require(summary["campaign"] as? [String: Any])
            for name in ["began", "ended", "destination"] { #expect(campaign.removeValue(forKey: name) != nil) }
            summary["campaign"] = campaign
            // It ends with the time that the run took, if that was a second or more.
            summary["verdict"] = try #require(summary["verdict"] as? String).replacing(#/, in .*/#, with: "")
            return try summary.mapValues {
                String(
                    decoding: try JSONSerialization.data(withJSONObject: [$0], options: .sortedKeys), as: UTF8.self)
            }
        }
    }
}
