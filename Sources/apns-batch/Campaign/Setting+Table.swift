import APNSBatch
import Foundation

/// The settings of a campaign, in the order of the help.
extension Setting {
    static let groups: [(title: String, settings: [Setting])] = [
        ("Rows and payloads", rows), ("Headers of rows without columns of their own", headers),
        ("Destination", destination), ("Credentials", credentials), ("Run", run),
        ("When to send again, and when to stop", policy), ("Connections and threads", connections),
    ]

    private static let rows: [Setting] = [
        Setting("input", .path, "CSV with a header row, or - for standard input."),
        Setting("delimiter", .text, standard: ",", "The byte between fields, or \"tab\".") {
            $0.delimiter = try $1.parsed("one byte or \"tab\"", CampaignSettings.delimiter)
        },
        Setting(
            "template", .path, replaces: ["templates", "variants", "fallback"],
            "JSON template with {{column}} placeholders; without it rows need a payload column."
        ) { $0.template = try .read($1.text ?? "") },
        Setting(
            "templates", .pathsByName, hasFlag: false, replaces: ["template", "variants"],
            "Templates by language tag, of which the row's locale column picks one."
        ) { $0.templates = .init(by: .locale, try CampaignSettings.templates($1), fallback: nil) },
        Setting(
            "variants", .pathsByName, hasFlag: false, replaces: ["template", "templates"],
            "Templates by name, of which the row's variant column picks one."
        ) {
            guard $0.templates == nil else { throw UsageError("there are templates and variants; give one of them") }
            $0.templates = .init(by: .variant, try CampaignSettings.templates($1), fallback: nil)
        },
        Setting("fallback", .text, hasFlag: false, "The one of these templates for rows that find none.") {
            guard $0.templates != nil else { throw UsageError("needs templates or variants") }
            $0.templates?.fallback = $1.text
        },
        Setting(
            "minRows", standard: "none", "Refuse an input with fewer rows, before anything is sent; only for files."),
        Setting(
            "strings", .paths,
            "Localizable.strings, or a folder with .lproj folders: loc-keys must be in them. Repeatable."
        ) { $0.strings = try $1.texts.flatMap { try StringsFiles.read($0) } },
        Setting("encryption", .record(encryption), hasFlag: false, "Which keys of the template travel encrypted.") {
            $0.encryption = try CampaignSettings.encryption($1.members ?? [:])
        },
    ]

    private static let encryption: [Setting] = [
        Setting("keys", .names, "Keys of the template that travel encrypted."),
        Setting("keyColumn", .text, "Column with the public key of the row's recipient."),
        Setting("cipher", .text, "aes-256-gcm or aes-256-cbc."),
        Setting("padding", .text, "oaep-sha256, oaep-sha1 or pkcs1."),
    ]

    private static let headers: [Setting] = [
        Setting("topic", .text, "Bundle id or full topic; the push type's suffix is added where it is missing."),
        Setting("pushType", .text, standard: "alert", "alert, background, voip, ...") {
            $0.headers.pushType = $1.text ?? ""
        },
        Setting("priority", .whole, standard: "the push type's", "10, 5 or 1.") { $0.headers.priority = $1.number },
        Setting(
            "expiration", .text, "Seconds since 1970, a time (2026-01-01T08:00:00Z), a duration (2h) or 0."
        ) {
            $0.headers.expiration = try $1.parsed(
                "seconds since 1970, a time such as 2026-01-01T08:00:00Z, a duration such as 2h, or 0",
                Campaign.Expiration.init)
        },
        Setting("collapseId", .text, "Collapse id; at most 64 bytes; may hold {{column}}.") {
            $0.headers.collapseID = $1.text
        },
        Setting(
            "campaignId", .text, standard: "random", "UUID of the campaign; apns-ids derive from it and the row."
        ) { $0.identity = try $1.parsed("a UUID", CampaignSettings.identity) },
    ]

    private static let destination: [Setting] = [
        Setting("to", .text, "production, sandbox, simulator (inside this process), or HOST:PORT."),
        Setting("simulatorScript", .path, "Script (YAML) for --to simulator: answers, latency, seed."),
        Setting(
            "proxy", .text, "HTTP proxy to connect through (CONNECT): http://USER@HOST:PORT, or without USER@."),
        Setting(
            "proxyPasswordFile", .path, replaces: ["proxyPasswordEnv"],
            "File whose first line is the proxy's password."),
        Setting(
            "proxyPasswordEnv", .text, replaces: ["proxyPasswordFile"],
            "Environment variable that holds the proxy's password."),
    ]

    static let credentials: [Setting] =
        credentialsOfProvider + [
            Setting(
                "caFile", .path, calledBy: "trusted certificates", "Certificates to trust besides the system's (PEM)."),
            Setting(
                "providers", .records([Setting("topics", .names, "Topics of this provider.")] + credentialsOfProvider),
                hasFlag: false, "Several teams, each with its credentials and topics."),
        ]

