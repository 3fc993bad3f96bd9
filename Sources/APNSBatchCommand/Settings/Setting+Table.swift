import APNSBatch
import Foundation

/// The settings of a campaign, in the order of the help.
extension Setting {
    static let groups: [(title: String, settings: [Setting])] = [
        ("Rows and payloads", rows), ("Default headers, for rows without their own", headers),
        ("Destination", destination), ("Credentials", credentials), ("Run", run + export),
        ("Retries and limits", policy), ("Connections and threads", connections),
        ("Expectations, history and hooks", night + webhooks), ("Monitoring", monitoring),
    ]

    private static let rows: [Setting] = [
        Setting(
            "input", .pathOrPaths, scope: .machine, parts: .replaced, correction: .ofNight,
            replaces: ["inputCommand", "inputQuery"],
            "CSV file with a header row or NDJSON file, a pattern such as 'rows-*.csv.gz' for several, or - for standard input."
        ) {
            guard $1.list?.contains(.text("-")) == true else { return }
            throw UsageError("standard input (-) cannot be one of several inputs")
        },
        Setting(
            "inputCommand", .command, scope: .machine, parts: .replaced, correction: .ofNight, hasFlag: false,
            replaces: ["input", "inputQuery"],
            "Program whose standard output is the input, started without a shell. It must end with exit code 0."
        ) { try CampaignSettings.checkCommand($1) },
        Setting(
            "inputQuery", .record(InputQuery.settings), scope: .machine, parts: .replaced, correction: .ofNight,
            hasFlag: false, replaces: ["input", "inputCommand"],
            "Query of PostgreSQL or DuckDB whose rows are the input. postgresql.md and duckdb.md in docs/integrate describe it."
        ) { if try InputQuery($1).isJSON { $0.inputFormat = .ndjson } },
        Setting(
            "inputTimeout", .text, scope: .run, parts: .replaced, correction: .ofNight, standard: "1h",
            "Time after which the program of input_command is killed, or input_query is cancelled, such as 20m."
        ) { _ = try CampaignSettings.duration($1) },
        Setting(
            "spool", .text, scope: .run, parts: .replaced, correction: .absent, standard: "auto",
            words: ["auto", "always", "never"],
            "always, never, or auto: whether the input is read to its end and kept in the run directory before the first push. auto keeps what can be read only once."
        ) { _ = try CampaignSettings.spool($1) },
        Setting(
            "format", scope: .run, parts: .replaced,
            "csv, ndjson (a JSON object on each line), or auto: by the name and the first byte of the input."),
        Setting(
            "delimiter", scope: .notification, parts: .replaced, "Field delimiter of CSV: one byte, or \"tab\"."),
        Setting(
            "escape", scope: .notification, parts: .replaced,
            "Escape of quotes in CSV: none (doubled quotes), backslash, or auto: as none, but an input that may have backslashes is refused."
        ),
        Setting(
            "columns", .textsByName, scope: .notification, parts: .kept, hasFlag: false,
            "Columns that have another name in the input: the campaign's name, and the input's name or path in NDJSON."
        ) { $0.columns = ($1.members ?? [:]).mapValues { $0.text ?? "" } },
        Setting(
            "only", .listsByName, scope: .notification, parts: .kept, hasFlag: false,
            "The texts by which a column selects rows. Other rows end as suppressed, before they are checked."
        ) { $0.only = ($1.members ?? [:]).mapValues { $0.text.map { [$0] } ?? $0.texts } },
        Setting(
            "template", .path, scope: .notification, parts: .kept, replaces: ["templates", "variants", "fallback"],
            "JSON template with {{column}} placeholders. Without it, rows need a payload column."
        ) { $0.template = try .read($1.text ?? "") },
        Setting(
            "templates", .pathsByName, scope: .notification, parts: .kept, hasFlag: false,
            replaces: ["template", "variants"],
            "Templates by language tag. The locale column of a row selects one."
        ) { $0.templates = .init(by: .locale, try CampaignSettings.templates($1), fallback: nil) },
        Setting(
            "variants", .pathsByName, scope: .notification, parts: .kept, hasFlag: false,
            replaces: ["template", "templates"],
            "Templates by name. The variant column of a row selects one."
        ) {
            guard $0.templates == nil else {
                throw UsageError("there are templates and variants; give only one of them")
            }
            $0.templates = .init(by: .variant, try CampaignSettings.templates($1), fallback: nil)
        },
        Setting(
            "fallback", .text, scope: .notification, parts: .kept, hasFlag: false,
            "The template for rows that select none of these."
        ) {
            $0.templates?.fallback = $1.text
        },
        Setting(
            "minRows", scope: .run, parts: .whole, correction: .ofNight, standard: "none",
            "Minimum number of rows. A smaller input file is refused before anything is sent."),
        Setting(
            "fromRow", scope: .run, parts: .refused, correction: .absent, standard: "1",
            "Number of the first row that is sent. Rows before it end as suppressed."),
        Setting(
            "zstdWindow", scope: .run, parts: .replaced, standard: "25",
            "Binary logarithm of the largest window of a zstd input, which takes as many bytes of memory."),
        Setting(
            "strings", .paths, scope: .run, parts: .kept,
            "Localizable.strings file, or folder with .lproj folders, that must hold every loc-key. "
        ) { $0.strings = try $1.texts.flatMap { try StringsFiles.read($0) } },
        Setting(
            "encryption", .record(encryption), scope: .notification, parts: .kept, hasFlag: false,
            "Encrypts keys of the template for each recipient."
        ) {
            $0.encryption = try CampaignSettings.encryption($1.members ?? [:])
        },
    ]

