import ArgumentParser

/// What `send`, `broadcast`, `check` and `render` are called with: a campaign file, and flags that win over it.
struct CampaignArguments: ParsableArguments {
    @Argument(help: "Campaign file (YAML). Every flag can stand in it; paths in it are relative to it.")
    var campaign: String?

    @OptionGroup var flags: CampaignFlags

    /// File and flags together.
    func resolved() throws -> CampaignCall {
        try CampaignCall(flags: flags.settings, file: campaign)
    }
}

/// The flags of a campaign. Each one is also a key of the campaign file, with `_` for `-`.
///
/// A flag is declared here, with its help, and its value in ``CampaignSettings`` under the same name; everything else
/// follows from that.
struct CampaignFlags: ParsableArguments, Encodable {
    @OptionGroup(title: "Rows and payloads") var content: ContentFlags
    @OptionGroup(title: "Headers of rows without columns of their own") var headers: HeaderFlags
    @OptionGroup(title: "Destination") var destination: DestinationFlags
    @OptionGroup(title: "Credentials") var credentials: CredentialArguments
    @OptionGroup(title: "Run") var run: RunFlags
    @OptionGroup(title: "When to send again, and when to stop") var policy: PolicyFlags
    @OptionGroup(title: "Connections and threads") var connections: ConnectionFlags

    /// The flags as settings, to lay over those of a file.
    var settings: CampaignSettings { get throws { try FlagValues(self).settings } }
}

struct ContentFlags: ParsableArguments, Encodable {
    @Option(help: "CSV with a header row, or - for standard input.")
    var input: String?

    @Option(help: "The byte between fields, or \"tab\". (default: ,)")
    var delimiter: String?

    @Option(help: "JSON template with {{column}} placeholders; without it rows need a payload column.")
    var template: String?

    @Option(help: "Refuse an input with fewer rows, before anything is sent; only for files. (default: none)")
    var minRows: UInt64?

    @Option(help: "Localizable.strings, or a folder with .lproj folders: loc-keys must be in them. Repeatable.")
    var strings: [String] = []
}

struct HeaderFlags: ParsableArguments, Encodable {
    @Option(help: "Bundle id or full topic; the push type's suffix is added where it is missing.")
    var topic: String?

    @Option(help: "alert, background, voip, ... (default: alert)")
    var pushType: String?

    @Option(help: "10, 5 or 1. (default: the push type's)")
    var priority: Int?

    @Option(help: "Seconds since 1970, a time (2026-01-01T08:00:00Z), a duration (2h) or 0.")
    var expiration: String?

    @Option(help: "Collapse id; at most 64 bytes; may hold {{column}}.")
    var collapseId: String?

    @Option(help: "UUID of the campaign; apns-ids derive from it and the row. (default: random)")
    var campaignId: String?
}

struct DestinationFlags: ParsableArguments, Encodable {
    @Option(help: "production, sandbox, simulator (inside this process), or HOST:PORT.")
    var to: String?

    @Option(help: "Script (YAML) for --to simulator: answers, latency, seed.")
    var simulatorScript: String?

    @Option(help: "HTTP proxy to connect through (CONNECT): http://USER@HOST:PORT, or without USER@.")
    var proxy: String?

    @Option(help: "File whose first line is the proxy's password.")
    var proxyPasswordFile: String?

    @Option(help: "Environment variable that holds the proxy's password.")
    var proxyPasswordEnv: String?
}

struct RunFlags: ParsableArguments, Encodable {
    @Option(help: "Directory for the results, made if missing. (default: a new one below runs/)")
    var runDir: String?

    @Option(help: "Rows that may have arrived: resend, report or resend-if-collapsible. (default: resend)")
    var onUnknown: String?

    @Option(help: "Milliseconds after which records are on the disk. (default: 1000)")
    var syncInterval: Int?

    @Option(help: "Columns of the input that go into results.csv too, as in user_id,segment. At most 8.")
    var resultColumns: String?
}

/// When a campaign sends, when it sends again, and when it stops by itself.
struct PolicyFlags: ParsableArguments, Encodable {
    @Option(help: "When to stop sending: a time (2026-01-01T08:00:00Z) or a duration (6h). The rest is expired.")
    var notAfter: String?

    @Option(help: "Requests for one row at most. (default: 5)")
    var attempts: Int?

    @Option(help: "Milliseconds before a row is sent again at first; doubles. (default: 1000)")
    var retryDelay: UInt64?

    @Option(help: "The same after 500 and 503. (default: 5000, or --retry-delay)")
    var unavailableDelay: UInt64?

    @Option(help: "Seconds that a retry-after may ask for at most. (default: 900)")
    var retryAfterMax: UInt64?

    @Option(help: "Rows of a lane that may wait to be sent again before no fresh ones are taken. (default: 16384)")
    var retryRows: Int?

    @Option(
        help: "REASON=PERCENT%: stop when so many answers are REASON (or any but 200); or REASON=never. Repeatable.")
    var stopAt: [String] = []

    @Option(help: "Answers that --stop-at looks back at. (default: 20000)")
    var stopWindow: Int?

    @Option(help: "Answers before which nothing is judged. (default: 500)")
    var stopMinimum: Int?

    @Option(help: "Send so many rows first, over one connection; the rest when they have passed. 0: all at once.")
    var canary: Int?

    @Option(help: "How many of these may be rejected, such as 5%. (default: 5%)")
    var canaryMaxRejected: String?
}

struct ConnectionFlags: ParsableArguments, Encodable {
    @Option(help: "Sending threads. (default: one per core less one)")
    var lanes: Int?

    @Option(help: "Connections that a lane may open at most for each provider. (default: 32)")
    var connections: Int?

    @Option(help: "Streams of one connection that are used at once at most. (default: 1000)")
    var streams: Int?

    @Option(help: "io_uring or epoll. (default: io_uring where the kernel allows it)")
    var loop: String?

    @Option(help: "Milliseconds that a request may take. (default: 30000)")
    var requestTimeout: UInt32?

    @Option(help: "Seconds without any connection after which the run ends. (default: 60)")
    var connectPatience: Int?

    @Option(help: "Seconds without an answer until connections are replaced; twice as long ends the run. (default: 60)")
    var answerPatience: Int?

    @Option(
        help:
            "Seconds that APNs may answer 429 or 5xx, or nothing, before the run ends and leaves its rows to resume. (default: 3600)"
    )
    var unavailablePatience: Int?

    @Option(help: "Seconds that a connection may still answer after GOAWAY. (default: 10)")
    var goawayPatience: Int?

    @Option(help: "Seconds of silence after which a connection is sent a PING. (default: 5)")
    var pingAfter: Int?

    @Option(help: "Seconds that a PING or bytes sent may stay unanswered. (default: 10)")
    var pingPatience: Int?

    @Option(help: ArgumentHelp("Seconds after which new connections get a new provider token.", visibility: .hidden))
    var tokenMintAfter: Int?

    @Option(help: ArgumentHelp("Seconds that a connection uses one provider token.", visibility: .hidden))
    var tokenRetireAfter: Int?
}
