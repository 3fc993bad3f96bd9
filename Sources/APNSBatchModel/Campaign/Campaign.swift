/// A campaign: the settings that turn each row of an input into a push, and the destination. It is a plain value; nothing is
/// read or sent until a ``CampaignRun`` is made of it and of the rows.
///
/// ```swift
/// var campaign = Campaign(
///     destination: .production, topic: "com.example.app",
///     credentials: .providerToken(keyPEM: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
/// campaign.template = .init(json: template, name: "payload.json")
/// let summary = try await CampaignRun(campaign, input: .file("rows.csv")).send()
/// ```
public struct Campaign: Sendable {
    /// The APNs environment or other server that the pushes are sent to. Hosts and ports: Apple, "Sending notification
    /// requests to APNs".
    @nonexhaustive
    public enum Destination: Sendable, Equatable {
        /// `api.push.apple.com`, port 443.
        case production
        /// `api.sandbox.push.apple.com`, port 443, for apps that are being developed.
        case sandbox
        /// Any other server that speaks HTTP/2 over TLS, such as a simulator or a proxy: a name, or an address without brackets, and a port
        /// from 1 to 65535.
        case host(String, port: UInt16)
    }

    /// The credentials with which a provider authenticates itself to APNs.
    @nonexhaustive
    public enum Credentials: Sendable {
        /// A signing key (`.p8`, PKCS#8 PEM of a P-256 key), its ten-character id and that of the team. Apple, "Establishing
        /// a token-based connection to APNs".
        case providerToken(keyPEM: [UInt8], keyID: String, teamID: String)
        /// A provider token that was made elsewhere, in compact serialization: at most 2,048 bytes, and not older than an
        /// hour. It is used until its age is ``TokenRotation/retireAfter``; pass a newer one to
        /// `CampaignRun.replaceCredentials` before.
        case issuedToken([UInt8])
        /// A client certificate with its chain, leaf first, and its private key, both in PEM. Apple, "Establishing a
        /// certificate-based connection to APNs".
        case certificate(chainPEM: [UInt8], keyPEM: [UInt8])
        /// No credentials, for servers that do not ask for any.
        case none
    }

    /// The credentials of one team, and the topics that they cover. Each provider has connections of its own: a connection
    /// never carries pushes of two teams.
    public struct Provider: Sendable {
        /// Bundle ids or full topics. A bundle id also covers its topics with the suffix of a push type, such as `.voip`,
        /// unless another provider lists those. If empty, the provider covers every topic that no other provider covers.
        public var topics: [String]
        /// How the provider authenticates itself.
        public var credentials: Credentials

        /// Creates a provider, which covers all topics unless some are given.
        public init(topics: [String] = [], credentials: Credentials) {
            self.topics = topics
            self.credentials = credentials
        }
    }

    /// The age at which provider tokens are renewed, in whole seconds. APNs accepts a token for an hour, and another one on the
    /// same connection no sooner than after 20 minutes; a connection of this library never carries a second token. The
    /// defaults keep both limits with a margin; change them only in tests and for servers with rules of their own. Apple,
    /// "Establishing a token-based connection to APNs".
    public struct TokenRotation: Sendable, Equatable {
        /// The age of the current token from which new connections get a new one.
        public var mintAfter: Duration
        /// The age of a connection's token at which the connection sends nothing more. It is replaced before.
        public var retireAfter: Duration

        /// Creates the ages, by default half an hour and 52 minutes.
        ///
        /// - Parameters:
        ///   - mintAfter: At least a second.
        ///   - retireAfter: More than `mintAfter`, at most a day.
        public init(mintAfter: Duration = .seconds(1800), retireAfter: Duration = .seconds(3120)) {
            self.mintAfter = mintAfter
            self.retireAfter = retireAfter
        }
    }

    /// A JSON template whose strings may contain `{{column}}` placeholders.
    public struct Template: Sendable {
        /// The JSON text, UTF-8.
        public var json: [UInt8]
        /// The name of the template in errors, such as a file's path.
        public var name: String

        /// Creates a template. It is compiled when a run is made.
        public init(json: [UInt8], name: String) {
            self.json = json
            self.name = name
        }
    }

    /// The header fields of every row that has no column of its own for them.
    public struct Headers: Sendable {
        /// A bundle id or a full topic. The suffix of the push type is added if it is missing.
        public var topic: String?
        /// The `apns-push-type`.
        public var pushType = PushType.alert
        /// The `apns-priority`; nil for the push type's default.
        public var priority: Priority?
        /// The `apns-expiration`; nil omits the field, so that APNs stores a push for its own default time.
        public var expiration: Expiration?
        /// The `apns-collapse-id`, at most 64 bytes. It may contain `{{column}}` placeholders.
        public var collapseID: String?