    private static let encryption: [SettingForm] = [
        SettingForm("keys", .names, "Keys of the template to encrypt."),
        SettingForm("keyColumn", .text, "Column that holds the recipient's public key."),
        SettingForm(
            "cipher", .text, words: Campaign.Encryption.Cipher.allCases.map(\.rawValue), "aes-256-gcm or aes-256-cbc."),
        SettingForm(
            "padding", .text, words: Campaign.Encryption.Padding.allCases.map(\.rawValue),
            "oaep-sha256, oaep-sha1 or pkcs1."),
    ]

    private static let headers: [Setting] = [
        Setting(
            "topic", scope: .notification, parts: .kept,
            "Bundle id or full topic. The push type's suffix is added if it is missing."),
        Setting(
            "pushType", scope: .notification, parts: .kept, "Push type: alert, background, voip, ..."),
        Setting(
            "priority", scope: .notification, parts: .kept, standard: "the push type's", "Priority: 10, 5 or 1."),
        Setting(
            "expiration", scope: .notification, parts: .kept,
            "Seconds since 1970, a time (2026-01-01T08:00:00Z), a duration (2h), or 0 for one attempt."),
        Setting(
            "collapseId", scope: .notification, parts: .kept,
            "Collapse id of at most 64 bytes. It may contain {{column}}."),
        Setting(
            "campaignId", scope: .run, parts: .whole, correction: .ofNight, standard: "random",
            "UUID of the campaign. Each apns-id is derived from it and the row number."),
    ]

    private static let destination: [Setting] = [
        Setting(
            "to", .text, scope: .notification, parts: .kept, words: ["production", "sandbox", "simulator"],
            otherwise: "HOST:PORT",
            "Destination: production, sandbox, simulator (inside this process), or HOST:PORT."
        ) {
            $0.destination = try CampaignSettings.destination($1.text ?? "")
        },
        Setting(
            "simulatorScript", .path, scope: .machine, parts: .kept,
            "Script (YAML) for --to simulator: answers, latency, faults and seed."),
        Setting(
            "proxy", scope: .machine, parts: .kept,
            "HTTP proxy to connect through (CONNECT): http://HOST:PORT or http://USER@HOST:PORT."),
        Setting(
            "proxyPasswordFile", .path, scope: .secret, parts: .kept, replaces: ["proxyPasswordEnv"],
            "File whose first line is the proxy password."),
        Setting(
            "proxyPasswordEnv", .variable, scope: .secret, parts: .kept, replaces: ["proxyPasswordFile"],
            "Environment variable that holds the proxy password."),
    ]