    /// Whose key or certificate is used: of the campaign, or of an entry of `providers`.
    static let credentialsOfProvider: [Setting] = [
        Setting(
            "keyFile", .path, replaces: ["certificateFile", "certificateKeyFile"],
            "Signing key of the provider token (.p8)."),
        Setting("keyId", .text, "Id of the signing key."),
        Setting("teamId", .text, "Id of the team."),
        Setting(
            "certificateFile", .path, replaces: ["keyFile", "keyId", "teamId"],
            "Client certificate (PEM, leaf first, or PKCS#12), instead of a signing key."),
        Setting(
            "certificateKeyFile", .path,
            "Private key of the client certificate (PEM); by default in the certificate's file."),
        Setting(
            "keyPassphraseFile", .path, replaces: ["keyPassphraseEnv"],
            "File whose first line is the passphrase of the key or of the client certificate."),
        Setting(
            "keyPassphraseEnv", .text, standard: "send asks on a terminal", replaces: ["keyPassphraseFile"],
            "Environment variable that holds this passphrase."),
    ]

    private static let run: [Setting] = [
        Setting(
            "runDir", .path, standard: "a new one below runs/", calledBy: "run directory",
            "Directory for the results, made if missing."
        ) { $0.runDirectory = $1.text },
        Setting(
            "onUnknown", .text, standard: "resend",
            "Rows that may have arrived: resend, report or resend-if-collapsible."
        ) { $0.onUnknown = try $1.parsed("resend, report or resend-if-collapsible", UnknownPolicy.init(name:)) },
        Setting("syncInterval", "Milliseconds after which records are on the disk."),
        Setting(
            "resultColumns", .names,
            "Columns of the input that go into results.csv too, as in user_id,segment. At most 8."
        ) { $0.resultColumns = $1.texts },
    ]

    private static let policy: [Setting] = [
        Setting(
            "notAfter", .text,
            "When to stop sending: a time (2026-01-01T08:00:00Z) or a duration (6h). Rows not sent by then expire."
        ) { $0.notAfter = try CampaignSettings.deadline($1) },
        Setting("attempts", "Requests for one row at most."),
        Setting(
            "retryDelay", standard: "1000",
            "Milliseconds before a row is sent again for the first time; doubles with each attempt."),
        Setting(
            "unavailableDelay", standard: "5000, or --retry-delay", "The same delay after answers 500 and 503."),
        Setting("retryAfterMax", "Seconds that a retry-after may ask for at most."),
        Setting("retryRows", "Rows of a lane that may wait to be sent again before no fresh ones are taken."),
        Setting(
            "stopAt", .shares, calledBy: "circuit breaker",
            "REASON=PERCENT%: stop when so many answers are REASON (or any but 200); or REASON=never. Repeatable."
        ) { $0.circuitBreaker.shares = try ($1.members ?? [:]).mapValues(CampaignSettings.share) },
        Setting("stopWindow", "Answers that --stop-at looks back at."),
        Setting("stopMinimum", "Answers before which nothing is judged."),
        Setting(
            "canary", .whole,
            "Send so many rows first, over one connection; the rest when they have passed. 0: all at once."
        ) { $0.canary = $1.number == 0 ? nil : .init(rows: $1.number ?? 0) },
        Setting("canaryMaxRejected", .text, standard: "5%", "How many of these may be rejected, such as 5%.") {
            $0.canary?.maxRejectedPercent = try $1.parsed("a share such as 5%", CampaignSettings.percent)
        },
    ]

    private static let connections: [Setting] = [
        Setting("lanes", standard: "one per core less one", "Sending threads."),
        Setting("connections", "Connections that a lane may open at most for each provider."),
        Setting("streams", "Streams of one connection that are used at once at most."),
        Setting("loop", .text, standard: "io_uring where the kernel allows it", "io_uring or epoll.") {
            $0.loop = try $1.parsed("io_uring or epoll", Campaign.Loop.init)
        },
        Setting("requestTimeout", "Milliseconds that a request may take."),
        Setting("connectPatience", "Seconds without any connection after which the run ends."),
        Setting(
            "answerPatience",
            "Seconds without an answer until connections are replaced; after twice as long the run ends."),
        Setting(
            "unavailablePatience",
            "Seconds that APNs may answer 429 or 5xx, or nothing, before the run ends and leaves its rows to resume."),
        Setting("goawayPatience", "Seconds that a connection may still answer after GOAWAY."),
        Setting("pingAfter", "Seconds of silence after which a connection is sent a PING."),
        Setting("pingPatience", "Seconds that a PING or bytes sent may stay unanswered."),
        Setting("tokenMintAfter", isHidden: true, "Seconds after which new connections get a new provider token."),
        Setting("tokenRetireAfter", isHidden: true, "Seconds that a connection uses one provider token."),
    ]
}
