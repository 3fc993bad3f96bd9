import APNSSimulator
import ArgumentParser
import Foundation

/// `apns-batch simulate`.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the simulator: an APNs that validates, answers by script and counts.",
        discussion: """
            Without --cert and --provider-key it makes a certificate and a signing key for the occasion and puts them into
            --directory, with what send needs to use them.

            Examples:
              apns-batch simulate --port 2197
              apns-batch simulate --port 2197 --script faults.yaml --counts counts.csv
              apns-batch simulate --port 0 --cert cert.pem --key key.pem \\
                  --provider-key AuthKey.pub.pem --key-id ABC123DEFG --team-id DEF123GHIJ

            A script:
              seed: 1
              rules:
                - { share: 0.03, status: 410, reason: Unregistered }

            Which token gets which answer follows from a hash of seed and token. SIGINT or SIGTERM ends it; then the counts
            are written and a summary is printed.
            """)

    @Option(help: "Port to listen on; 0 lets the system choose.")
    var port: UInt16 = 2197

    @Option(help: "Address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "Server certificate (PEM).")
    var cert: String?

    @Option(help: "Its private key (PEM).")
    var key: String?

    @Option(help: "Public key of the provider tokens (PEM).")
    var providerKey: String?

    @Option(help: "Id of that key.")
    var keyId = Occasion.keyID

    @Option(help: "Team that may use it.")
    var teamId = Occasion.teamID

    @Option(help: "Topics that the key may push to, separated by commas. (default: any)")
    var topics: String?

    @Option(help: "Answers, latency and seed (YAML).")
    var script: String?

    @Option(help: "Where to write how often each token came: token,received,accepted.")
    var counts: String?

    @Option(help: "io_uring or epoll. (default: io_uring where the kernel allows it)")
    var loop: String?

    @Option(help: "Where a certificate and a key made for the occasion go.")
    var directory = "simulator"

    func run() async throws {
        let (configuration, occasion) = try reporting { try self.configuration() }
        let simulator = try reporting { try Self.failing { () throws(SimulatorError) in try Simulator(configuration) } }
        let bound = try reporting { try Self.failing { () throws(SimulatorError) in try simulator.start() } }
        // Only now: a second simulator on a port in use must not touch the files of the first.
        if let occasion {
            try reporting { try Self.failing { () throws(SimulatorError) in try occasion.write(to: directory) } }
            say(sendFlags(port: bound))
        }
        say("listening on \(host):\(bound)")
        await withCheckedContinuation { continuation in
            Signals.onStop { _ in continuation.resume() }
        }
        report(simulator.stop())
    }

    private static func failing<T>(_ body: () throws(SimulatorError) -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw UsageError("\(error)")
        }
    }

    private func configuration() throws -> (SimulatorConfiguration, Occasion?) {
        guard (cert == nil) == (key == nil) else { throw UsageError("--cert and --key go together") }
        var occasion: Occasion?
        if cert == nil || providerKey == nil {
            let hosts = [host, "localhost", "127.0.0.1", "::1"]
            occasion = try Self.failing { () throws(SimulatorError) in try Occasion.make(hosts: hosts) }
        }
        var configuration = SimulatorConfiguration(
            certificatePEM: try cert.map { try CampaignFile.bytes(of: $0) } ?? occasion!.certificatePEM,
            keyPEM: try key.map { try CampaignFile.bytes(of: $0) } ?? occasion!.keyPEM,
            providerKeys: [
                .init(
                    keyID: keyId, teamID: teamId,
                    publicKeyPEM: try providerKey.map { try CampaignFile.bytes(of: $0) } ?? occasion!.publicKeyPEM)
            ])
        configuration.host = host
        configuration.port = port
        configuration.topics = topics?.split(separator: ",").map(String.init)
        configuration.countsPath = counts
        if let loop { configuration.loop = try Self.loop(loop) }
        if let script { configuration.script = try Self.read(script: script) }
        return (configuration, occasion)
    }

    private func sendFlags(port: UInt16) -> String {
        let address = host.contains(":") ? "[\(host)]" : host
        var flags = ["apns-batch send --input rows.csv --to \(address):\(port)"]
        if cert == nil { flags.append("--ca-file \(directory)/\(Occasion.authorityFile)") }
        if providerKey == nil {
            flags.append("--key-file \(directory)/\(Occasion.signingKeyFile) --key-id \(keyId) --team-id \(teamId)")
        }
        return "to send here: " + flags.joined(separator: " ") + " --topic com.example.app"
    }

    private static func loop(_ text: String) throws -> SimulatorConfiguration.Loop {
        switch text {
        case "io_uring": .ioUring
        case "epoll": .epoll
        default: throw UsageError("--loop: expected io_uring or epoll, found \"\(text)\"")
        }
    }

    /// A script, checked.
    static func read(script path: String) throws -> SimulatorScript {
        let script = try CampaignFile.decode(SimulatorScript.self, from: path, keys: nil)
        if let fault = script.fault() { throw UsageError("\(path): \(fault)") }
        return script
    }

    private func report(_ report: SimulatorReport) {
        for answer in report.answers {
            say("answered \(answer.status)\(answer.reason.isEmpty ? "" : " \(answer.reason)"): \(answer.count)")
        }
        say(
            "requests=\(report.requests) accepted=\(report.accepted) tokens=\(report.tokens) "
                + "received_again=\(report.tokensReceivedAgain) connections=\(report.connections)")
    }

    /// A line on standard output, at once.
    private func say(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8)) }
}
