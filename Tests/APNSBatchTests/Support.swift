import APNSBatchSimulator
import Foundation

@testable import APNSBatch
@testable import APNSBatchModel

extension Campaign {
    /// On a machine that does much else, or under a sanitizer, an answer may take long: no reason to send a row again, but
    /// for tests of just that.
    mutating func bePatient() { (requestTimeout, answerPatience, pingPatience) = (600_000, 600, 600) }
}

/// A simulator and a directory for one test; both go with it.
final class Stage {
    let occasion: Occasion
    let simulator: Simulator
    let port: UInt16
    let directory: URL

    /// - Parameter change: what else the simulator is told.
    init(
        script: SimulatorScript = SimulatorScript(), streams: UInt32 = 1000, occasion: Occasion? = nil,
        change: (inout SimulatorConfiguration) -> Void = { _ in }
    ) throws {
        self.occasion = try occasion ?? Occasion.make(hosts: ["localhost", "127.0.0.1"])
        simulator = try Self.simulator(self.occasion, script: script, streams: streams, change: change)
        port = try simulator.start()
        directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private static func simulator(
        _ occasion: Occasion, script: SimulatorScript, streams: UInt32, port: UInt16 = 0,
        change: (inout SimulatorConfiguration) -> Void = { _ in }
    ) throws -> Simulator {
        var configuration = SimulatorConfiguration(
            certificatePEM: occasion.certificatePEM, keyPEM: occasion.keyPEM,
            providerKeys: [
                .init(keyID: Occasion.keyID, teamID: Occasion.teamID, publicKeyPEM: occasion.publicKeyPEM)
            ])
        configuration.script = script
        configuration.streams = streams
        configuration.topics = ["com.example.app"]
        configuration.port = port
        change(&configuration)
        return try Simulator(configuration)
    }

    /// Ends the simulator, its connections and what they wait for, and starts another one in its place.
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

    /// What the sender signs with.
    var credentials: Campaign.Credentials {
        .providerToken(keyPEM: occasion.signingKeyPEM, keyID: Occasion.keyID, teamID: Occasion.teamID)
    }

    /// A campaign of these rows to the simulator; results go to a new directory each.
    func campaign(rows: String) throws -> Campaign {
        var campaign = Campaign(
            input: .file(try write(rows, to: "rows.csv")), destination: .host("127.0.0.1", port: port),
            topic: "com.example.app",
            credentials: .providerToken(
                keyPEM: occasion.signingKeyPEM, keyID: Occasion.keyID, teamID: Occasion.teamID))
        campaign.authorities = occasion.authorityPEM
        campaign.systemTrust = false
        campaign.runDirectory = directory.appending(path: "run-\(UUID().uuidString)").path
        campaign.bePatient()
        return campaign
    }

    /// The lines of a run's results without the header, by row.
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

/// Distinct device tokens.
func token(_ number: Int) -> String {
    let hex = String(number, radix: 16)
    return String(repeating: "0", count: 64 - hex.count) + hex
}
