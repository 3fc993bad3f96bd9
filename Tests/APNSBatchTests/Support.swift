import APNSBatchSimulator
import APNSBatchTestSupport
import Foundation

@testable import APNSBatch
@testable import APNSBatchModel

extension Campaign {
    /// Sets long time limits. An answer may take long on a busy machine or under a sanitizer, and only tests of
    /// resending want rows to be sent again because of that.
    mutating func bePatient() {
        (requestTimeout, answerPatience, pingPatience) = (.seconds(600), .seconds(600), .seconds(600))
    }
}

/// A simulator and a directory for one test, which both are removed with this object.
final class Stage {
    let occasion: Occasion
    let simulator: Simulator
    /// The port is the stage's own also after the simulator was stopped.
    private let reserved = ReservedPort()
    let directory: URL

    /// - Parameter change: makes further changes to the configuration of the simulator.
    init(
        script: SimulatorScript = SimulatorScript(), streams: UInt32 = 1000, occasion: Occasion? = nil,
        change: (inout SimulatorConfiguration) -> Void = { _ in }
    ) throws {
        self.occasion = try occasion ?? Occasion.make(hosts: ["localhost", "127.0.0.1"])
        simulator = try Self.simulator(
            self.occasion, script: script, streams: streams, port: reserved.number, change: change)
        _ = try simulator.start()
        directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private static func simulator(
        _ occasion: Occasion, script: SimulatorScript, streams: UInt32, port: UInt16,
        change: (inout SimulatorConfiguration) -> Void = { _ in }
    ) throws -> Simulator {
        var configuration = SimulatorConfiguration(occasion)
        configuration.script = script
        configuration.streams = streams
        configuration.topics = ["com.example.app"]
        configuration.port = port
        change(&configuration)
        return try Simulator(configuration)
    }

    var port: UInt16 { reserved.number }

    /// Ends the simulator and its connections, and starts another one on the same port.
    func replaceSimulator() throws -> Simulator {
        simulator.stop()
        let next = try Self.simulator(occasion, script: SimulatorScript(), streams: 1000, port: port)
        _ = try next.start()
        return next
    }

    deinit {
        simulator.stop()
        try? FileManager.default.removeItem(at: directory)
    }

    func write(_ text: String, to name: String) throws -> String {
        let url = directory.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    /// The credentials with which the sender signs.
    var credentials: Campaign.Credentials {
        .providerToken(keyPEM: occasion.signingKeyPEM, keyID: Occasion.keyID, teamID: Occasion.teamID)
    }

    /// Returns a campaign that sends these rows to the simulator. Each campaign has a new directory for its results.
    func campaign(rows: String) throws -> StagedCampaign {
        let input = try write(rows, to: "rows.csv")
        var campaign = Campaign(
            destination: .host("127.0.0.1", port: port), topic: "com.example.app",
            credentials: .providerToken(
                keyPEM: occasion.signingKeyPEM, keyID: Occasion.keyID, teamID: Occasion.teamID))
        campaign.authorities = occasion.authorityPEM
        campaign.systemTrust = false
        campaign.runDirectory = directory.appending(path: "run-\(UUID().uuidString)").path
        campaign.bePatient()
        return StagedCampaign(campaign: campaign, input: .file(input))
    }

    /// Returns the lines of a run's results by row, without the header.
    func results(_ run: CampaignRun) throws -> [UInt64: [String]] {
        let text = try String(contentsOfFile: run.directory + "/results.csv", encoding: .utf8)
        var lines = text.split(separator: "\n")
        precondition(
            lines.removeFirst().hasPrefix("row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id"))
        return Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                return (UInt64(fields[0])!, fields)
            })
    }
}

/// Returns a device token that is different for each number.
func token(_ number: Int) -> String {
    let hex = String(number, radix: 16)
    return String(repeating: "0", count: 64 - hex.count) + hex
}
