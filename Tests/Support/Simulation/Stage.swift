import APNSBatch
import APNSBatchModel
import APNSBatchRows
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTransport
import Glibc

/// Creates the objects of a simulation.
enum Stage {
    /// The ids of keys that the simulator knows.
    static let keyIDs = ["SIMULATED1", "SIMULATED2"]
    private static let teamID = "SIMTEAM001"
    static let topic = "com.example.app"
    /// The time at which a simulation begins, in seconds since the epoch.
    private static let epoch: UInt64 = 1_700_000_000
    /// A key that is read and never used for signing.
    private static let occasion = try? Occasion.make(hosts: ["simulated"])

    static func simulator(_ plan: SeedPlan, _ witness: any SimulatorProbe, _ world: SimulatedWorld) throws
        -> SteppedSimulator
    {
        var configuration = SimulatorConfiguration(
            certificatePEM: [], keyPEM: [],
            providerKeys: keyIDs.map { .init(keyID: $0, teamID: teamID, publicKeyPEM: []) })
        configuration.script = plan.script
        configuration.topics = [topic]
        configuration.streams = plan.streams
        configuration.streamsBeforeToken = 1
        configuration.streamWindow = plan.streamWindow
        if let mintAfter = plan.mintAfter {
            configuration.tokenLifetime = Int64(3 * mintAfter + 2)
            configuration.tokenUpdateInterval = Int64(mintAfter)
        }
        configuration.connections = UInt32(max(64, 2 * plan.lanes * plan.connections))
        configuration.streamsTotal = 8192
        // If the server closed the connection of a client that stands still, the client could not know which of its
        // requests were processed.
        if plan.onlyStandsStill { configuration.connectTimeout = 600_000 }
        configuration.probe = witness
        configuration.port = 443
        let start = world.now
        configuration.clock = { [unowned world] in Int64(epoch * 1000 + (world.now - start) / 1_000_000) }
        return try SteppedSimulator(configuration, make: world.open) { message, signature in
            signature == sign(Array(message))
        }
    }

    /// The credentials with one of the keys.
    static func credentials(_ key: Int) -> Campaign.Credentials {
        .providerToken(keyPEM: occasion?.signingKeyPEM ?? [], keyID: keyIDs[key], teamID: teamID)
    }

    /// - Parameter policy: the policy for rows that may have been sent.
    static func campaign(
        _ plan: SeedPlan, port: UInt16, policy: UnknownPolicy, lanes: Int, hasCanary: Bool
    ) -> Campaign {
        var campaign = Campaign(
            destination: .host("simulated", port: port), topic: topic,
            credentials: credentials(0))
        campaign.template = .init(json: Array(#"{"aps":{"alert":"Hello {{name}}"}}"#.utf8), name: "payload.json")
        campaign.id = CampaignID((plan.seed, ~plan.seed))
        campaign.runDirectory = "simulated"
        campaign.onUnknown = policy
        campaign.syncInterval = .milliseconds(plan.syncInterval)
        campaign.notAfter = plan.notAfter.map { .after(.seconds($0)) }
        if hasCanary, let canary = plan.canary {
            campaign.canary = .init(rows: canary.rows, maxRejectedPercent: canary.percent)
        }
        campaign.rateLimit = plan.rateLimit
        campaign.lanes = lanes
        campaign.systemTrust = false
        if let mintAfter = plan.mintAfter {
            campaign.tokenRotation = .init(mintAfter: .seconds(mintAfter), retireAfter: .seconds(2 * mintAfter + 1))
        }
        campaign.connections = plan.connections
        campaign.attempts = plan.attempts
        campaign.retryDelay = .milliseconds(plan.retryDelay)
        // Campaigns of a few rows, of which most may be invalid, are sent all the same.
        campaign.circuitBreaker.shares[Campaign.CircuitBreaker.invalidRows] = .never
        campaign.requestTimeout = .milliseconds(plan.requestTimeout)
        return campaign
    }

    static func surroundings(
        _ plan: SeedPlan, _ world: SimulatedWorld, port: UInt16
    ) -> Surroundings {
        var surroundings = Surroundings()
        let start = world.now
        surroundings.open = { world.open(&$0, &$1, &$2, &$3) }
        surroundings.seconds = { epoch + (world.now - start) / 1_000_000_000 }
        surroundings.monotonic = { world.now }
        surroundings.resolve = { _, port in try HostResolver.resolve(host: "127.0.0.1", port: port) }
        // The share of the time in which the lane worked, from none to nine tenths.
        surroundings.worked = { (world.now - start) / 10 * (plan.seed % 10) }
        surroundings.aside = { _, work in
            work()
            return true
        }
        surroundings.rowLimits = RowLimits(chunkBytes: plan.chunkBytes, fieldBytes: 8192, recordBytes: 8192)
        if let outcomes = plan.outcomesPerBatch, let bytes = plan.lineBytes {
            // There are enough batches for all rows, because a lane that waits for the writer would wait forever.
            surroundings.batchesPerLane = plan.rows.count + 3
            surroundings.outcomesPerBatch = outcomes
            surroundings.lineBytes = bytes
        }
        surroundings.sign = sign
        return surroundings
    }

    /// Returns a replacement for a signature, which is the same for the same message.
    @Sendable private static func sign(_ message: [UInt8]) -> [UInt8] {
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in message { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var dice = Dice(seed: state)
        return (0..<64).map { _ in UInt8(truncatingIfNeeded: dice.next() >> 11) }
    }

    static func write(_ rows: [InputRow], to path: String) throws {
        let text = Array((InputRow.header + rows.map(\.line).joined()).utf8)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "cannot write \(path)") }
        defer { close(file) }
        guard Glibc.write(file, text, text.count) == text.count else {
            throw Failure(description: "cannot write \(path)")
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
