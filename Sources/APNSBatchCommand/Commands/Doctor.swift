import APNSBatch
import APNSBatchBasics
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

            With a campaign file, it examines the server, the proxy and the credentials of
            the campaign, and tries all that run needs before its first push, as check
            --everything does, but does not check the rows. The server gets the credentials
            with a request that has no device token.

            With --token and --topic, it sends one push to that device in each environment
            to find out whether the token belongs to the sandbox or to production. The push
            has type background, priority 5, expiration 0 and the payload
            {"aps":{"content-available":1}}; the device shows nothing.

            Examples:
              apns-batch doctor campaign.yaml
              apns-batch doctor --topic com.example.app --token 00fc13ad... \\
                --key-file AuthKey.p8 --key-id ABC123DEFG --team-id DEF123GHIJ

            Exit codes: 0 there are no warnings and no errors; 2 there are warnings; 64
            the usage is wrong; 69 there are errors. With a campaign file, errors have the
            exit codes of run.
            """)

    @Argument(help: "Campaign file (YAML), which is tried as run would use it.", completion: .campaign)
    var campaign: String?

    @Option(
        help:
            "Check one server only: production, sandbox, or HOST:PORT. (default: that of the campaign, or both environments)",
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
        let call = try reporting { try self.call() }
        let doctor = try reporting { try self.doctor(call) }
        let preflight = Preflight(call, .file) { Output.lines(json ? [$0.object] : $0.lines) }
        if campaign != nil { preflight.tryStart() }
        await preflight.tryServer(doctor)
        let code = campaign == nil ? preflight.code : preflight.close()
        guard Output.isComplete() else { throw ExitStatus.interrupted }
        throw code
    }

    private func call() throws -> CampaignCall {
        var flags = try credentials.settings
        flags.topic = topic
        let call = try CampaignCall(flags: flags, file: campaign)
        // The server of --to is examined besides; that of the campaign decides about the rest.
        guard campaign != nil, call.settings.to == nil else { return call }
        flags.to = to ?? "production"
        return try CampaignCall(flags: flags, file: campaign)
    }

    /// Returns nil if there is no server, or if settings of the campaign are wrong: what is wrong with them is reported when they are tried.
    private func doctor(_ call: CampaignCall) throws -> Doctor? {
        let settings = call.settings
        guard let endpoints = try endpoints(call) else { return nil }
        var doctor: Doctor
        do {
            doctor = try Doctor(of: settings, at: endpoints)
        } catch is UsageError where campaign != nil {
            return nil
        }
        doctor.asksForCredentials = campaign != nil
        if let token {
            guard let topic = settings.topic else { throw UsageError("--token needs --topic") }
            let (providers, own) = (try settings.providerList(), try settings.provider(of: topic))
            doctor.probe = .init(token: token, topic: topic, sender: providers.firstIndex(of: own) ?? 0)
        }
        return doctor
    }

    /// The servers of the flags, or else that of the campaign; both environments without any, and for a probe, which distinguishes them.
    private func endpoints(_ call: CampaignCall) throws -> [Doctor.Endpoint]? {
        let production = try Self.endpoint(self.production, .production) ?? .production
        let sandbox = try Self.endpoint(self.sandbox, .sandbox) ?? .sandbox
        let isGiven = self.production != nil || self.sandbox != nil
        switch to ?? (isGiven ? nil : call.file?.settings.to) {
        case nil: return [production, sandbox]
        case "production" where to == nil && token != nil, "sandbox" where to == nil && token != nil:
            return [production, sandbox]
        case "production": return [production]
        case "sandbox": return [sandbox]
        case "simulator" where to == nil: return nil
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
            guard let place = HostAndPort(text) else { throw UsageError("expected \(expected), found \(text.quoted)") }
            return .init(environment, host: place.host, port: place.port)
        } catch {
            throw UsageError("\(flag): \(error)", cause: error)
        }
    }
}
