import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Glibc

struct ProviderTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider-token",
        abstract: "Makes a provider token, with which a machine without the signing key can send for an hour.",
        usage: "apns-batch provider-token [<campaign>] [<options>]",
        discussion: """
            The token, and nothing else, is printed on standard output, or written to a
            file that only its owner can read and that is replaced at once. The machine
            that sends names the file with --provider-token-file, and reads it again when
            it changes. Replace it every 30 minutes. A token is a secret: whoever has it
            can send to the apps of the team.

            Examples:
              apns-batch provider-token --key-file AuthKey.p8 --key-id ABC123DEFG \\
                --team-id DEF123GHIJ --output /run/push/token
              apns-batch provider-token campaign.yaml | ssh sender 'umask 077
                cat > /run/push/token.new && mv /run/push/token.new /run/push/token'

            Exit codes: 0 the token is complete; 64 usage or configuration is wrong;
            75 it could not be written.
            """)

    @Argument(help: "Campaign file (YAML), for the settings of the key.", completion: .campaign)
    var campaign: String?

    @OptionGroup(title: Setting.groups[3].title) var flags: CredentialFlags

    @Option(help: "File to write the token to, with mode 600. (default: standard output)", completion: .file())
    var output: String?

    func run() throws {
        let call = try reporting { try CampaignCall(flags: flags.settings, file: campaign) }
        var token = try call.reporting {
            let providers = try call.settings.providerList()
            guard providers.count == 1 else {
                throw UsageError("there are several providers: give --key-file, --key-id and --team-id of one")
            }
            return try providers[0].credentials(for: .sending).makeProviderToken()
        }
        defer { token.wipe() }
        try write(&token)
    }

    private func write(_ token: inout [UInt8]) throws {
        token.append(UInt8(ascii: "\n"))
        guard let output else {
            // Without a buffer, because a copy of it would stay in memory.
            try Output.write(token)
            return
        }
        do {
            try OutputFile.write(token, to: output, Self.kind, readers: .owner)
        } catch {
            complainOfFailure("\(error)")
            throw ExitStatus.interrupted
        }
    }

    private static let kind = OutputFile.Kind("a provider token", startingWith: "eyJ")
}
