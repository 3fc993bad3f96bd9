import APNSBatchBasics
import APNSBatchSimulator
import ArgumentParser
import Foundation

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Runs a simulator of APNs that validates requests, answers by script and counts.",
        discussion: """
            Without --cert and --provider-key, it makes a certificate and a signing key and
            writes them to --directory, together with the files that send needs. Simulators
            with the same directory share them. Files that the simulator did not make are
            never overwritten.

            Examples:
              apns-batch simulate --port 2197
              apns-batch simulate --port 2197 --script faults.yaml --counts counts.csv
              apns-batch simulate --port 0 --cert cert.pem --key key.pem \\
                  --provider-key AuthKey.pub.pem --key-id ABC123DEFG --team-id DEF123GHIJ
              apns-batch simulate --port 2197 \\
                --provider-key a.pem:KEYA000001:TEAMA00001:com.example.a \\
                --provider-key b.pem:KEYB000001:TEAMB00001

            It serves pushes (/3/device/), broadcasts (/4/broadcasts/apps/) and channel
            management (/1/apps/). It starts without channels. With --client-ca it accepts
            client certificates too; the UID of the subject is the app's bundle id.

            A script:
              seed: 1
              rules:
                - { share: 0.03, status: 410, reason: Unregistered }
                - { share: 0.01, status: 503, reason: Shutdown, times: 1, retry_after: 2 }
              latency: { distribution: lognormal, median_ms: 20, sigma: 0.5 }
              answers_per_second: 20000
              faults:
                - { when: { after: 500 }, goaway: { debug: '{"reason":"Shutdown"}' } }

            A hash of seed and token determines which token gets which answer.
            docs/integrate/simulator.md lists the faults. On SIGINT or SIGTERM the simulator
            writes the counts, prints a summary and ends.
            """)

    @Option(help: "Port to listen on, or 0 to let the system choose one.")
    var port: UInt16 = 2197

    @Option(
        help: "Separate port for channel management, or 0 to let the system choose one. (default: one port for all)")
    var managePort: UInt16?

    @Option(help: "Address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "production, or sandbox, which adds apns-unique-id to answers.")
    var environment = SimulatorConfiguration.Environment.production

    @Option(help: "Server certificate (PEM).", completion: .file())
    var cert: String?

    @Option(help: "Private key of the certificate (PEM).", completion: .file())
    var key: String?

    @Option(
        help: """
            Public key of provider tokens (PEM): FILE with --key-id and --team-id, or FILE:KEYID:TEAMID or \
            FILE:KEYID:TEAMID:TOPICS. Repeatable.
            """, completion: .file())
    var providerKey: [String] = []

    @Option(help: "Key id of a --provider-key that has none.")
    var keyId = Occasion.keyID

    @Option(help: "Team id of a --provider-key that has none.")
    var teamId = Occasion.teamID

    @Option(help: "Topics for keys that name none, separated by commas. (default: any)")
    var topics: String?

    @Option(
        help: "CA of client certificates (PEM). If given, client certificates are requested. (default: none)",
        completion: .file())
    var clientCa: String?

    @Option(help: "Report BadCertificateEnvironment for all client certificates: none (never), answer or goaway.")
    var certificateFault = SimulatorConfiguration.CertificateFault.none

    @Option(help: "Apps that may broadcast, separated by commas. (default: all)")
    var broadcastApps: String?

    @Option(help: "Maximum number of channels of one app.")
    var channelLimit = 10_000

    @Option(help: "Maximum age of a provider token, in seconds.")
    var tokenLifetime: Int64 = 3600

    @Option(help: "Minimum time between two provider tokens on one connection, in seconds.")
    var tokenUpdateInterval: Int64 = 1200

    @Option(help: "Offset of the clock in seconds, for checks of provider tokens and for the date header.")
    var clockOffset: Int64 = 0

    @Option(
        help: "Script with answers, latency, faults and seed (YAML).", completion: .file(extensions: ["yaml", "yml"]))
    var script: String?

    @Option(help: "File to write the request counts of each token to: token,received,accepted.", completion: .file())
    var counts: String?

    @Option(
        help: """
            File to write the times of requests to: monotonic_ns,since_ns,requests, with a line for each poll that \
            returned requests. They arrived between the two times.
            """, completion: .file())
    var arrivals: String?

    @Option(
        help: "io_uring or epoll. (default: io_uring where the kernel allows it)",
        completion: .list(["io_uring", "epoll"]))
    var loop: String?

    @Option(help: "Directory for the certificate and key that the simulator makes.", completion: .directory)
    var directory = "simulator"

    func run() async throws {
        let simulator = try reporting { try Simulator(try configuration()) }
        let bound = try reporting { try simulator.start() }
        await withCheckedContinuation { continuation in
            // A caller that waits for the line that it listens may stop it at once, and needs its counts.
            Signals.onStop { _ in continuation.resume() }
            if cert == nil || providerKey.isEmpty { say(sendFlags(port: bound)) }
            say("listening on \(host):\(bound)")
            if let port = simulator.managementPort { say("channels on \(host):\(port)") }
        }
        let report = simulator.stop()
        for line in Self.lines(report) { say(line) }
        for failure in report.failures { complain(failure) }
        if !report.failures.isEmpty { throw ExitStatus.interrupted }
    }

    private func sendFlags(port: UInt16) -> String {
        let address = host.contains(":") ? "[\(host)]" : host
        var flags = ["apns-batch send --input rows.csv --to \(address):\(port)"]
        if cert == nil { flags.append("--ca-file \(directory)/\(OccasionDirectory.authorityFile)") }
        if providerKey.isEmpty {
            flags.append(
                "--key-file \(directory)/\(OccasionDirectory.signingKeyFile) --key-id \(keyId) --team-id \(teamId)")
        }
        return "to send here: " + flags.joined(separator: " ") + " --topic com.example.app"
    }

    /// Writes a line to standard output without buffering. A failure does not end the simulator before its time.
    private func say(_ text: String) {
        Output.line(text)
        _ = Output.isComplete()
    }
}