        /// Creates the header fields of an alert without a topic.
        public init() {}
    }

    /// Several templates, from which each row selects one.
    public struct Templates: Sendable {
        /// The column that selects the template.
        @nonexhaustive
        public enum Choice: Sendable {
            /// The column `locale`, a language tag. The template is found by the lookup of RFC 4647, section 3.4:
            /// `zh-Hant-TW` selects `zh-Hant` if there is no template of its full name.
            case locale
            /// The column `variant`, the name of a template.
            case variant
        }

        /// How a row selects its template.
        public var choice: Choice
        /// The templates by language tag or name.
        public var templates: [String: Template]
        /// The name of the template for rows whose column is empty or selects none. `locale` requires it; without it such a
        /// row is invalid.
        public var fallback: String?

        /// Creates a selection of templates.
        public init(by choice: Choice, _ templates: [String: Template], fallback: String?) {
            self.choice = choice
            self.templates = templates
            self.fallback = fallback
        }
    }

    /// A `Localizable.strings` file.
    public struct Strings: Sendable {
        /// The language in findings, such as `de`. Several files may have the same language.
        public var language: String
        /// The content of the file, in UTF-8, or in UTF-16 with a byte order mark.
        public var content: [UInt8]
        /// The name of the file in errors, such as its path.
        public var name: String

        /// Creates a file, which is read when a run or a check is made.
        public init(language: String, content: [UInt8], name: String) {
            self.language = language
            self.content = content
            self.name = name
        }
    }

    /// The time after which APNs no longer tries to deliver a push. Apple, "Sending notification requests to APNs".
    @nonexhaustive
    public enum Expiration: Sendable, Equatable {
        /// Seconds since 1970-01-01 00:00 UTC. 0 means that APNs tries once and does not store the push.
        case at(UInt64)
        /// A time after the start of the campaign, in whole seconds.
        case after(Duration)
    }

    /// The event loop that drives the sockets.
    @nonexhaustive
    public enum Loop: String, Sendable, CaseIterable {
        /// io_uring where the kernel allows it, otherwise epoll.
        case automatic
        /// io_uring; a run cannot start where the kernel denies it.
        case ioUring = "io_uring"
        /// epoll, which every kernel has.
        case epoll
    }