    static let credentials: [Setting] =
        credentialsOfProvider + [
            Setting(
                "caFile", .path, scope: .machine, parts: .kept, calledBy: "trusted certificates",
                "CA certificates to trust besides those of the system (PEM)."),
            Setting(
                "providers",
                .records(
                    [SettingForm("topics", .names, "Topics that this provider covers.")]
                        + credentialsOfProvider.map(\.form)), scope: .secret, parts: .refused,
                hasFlag: false, "Several teams, each with its own credentials and topics."),
        ]

    /// The settings for a signing key or client certificate, of the campaign or of an entry of `providers`.
    static let credentialsOfProvider: [Setting] = [
        Setting(
            "keyFile", .path, scope: .secret, parts: .replaced,
            replaces: ["certificateFile", "certificateKeyFile", "providerTokenFile"],
            "Signing key for provider tokens (.p8)."),
        Setting("keyId", .text, scope: .secret, parts: .replaced, "Id of the signing key."),
        Setting("teamId", .text, scope: .secret, parts: .replaced, "Id of the team."),
        Setting(
            "providerTokenFile", .path, scope: .secret, parts: .replaced,
            replaces: ["keyFile", "keyId", "teamId", "certificateFile", "certificateKeyFile"],
            "Provider token made elsewhere, instead of a signing key. The file is read again when it changes."),
        Setting(
            "certificateFile", .path, scope: .secret, parts: .replaced,
            replaces: ["keyFile", "keyId", "teamId", "providerTokenFile"],
            "Client certificate (PEM, leaf first, or PKCS#12), instead of a signing key."),
        Setting(
            "certificateKeyFile", .path, scope: .secret, parts: .replaced,
            "Private key of the client certificate (PEM), if it is not in the certificate's file."),
        Setting(
            "keyPassphraseFile", .path, scope: .secret, parts: .replaced, replaces: ["keyPassphraseEnv"],
            "File whose first line is the passphrase of the signing key or client certificate."),
        Setting(
            "keyPassphraseEnv", .variable, scope: .secret, parts: .replaced, standard: "send asks at the terminal",
            replaces: ["keyPassphraseFile"],
            "Environment variable that holds the passphrase."),
    ]

    private static let run: [Setting] = [
        Setting(
            "runDir", as: .path, scope: .machine, parts: .whole, correction: .replaced, findsHistory: true,
            standard: "a new one below runs/", calledBy: "run directory",
            "Directory for the results, created if needed. {date} is the night's date, {campaign} the campaign's name."),
        Setting(
            "name", scope: .run, parts: .whole, findsHistory: true, standard: "that of the campaign file",
            "Name of the campaign: 1 to 40 characters of a-z, 0-9, _ and -."),
        Setting(
            "nightStarts", .text, scope: .run, parts: .whole, standard: "12:00",
            "Local time at which a night begins; {date} is the date on which it began."
        ) { _ = try CampaignSettings.timeOfDay($1) },
        Setting(
            "timezone", .text, scope: .run, parts: .whole, standard: "the machine's",
            "Time zone of the campaign, such as Europe/Berlin."
        ) { _ = try CampaignSettings.zone($1) },
        Setting(
            "onUnknown", scope: .run, parts: .kept,
            "Policy for rows that may have arrived: resend, report or resend-if-collapsible."),
        Setting(
            "syncInterval", scope: .run, parts: .kept, "Milliseconds between two syncs of the results to the disk."),
        Setting(
            "resultColumns", as: .names, scope: .run, parts: .kept,
            "Input columns to copy into results.csv, such as user_id,segment. At most 8."),
        Setting(
            "reportBy", as: .names, scope: .run, parts: .kept,
            "Columns of result_columns by whose values rows are counted in the report, such as segment."),
    ]

