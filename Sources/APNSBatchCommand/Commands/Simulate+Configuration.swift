import APNSBatchBasics
import APNSBatchSimulator
import ArgumentParser

extension SimulatorConfiguration.Environment: ExpressibleByArgument {}
extension SimulatorConfiguration.CertificateFault: ExpressibleByArgument {}

extension Simulate {
    func configuration() throws -> SimulatorConfiguration {
        guard (cert == nil) == (key == nil) else { throw UsageError("--cert and --key go together") }
        var occasion: Occasion?
        if cert == nil || providerKey.isEmpty {
            occasion = try OccasionDirectory(directory, hosts: [host, "localhost", "127.0.0.1", "::1"]).occasion()
        }
        var configuration = SimulatorConfiguration(
            certificatePEM: try cert.map { try InputFile.bytes(of: $0) } ?? occasion!.certificatePEM,
            keyPEM: try key.map { try InputFile.bytes(of: $0) } ?? occasion!.keyPEM,
            providerKeys: try providerKeys(occasion))
        configuration.host = host
        configuration.port = port
        configuration.managementPort = managePort
        configuration.topics = Self.list(topics)
        configuration.broadcastApps = Self.list(broadcastApps)
        configuration.channelsMaximum = channelLimit
        configuration.tokenLifetime = tokenLifetime
        configuration.tokenUpdateInterval = tokenUpdateInterval
        configuration.clockOffset = clockOffset
        configuration.countsPath = counts
        configuration.arrivalsPath = arrivals
        configuration.clientAuthorityPEM = try clientCa.map { try InputFile.bytes(of: $0) }
        configuration.environment = environment
        configuration.certificateFault = certificateFault
        if let loop { configuration.loop = try Self.loop(loop) }
        if let script { configuration.script = try Self.read(script: script) }
        return configuration
    }

    private func providerKeys(_ occasion: Occasion?) throws -> [SimulatorConfiguration.ProviderKey] {
        guard !providerKey.isEmpty else {
            return [.init(keyID: keyId, teamID: teamId, publicKeyPEM: occasion!.publicKeyPEM)]
        }
        return try providerKey.map { text in
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            switch parts.count {
            case 1: return .init(keyID: keyId, teamID: teamId, publicKeyPEM: try InputFile.bytes(of: text))
            case 3, 4:
                var key = SimulatorConfiguration.ProviderKey(
                    keyID: parts[1], teamID: parts[2], publicKeyPEM: try InputFile.bytes(of: parts[0]))
                key.topics = parts.count == 4 ? Self.list(parts[3]) : nil
                return key
            default:
                throw UsageError(
                    "--provider-key: expected FILE, FILE:KEYID:TEAMID or FILE:KEYID:TEAMID:TOPICS, found \(text.quoted)"
                )
            }
        }
    }

    private static func list(_ text: String?) -> [String]? {
        text?.split(separator: ",").map(String.init)
    }

    private static func loop(_ text: String) throws -> SimulatorConfiguration.Loop {
        switch text {
        case "io_uring": .ioUring
        case "epoll": .epoll
        default: throw UsageError("--loop: expected io_uring or epoll, found \(text.quoted)")
        }
    }

    /// Reads and validates a script.
    static func read(script path: String) throws -> SimulatorScript {
        let script = try YAMLFile.decode(SimulatorScript.self, from: path)
        if let fault = script.fault() { throw UsageError("\(path): \(fault)") }
        return script
    }

    /// The lines that are printed at the end.
    static func lines(_ report: SimulatorReport) -> [String] {
        var lines = report.answers.map { answer in
            "answered \(answer.status)\(answer.reason.isEmpty ? "" : " \(answer.reason)"): \(answer.count)"
        }
        lines += report.teams.map { "team \($0.teamID): \($0.requests)" }
        lines += report.faults.map { "fault \($0.name): \($0.count)" }
        if !report.faults.isEmpty || report.connectionsAborted > 0 {
            lines.append("not_processed=\(report.notProcessed) connections_aborted=\(report.connectionsAborted)")
        }
        if report.connectionsViolated > 0 {
            lines.append("connections that violated HTTP/2: \(report.connectionsViolated)")
        }
        lines.append(
            "requests=\(report.requests) accepted=\(report.accepted) tokens=\(report.tokens) "
                + "received_again=\(report.tokensReceivedAgain) broadcasts=\(report.broadcasts) channels=\(report.channels)"
        )
        lines.append(
            "connections=\(report.connections) with_certificate=\(report.connectionsWithCertificate) "
                + "with_two_teams=\(report.connectionsWithTwoTeams) tokens_too_early=\(report.tokensTooEarly) "
                + "tokens_expired=\(report.tokensExpired)")
        return lines
    }
}
