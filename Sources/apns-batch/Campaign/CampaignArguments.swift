import ArgumentParser

/// The flags of `send` and `render`. Each one is also a key of the campaign file, with `_` for `-`; flags win.
struct CampaignArguments: ParsableArguments {
    @Argument(help: "Campaign file (YAML). Every flag can stand in it; paths in it are relative to it.")
    var campaign: String?

    @Option(help: "CSV with a header row, or - for standard input.")
    var input: String?

    @Option(help: "production, sandbox, simulator (inside this process), or HOST:PORT.")
    var to: String?

    @Option(help: "Bundle id or full topic; the push type's suffix is added where it is missing.")
    var topic: String?

    @OptionGroup var credentials: CredentialArguments

    @Option(help: "JSON template with {{column}} placeholders; without it rows need a payload column.")
    var template: String?

    @Option(help: "Localizable.strings, or a folder with .lproj folders: loc-keys must be in them. Repeatable.")
    var strings: [String] = []

    @Option(help: "alert, background, voip, ... for rows without a push_type. (default: alert)")
    var pushType: String?

    @Option(help: "10, 5 or 1, for rows without a priority. (default: the push type's)")
    var priority: Int?

    @Option(help: "Seconds since 1970, a time (2026-01-01T08:00:00Z), a duration (2h) or 0, for rows without one.")
    var expiration: String?

    @Option(help: "Collapse id for rows without a collapse_id; at most 64 bytes; may hold {{column}}.")
    var collapseId: String?

    @Option(help: "Refuse an input with fewer rows, before anything is sent; only for files. (default: none)")
    var minRows: UInt64?

    @Option(help: "The byte between fields, or \"tab\". (default: ,)")
    var delimiter: String?

    @Option(help: "UUID of the campaign; apns-ids derive from it and the row. (default: random)")
    var campaignId: String?

    @Option(help: "Sending threads. (default: one per core less one)")
    var lanes: Int?

    @Option(help: "Connections that a lane may open at most for each provider. (default: 32)")
    var connections: Int?

    @Option(help: "Streams of one connection that are used at once at most. (default: 1000)")
    var streams: Int?

    @Option(help: "io_uring or epoll. (default: io_uring where the kernel allows it)")
    var loop: String?

    @Option(help: "Requests for one row at most. (default: 5)")
    var attempts: Int?

    @Option(help: "Milliseconds that a request may take. (default: 30000)")
    var requestTimeout: UInt32?

    @Option(help: "Seconds without any connection after which the run ends. (default: 60)")
    var connectPatience: Int?

    @OptionGroup var policy: PolicyArguments

    @Option(help: "Seconds without an answer until connections are replaced; twice as long ends the run. (default: 60)")
    var answerPatience: Int?

    @Option(help: "Seconds that a connection may still answer after GOAWAY. (default: 10)")
    var goawayPatience: Int?

    @Option(help: "Seconds of silence after which a connection is sent a PING. (default: 5)")
    var pingAfter: Int?

    @Option(help: "Seconds that a PING or bytes sent may stay unanswered. (default: 10)")
    var pingPatience: Int?

    @Option(
        help: "Rows that may have arrived: resend, report or resend-if-collapsible. (default: resend)")
    var onUnknown: String?

    @Option(help: "Milliseconds after which records are on the disk. (default: 1000)")
    var syncInterval: Int?

    @Option(help: ArgumentHelp("Seconds after which new connections get a new provider token.", visibility: .hidden))
    var tokenMintAfter: Int?

    @Option(help: ArgumentHelp("Seconds that a connection uses one provider token.", visibility: .hidden))
    var tokenRetireAfter: Int?

    @Option(help: "HTTP proxy to connect through (CONNECT): http://USER@HOST:PORT, or without USER@.")
    var proxy: String?

    @Option(help: "File whose first line is the proxy's password.")
    var proxyPasswordFile: String?

    @Option(help: "Environment variable that holds the proxy's password.")
    var proxyPasswordEnv: String?

    @Option(help: "Directory for the results, made if missing. (default: a new one below runs/)")
    var runDir: String?

    @Option(help: "Columns of the input that go into results.csv too, as in user_id,segment. At most 8.")
    var resultColumns: String?

    @Option(help: "Script (YAML) for --to simulator: answers, latency, seed.")
    var simulatorScript: String?

    /// The flags as settings, to lay over those of a file.
    var settings: CampaignSettings {
        get throws {
            let own = CampaignSettings(
                input: input, to: to, topic: topic, template: template, strings: strings.isEmpty ? nil : strings,
                pushType: pushType, priority: priority, expiration: expiration, collapseId: collapseId,
                minRows: minRows, delimiter: delimiter, campaignId: campaignId, lanes: lanes, connections: connections,
                streams: streams, loop: loop, attempts: attempts, requestTimeout: requestTimeout,
                connectPatience: connectPatience,
                answerPatience: answerPatience, goawayPatience: goawayPatience, pingAfter: pingAfter,
                pingPatience: pingPatience,
                tokenMintAfter: tokenMintAfter, tokenRetireAfter: tokenRetireAfter, proxy: proxy,
                proxyPasswordFile: proxyPasswordFile, proxyPasswordEnv: proxyPasswordEnv, runDir: runDir,
                resultColumns: resultColumns?.split(separator: ",", omittingEmptySubsequences: false).map(String.init),
                simulatorScript: simulatorScript, onUnknown: onUnknown, syncInterval: syncInterval)
            return try own.over(policy.settings).over(credentials.settings)
        }
    }

    /// File and flags together.
    func resolved() throws -> CampaignSettings { try settings.over(campaignFile: campaign) }
}