    private static let policy: [Setting] = [
        Setting(
            "notAfter", scope: .run, parts: .whole, isLive: true,
            "When to stop sending: a time (2026-01-01T08:00:00Z) or a duration (6h). Rows not sent by then expire."),
        Setting(
            "rate", scope: .run, parts: .whole, isLive: true,
            "Largest rate of requests: 2000/s, 120000/min or 3000000/h, for all lanes, providers and retries together."),
        Setting(
            "ramp", scope: .run, parts: .kept, isLive: true,
            "Time in which the rate rises from 1 % to its full value, such as 10m: at the start, and after each gap of a minute."
        ),
        Setting(
            "spread", scope: .run, parts: .whole, isLive: true,
            "Time over which the rows are spread evenly, such as 2h. The rate, if there is one, remains the limit."),
        Setting(
            "rateShared", as: .path, scope: .machine, parts: .refused,
            "File through which processes on this machine share the rate. It is created if it does not exist."),
        Setting("attempts", scope: .run, parts: .kept, "Maximum number of requests for one row."),
        Setting(
            "retryDelay", scope: .run, parts: .kept, standard: "1000",
            "Milliseconds before a row is first sent again. The delay doubles with each attempt."),
        Setting(
            "unavailableDelay", scope: .run, parts: .kept, standard: "5000, or --retry-delay",
            "The same delay after an answer with status 500 or 503."),
        Setting(
            "retryAfterMax", scope: .run, parts: .kept, "Longest delay in seconds that a retry-after header can impose."
        ),
        Setting(
            "retryRows", scope: .run, parts: .kept,
            "Number of rows waiting to be sent again at which a lane takes no new rows."),
        Setting(
            "stopAt", .shares, scope: .run, parts: .kept, calledBy: "circuit breaker",
            "REASON=PERCENT%: stop when this share of the answers has REASON (any: all but 200), or of the rows is invalid (invalid); or REASON=never."
        ) { $0.circuitBreaker.shares = try ($1.members ?? [:]).mapValues(CampaignSettings.share) },
        Setting(
            "stopWindow", scope: .run, parts: .kept, "Number of latest answers, or rows, that --stop-at considers."),
        Setting("stopMinimum", scope: .run, parts: .kept, "Number of answers, or rows, before --stop-at applies."),
        Setting(
            "canary", scope: .run, parts: .whole,
            "Send this many rows first, over one connection, and the rest when they have passed. 0: no canary."),
        Setting(
            "canaryMaxRejected", scope: .run, parts: .whole, "Share of these rows that may be rejected, such as 5%."),
    ]

    private static let connections: [Setting] = [
        Setting(
            "lanes", scope: .run, parts: .whole, standard: "number of cores minus one", "Number of sending threads."),
        Setting(
            "connections", scope: .run, parts: .whole,
            "Maximum number of connections that a lane opens for each provider."),
        Setting("streams", scope: .run, parts: .kept, "Maximum number of concurrent streams on one connection."),
        Setting(
            "loop", scope: .run, parts: .kept,
            "Event loop: io_uring, epoll, or automatic: io_uring where the kernel allows it."),
        Setting(
            "requestTimeout", scope: .run, parts: .kept, "Milliseconds after which a request without an answer fails."),
        Setting(
            "answerGathering", scope: .run, parts: .kept,
            "Milliseconds for which answers may wait for others, which saves processor time; 0 for none."),
        Setting(
            "connectPatience", scope: .run, parts: .kept, "Seconds without any connection after which the run ends."),
        Setting(
            "answerPatience", scope: .run, parts: .kept,
            "Seconds without an answer after which connections are replaced. After twice as long, the run ends."),
        Setting(
            "unavailablePatience", scope: .run, parts: .kept,
            "Seconds that APNs may answer 429 or 5xx, or not at all, before the run ends. resume sends the remaining rows."
        ),
        Setting(
            "goawayPatience", scope: .run, parts: .kept,
            "Seconds that a connection has to answer requests in flight after GOAWAY."),
        Setting(
            "pingAfter", scope: .run, parts: .kept,
            "Seconds without received bytes after which a PING is sent on a connection."),
        Setting(
            "pingPatience", scope: .run, parts: .kept,
            "Seconds after which an unanswered PING, or unacknowledged bytes, end a connection."),
        Setting(
            "tokenMintAfter", scope: .run, parts: .kept, isHidden: true,
            "Age of a provider token in seconds after which new connections get a new one."),
        Setting(
            "tokenRetireAfter", scope: .run, parts: .kept, isHidden: true,
            "Age of a provider token in seconds after which a connection that uses it is replaced."),
    ]
}
