import APNSBatch
import ArgumentParser
import Foundation

/// `apns-batch doctor`. The name `Doctor` belongs to the library.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Diagnoses DNS, network, TLS, clock, signing key, certificate and device token.",
        discussion: """
            Prints one line for each finding (ok, warning or error), followed by a remedy.
            It requests "/" from each server without credentials; this reaches no device.

            With --token and --topic, it sends one push to that device in each environment
            to find out whether the token belongs to the sandbox or to production. The push
            has type background, priority 5, expiration 0 and the payload
            {"aps":{"content-available":1}}; the device shows nothing.

            Examples:
              apns-batch doctor campaign.yaml
              apns-batch doctor --topic com.example.app --token 00fc13ad... \\
                --key-file AuthKey.p8 --key-id ABC123DEFG --team-id DEF123GHIJ

            Exit codes: 0 there are no warnings and no errors; 2 there are warnings; 64
            the usage is wrong; 69 there are errors.
            """)

    @Argument(help: "Campaign file (YAML) with credentials, topic and trusted certificates.", completion: .campaign)
    var campaign: String?

    @Option(
        help: "Check one server only: production, sandbox, or HOST:PORT. (default: both environments)",
        completion: .list(["production", "sandbox"]))
    var to: String?

    @Option(help: "HOST:PORT instead of api.push.apple.com:443, such as port 2197 or a proxy.")
    var production: String?

    @Option(help: "HOST:PORT instead of api.sandbox.push.apple.com:443.")
    var sandbox: String?

    @OptionGroup var credentials: CredentialFlags

    @Option(help: "Device token (hex) that receives the probe.")
    var token: String?

    @Option(help: "Bundle id of the app that has the token.")
    var topic: String?

    @Flag(help: "Print one JSON object per line: level, what, text and, if there is one, remedy.")
    var json = false

    func run() async throws {
        let doctor = try reporting { try self.doctor() }
        let findings = await doctor.examine { Output.lines(json ? [Self.object($0)] : Self.lines($0)) }
        if !Output.isComplete() { throw ExitStatus.interrupted }
        if findings.contains(where: { $0.level == .error }) { throw ExitStatus.unavailable }
        if findings.contains(where: { $0.level == .warning }) { throw ExitStatus.someRowsLeft }
    }

    private func doctor() throws -> Doctor {
        var flags = try credentials.settings
        flags.topic = topic
        let settings = try CampaignCall(flags: flags, file: campaign).settings
        var doctor = Doctor()
        doctor.endpoints = try endpoints()
        let providers = try settings.providerList()
        doctor.credentials = try providers.compactMap { try Self.credentials($0) }
        doctor.authorities = try settings.caFile.map { try InputFile.bytes(of: $0) } ?? []
        if let token {
            guard let topic = settings.topic else { throw UsageError("--token needs --topic") }
            let own = try settings.provider(of: topic)
            doctor.probe = .init(token: token, topic: topic, sender: providers.firstIndex(of: own) ?? 0)
        }
        return doctor
    }

    private func endpoints() throws -> [Doctor.Endpoint] {
        let production = try Self.endpoint(self.production, .production) ?? .production
        let sandbox = try Self.endpoint(self.sandbox, .sandbox) ?? .sandbox
        switch to {
        case nil: return [production, sandbox]
        case "production": return [production]
        case "sandbox": return [sandbox]
        case "simulator": throw UsageError("--to: doctor cannot examine a simulator inside this process")
        case let text?: return [try Self.endpoint(text, .other, flag: "--to")].compactMap { $0 }
        }
    }

    private static func endpoint(
        _ text: String?, _ environment: Doctor.Endpoint.Environment, flag: String? = nil
    ) throws -> Doctor.Endpoint? {
        guard let text else { return nil }
        let flag = flag ?? "--\(environment.rawValue)"
        do {
            let expected = flag == "--to" ? "production, sandbox or HOST:PORT" : "HOST:PORT"
            guard case .host(let host, let port) = try CampaignSettings.hostAndPort(text, expected) else { return nil }
            return .init(environment, host: host, port: port)
        } catch {
            throw UsageError("\(flag): \(error)", cause: error)
        }
    }

    /// Returns nil if the settings have no credentials.
    private static func credentials(_ settings: CampaignSettings) throws -> Doctor.Credentials? {
        settings.keyPassphraseFile.flatMap(SecretFile.exposure).map { complain("warning: \($0)") }
        let passphrase = try settings.secret("keyPassphrase")
        if let file = settings.certificateFile {
            return .certificate(file: file, keyFile: settings.certificateKeyFile, passphrase: passphrase)
        }
        if let file = settings.providerTokenFile { return .issuedToken(file: file) }
        guard let file = settings.keyFile else { return nil }
        guard let keyID = settings.keyId, let teamID = settings.teamId else {
            throw UsageError("--key-file needs --key-id and --team-id")
        }
        return .key(file: file, keyID: keyID, teamID: teamID, passphrase: passphrase)
    }

    /// `error    clock: 900 s behind that of api.push.apple.com:443`, and the remedy below.
    private static func lines(_ finding: Doctor.Finding) -> [String] {
        let level = finding.level.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)
        return ["\(level)\(finding.what): \(finding.text)"] + (finding.remedy.map { ["         \($0)"] } ?? [])
    }

    private static func object(_ finding: Doctor.Finding) -> String {
        struct Line: Encodable {
            var level: String
            var what: String
            var text: String
            var remedy: String?
        }
        let line = Line(
            level: finding.level.rawValue, what: finding.what, text: finding.text, remedy: finding.remedy)
        return (try? JSONLine.text(line)) ?? "{}"
    }
}
