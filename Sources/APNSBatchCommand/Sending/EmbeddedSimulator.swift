import APNSBatch
import APNSBatchSimulator

/// The simulator inside this process, which `--to simulator` starts.
final class EmbeddedSimulator: Sendable {
    /// The topic of campaigns that name none.
    static let topic = "com.example.app"

    let destination: Campaign.Destination
    let credentials: Campaign.Credentials
    let authority: [UInt8]
    private let simulator: Simulator?

    private init(_ occasion: Occasion, port: UInt16, simulator: Simulator?) {
        destination = .host("127.0.0.1", port: port)
        credentials = .providerToken(
            keyPEM: occasion.signingKeyPEM, keyID: Occasion.keyID, teamID: Occasion.teamID)
        authority = occasion.authorityPEM
        self.simulator = simulator
    }

    /// Starts the simulator if the settings send to it.
    ///
    /// - Parameter broadcasts: whether every channel that a row names exists in the simulator.
    static func ifWanted(_ settings: CampaignSettings, broadcasts: Bool = false) throws -> EmbeddedSimulator? {
        guard settings.to == "simulator" else {
            guard settings.simulatorScript == nil else {
                throw UsageError("--simulator-script needs --to simulator")
            }
            return nil
        }
        let occasion = try Occasion.make(hosts: ["localhost", "127.0.0.1"])
        var configuration = SimulatorConfiguration(occasion)
        configuration.knowsAllChannels = broadcasts
        if let script = settings.simulatorScript { configuration.script = try Simulate.read(script: script) }
        do {
            let simulator = try Simulator(configuration)
            return EmbeddedSimulator(occasion, port: try simulator.start(), simulator: simulator)
        } catch SimulatorError.system(let text) {
            throw SystemError("simulator: \(text)")
        } catch {
            throw UsageError("simulator: \(error)", cause: error)
        }
    }

    /// Returns the simulator's names and credentials without starting a server, for `render`.
    static func forRendering(_ settings: CampaignSettings) throws -> EmbeddedSimulator? {
        guard settings.to == "simulator" else { return nil }
        return EmbeddedSimulator(try Occasion.make(hosts: ["localhost"]), port: 443, simulator: nil)
    }

    func stop() { _ = simulator?.stop() }
}
