import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchSimulator
import Foundation

@testable import APNSBatchModel

/// A simulator that knows two teams with two keys each, and a directory. Both are removed with this object.
final class TeamsStage {
    /// A key of a team, as the sender knows it.
    struct Key {
        let keyID: String
        let teamID: String
        let signer: SigningKey

        var credentials: Campaign.Credentials {
            get throws { .providerToken(keyPEM: try signer.privateKeyPEM, keyID: keyID, teamID: teamID) }
        }
    }

    static let topics = ["com.one.app", "com.one.game", "com.two.app"]

    /// Two keys of team one and two keys of team two.
    let keys: [Key]
    let simulator: Simulator
    private let occasion: Occasion
    private let port: UInt16
    private let directory: URL

    /// - Parameters:
    ///   - lifetime: the maximum age of provider tokens that the simulator accepts, in seconds.
    ///   - unknown: the indexes of keys that the simulator does not know.
    init(
        script: SimulatorScript = SimulatorScript(), streams: UInt32 = 1000, lifetime: Int64 = 3600,
        unknown: Set<Int> = []
    ) throws {
        occasion = try Occasion.make(hosts: ["localhost", "127.0.0.1"])
        keys = try ["TEAMONE001", "TEAMONE001", "TEAMTWO002", "TEAMTWO002"].enumerated().map {
            Key(keyID: "KEY000000\($0)", teamID: $1, signer: try SigningKey.generate())
        }
        var configuration = SimulatorConfiguration(
            certificatePEM: occasion.certificatePEM, keyPEM: occasion.keyPEM,
            providerKeys: try keys.enumerated().filter { !unknown.contains($0.offset) }.map { _, key in
                .init(keyID: key.keyID, teamID: key.teamID, publicKeyPEM: try key.signer.publicKeyPEM)
            })
        configuration.script = script
        configuration.streams = streams
        configuration.topics = Self.topics
        configuration.tokenLifetime = lifetime
        simulator = try Simulator(configuration)
        port = try simulator.start()
        directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        simulator.stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Returns team one with two topics, and team two with one.
    func providers(_ one: Int = 0, _ two: Int = 2) throws -> [Campaign.Provider] {
        [
            .init(topics: [Self.topics[0], Self.topics[1]], credentials: try keys[one].credentials),
            .init(topics: [Self.topics[2]], credentials: try keys[two].credentials),
        ]
    }

    /// Returns rows with their own topics, which `topic` chooses by the row number.
    static func rows(_ count: Int, topic: (Int) -> String = { topics[$0 % 3] }) -> String {
        "token,topic,payload\n"
            + (0..<count).map { "\(token($0)),\(topic($0)),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n" }.joined()
    }

    func campaign(rows: String) throws -> StagedCampaign {
        let input = directory.appending(path: "rows.csv")
        try Data(rows.utf8).write(to: input)
        var campaign = Campaign(
            destination: .host("127.0.0.1", port: port), topic: nil, providers: try providers())
        campaign.authorities = occasion.authorityPEM
        campaign.systemTrust = false
        campaign.runDirectory = directory.appending(path: "run-\(UUID().uuidString)").path
        campaign.id = CampaignID((1, 2))
        campaign.bePatient()
        return StagedCampaign(campaign: campaign, input: .file(input.path))
    }
}