    /// The APNs environment or other server that the pushes are sent to.
    public var destination: Destination
    /// The providers, 1 to 100. The topic of a row selects the provider that sends it.
    public var providers: [Provider]
    /// The age at which provider tokens are renewed.
    public var tokenRotation = TokenRotation()
    /// Whether rows are addressed to devices or to broadcast channels.
    public var recipients = Recipients.devices
    /// The header fields of rows that have no columns of their own for them.
    public var headers = Headers()
    /// The minimum number of rows in the input, valid or not. A smaller input is rejected before anything is sent, as an
    /// incomplete export. The input must be a file, since its rows are counted before the first one is sent; a resumed run
    /// does not count again. Nil for any number.
    public var minRows: UInt64?
    /// The binary logarithm of the largest window, in bytes, that a zstd frame of the input may need (RFC 8878, section 3.1.1.1.2).
    /// The frame decides how much memory its window takes, so larger ones are refused. 10 to 31; nil for 25, which is 32 MiB.
    public var zstdWindow: Int?
    /// What a run must meet, so that it counts as a success. For each of the metrics `accepted`, `unavailable`, `invalid`,
    /// `unknown` and `expired` that has no expectation here, the standard one applies: at least one row is accepted, and none
    /// has the other outcomes. Expectations about rows are judged before the first push, and then need a file as input, like
    /// ``minRows``.
    public var expectations: [CampaignExpectation] = []
    /// The number of the first row that is sent, from 1. Rows before it end as ``Outcome/suppressed``, before they are checked.
    public var firstRow: UInt64 = 1
    /// The longest time since the input was last modified. An older input is rejected before anything is sent,
    /// and so is a pipe, whose age is unknown. A resumed run does not ask again. Nil for any age.
    public var inputAgeLimit: Duration?
    /// The name of the campaign in the history.
    public var name = "campaign"
    /// The path of the directory that holds the history of runs, ``RunHistory``, in which each run leaves a line. It is
    /// created if it does not exist. Nil to keep no history; then no expectation can compare with earlier nights.
    public var stateDirectory: String?
    /// How a new run treats earlier runs of the campaign; nil to send whatever it is given. With rules, ``CampaignRun`` refuses an input
    /// that ``CampaignBook`` would not send.
    public var book: BookRules?
    /// The template of the payloads. If neither this nor ``templates`` is set, every row needs a `payload` column.
    public var template: Template?
    /// Several templates, in place of ``template``.
    public var templates: Templates?
    /// The app's `Localizable.strings` files. Every `loc-key` of a payload must be in each language, and take as many
    /// arguments as the payload has. If empty, `loc-key`s are not checked.
    public var strings: [Strings] = []
    /// The format of the input. Rows that the program makes have none.
    public var inputFormat = InputFormat.automatic
    /// The byte that separates fields of a CSV input.
    public var delimiter = UInt8(ascii: ",")
    /// How a CSV input writes quotes inside quoted fields. Rows that the program makes have none of this.
    public var escape = Escape.automatic
    /// The HTTP proxy to connect through; nil to connect to the destination directly.
    public var proxy: Proxy?
    /// CA certificates to trust besides those of the system, in PEM.
    public var authorities: [UInt8] = []
    /// Whether the CA certificates of the system are trusted.
    public var systemTrust = true
    /// The UUID of the campaign; nil for a random one. A resumed run has that of its first session.
    public var id: CampaignID?
    /// The path of the directory for the results. It is created if it does not exist, and must not contain the results of
    /// another run unless that run is resumed. Nil for a new directory below `runs/`; a resumed run needs a path.
    public var runDirectory: String?
    /// Where columns of the input have another name than the campaign uses: its name, such as `token`, and that of the input, such
    /// as `Address`. In NDJSON the latter is a path, such as `User.UserId` or `Attributes.team.0`, in which a number also picks an element of an
    /// array, from 0, and `\.` is a dot within a key. A column of the input whose own name is given another place is not used under it.
    public var columns: [String: String] = [:]
    /// The rows that are sent: those whose fields of all these columns, by the names that the campaign uses, are one of the given texts, compared
    /// byte by byte. A field that a row of NDJSON does not have is empty. All other rows end as ``Outcome/suppressed`` with the reason
    /// `NotSelected`, before they are checked; a row that cannot be read ends as invalid.
    public var only: [String: [String]] = [:]
    /// Columns of the input that are copied into `results.csv`, after its own columns and in this order; at most 8. Texts
    /// longer than 255 bytes are cut between two characters.
    public var resultColumns: [String] = []
    /// Columns among ``resultColumns`` by whose values the rows are counted at the end of the run, for its summary and report. Their
    /// 50 most frequent values are shown, and all others together. `results.csv` is read once for that.
    public var reportBy: [String] = []
    /// The number of sending threads, 1 to 256; nil for the number of cores minus one, at least one.
    public var lanes: Int?
    /// The maximum number of connections that a lane opens for each provider, 1 to 512. With several providers a lane opens
    /// at most 2,048 in all.
    public var connections = 32
    /// The maximum number of streams in use at once on one connection, 1 to 10,000. It also applies where the server allows
    /// more or announces no limit.
    public var streams = 1000
    /// The event loop that drives the sockets.
    public var loop = Loop.automatic
    /// The maximum number of requests for one row, including the first, 1 to 1,000. Requests that certainly did not arrive,
    /// and those during an outage, do not count.
    public var attempts = 5
    /// The longest delay before a row is first sent again, a millisecond to a day. The actual delay is random and
    /// at least half as long. It doubles with each attempt, up to a minute. It applies after 429 and lost requests, and
    /// after 500 and 503 unless ``unavailableDelay`` is set. Nil for the defaults: one second, and five seconds after 500
    /// and 503.
    public var retryDelay: Duration?
    /// The same delay after 500 and 503; it doubles up to 15 minutes. Nil for ``retryDelay``, or for five seconds if that is
    /// nil, too. Apple recommends 15 minutes.
    public var unavailableDelay: Duration?
    /// The longest delay that the `retry-after` header field of an answer, in seconds or as a date, can impose, at most 30 days.
    /// Zero ignores the field.
    public var retryAfterLimit = Duration.seconds(900)
    /// The maximum number of rows of a lane that wait to be sent again, 1 to 1,000,000. Each takes some hundred bytes. A
    /// lane with that many takes no new rows until fewer wait.
    public var retryRows = 16_384
    /// When the campaign stops sending: a time, or a duration from its start. Rows that were not sent by then end as
    /// ``Outcome/expired``, and no row is sent again; the answers to requests in flight are awaited. A row that APNs
    /// answered with 429 or 5xx ends as ``Outcome/unavailable`` with that answer, and one that may have arrived as
    /// ``Outcome/unknown``. Nil for no end.
    public var notAfter: Expiration?
    /// Whether the input is a part of one that was judged as a whole, by the program that divided it. A part judges no column by its own first
    /// rows: those that lack one are invalid, or have an empty field. A part that begins after ``notAfter``, or after the expiration of the
    /// header fields, is not refused: its rows end as ``Outcome/expired``.
    public var isPart = false
    /// The limits of requests per time.
    public var rateLimit = RateLimit()
    /// The path of a file through which runs on this machine share one limit, even if other processes run them: all their
    /// requests together keep it. They must have the same ``RateLimit/rate``. The file is created if it does not exist. Nil
    /// for a limit of this run alone.
    public var sharedRatePath: String?
    /// The shares of refusals at which the run ends.
    public var circuitBreaker = CircuitBreaker()
    /// The first rows, which are sent before the rest; nil to send on all lanes from the start.
    public var canary: Canary?
    /// The time after which a request without an answer fails, a millisecond to 49 days.
    public var requestTimeout = Duration.seconds(30)
    /// The longest time for which answers that have arrived wait for others, at most 100 milliseconds; zero handles each at once.
    /// Fewer wake-ups take less processor time: at a limit of requests per second answers wait for a hundredth of the mean
    /// answer time, and while all streams are in use for up to a sixteenth of it or an eighth of the time that requests queue.
    public var answerGathering = Duration.milliseconds(10)
    /// The time without any connection after which the run ends, a second to a day. Once APNs has answered in a run,
    /// ``unavailablePatience`` applies instead if it is longer.
    public var connectPatience = Duration.seconds(60)
    /// The time without an answer to waiting rows after which their connections are replaced, a second to a day. It is
    /// raised to ``requestTimeout`` if that is longer. After twice as long the run ends; once APNs has answered in the run,
    /// it ends after ``unavailablePatience`` if that is longer.
    public var answerPatience = Duration.seconds(60)
    /// The time for which APNs may be in trouble before the run ends, a second to a day: most answers are 429 or 5xx,
    /// no answer comes, or no connection can be established. Until then only single probes are sent, and attempts do not
    /// count. The remaining rows stay without an outcome, and a resumed run sends them.
    public var unavailablePatience = Duration.seconds(3600)
    /// The time that a connection has to answer the requests in flight after GOAWAY, a second to a day.
    public var goawayPatience = Duration.seconds(10)
    /// The time without an answer after which a PING is sent on a connection with requests in flight, a second to a day.
    public var pingAfter = Duration.seconds(5)
    /// The time after which an unanswered PING, or unacknowledged bytes, cause a connection to be replaced, a second to a day.
    public var pingPatience = Duration.seconds(10)
    /// The time for which answers are awaited after ``CampaignRun/stop()``, at most a day.
    public var stopPatience = Duration.seconds(10)
    /// The policy for rows that may have been sent and have no answer.
    public var onUnknown = UnknownPolicy.resend
    /// Whether a resumed run also sends the rows again that ended as ``Outcome/unavailable``.
    public var retryUnavailable = false
    /// The time between two syncs of the run's records to the disk, 10 milliseconds to a minute.
    public var syncInterval = Duration.seconds(1)
    /// Bytes of the caller's choice, such as the arguments of a command, at most 256 KiB. They are stored with the run and
    /// returned by ``RunStatus/note``. They are not encrypted: do not store secrets here.
    public var note: [UInt8] = []
    /// The end-to-end encryption of parts of the payloads; nil to send all payloads unencrypted.
    public var encryption: Encryption?

    /// Creates a campaign of several providers. If `topic` is nil, every row must have a topic of its own.
    public init(destination: Destination, topic: String?, providers: [Provider]) {
        (self.destination, self.providers) = (destination, providers)
        headers.topic = topic
    }

    /// Creates a campaign of one provider, which covers all topics.
    public init(destination: Destination, topic: String?, credentials: Credentials) {
        self.init(destination: destination, topic: topic, providers: [Provider(credentials: credentials)])
    }

    /// The credentials of the first provider. Setting them replaces all providers by one that covers all topics.
    public var credentials: Credentials {
        get { providers.first?.credentials ?? .none }
        set { providers = [Provider(credentials: newValue)] }
    }
}
