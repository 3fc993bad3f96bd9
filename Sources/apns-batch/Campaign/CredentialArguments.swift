import ArgumentParser

/// The flags that say who sends, and whom to trust; of all commands that speak to APNs.
struct CredentialArguments: ParsableArguments, Encodable {
    @Option(help: "Signing key of the provider token (.p8).")
    var keyFile: String?

    @Option(help: "Id of the signing key.")
    var keyId: String?

    @Option(help: "Id of the team.")
    var teamId: String?

    @Option(help: "Client certificate (PEM, leaf first, or PKCS#12), instead of a signing key.")
    var certificateFile: String?

    @Option(help: "Private key of the client certificate (PEM); by default in the certificate's file.")
    var certificateKeyFile: String?

    @Option(help: "File whose first line is the passphrase of the key or of the client certificate.")
    var keyPassphraseFile: String?

    @Option(help: "Environment variable that holds this passphrase. (default: send asks on a terminal)")
    var keyPassphraseEnv: String?

    @Option(help: "Certificates to trust besides the system's (PEM).")
    var caFile: String?

    /// As settings, to lay over those of a file.
    var settings: CampaignSettings { get throws { try FlagValues(self).settings } }
}
