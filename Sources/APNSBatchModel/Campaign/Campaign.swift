/// A campaign: an input of rows, what each row becomes, and where it goes. A plain value; nothing happens until a
/// ``CampaignRun`` is made of it.
///
/// ```swift
/// var campaign = Campaign(
///     input: .file("rows.csv"), destination: .production, topic: "com.example.app",
///     credentials: .providerToken(keyPEM: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
/// campaign.template = .init(json: template, name: "payload.json")
/// let summary = try await CampaignRun(campaign).run()
/// ```
public struct Campaign: Sendable {
    /// Where the rows come from.
    public enum Input: Sendable, Equatable {
        /// A CSV file, by path.
        case file(String)
        /// Standard input; its size is not known, so progress has no end.
        case standardInput
    }

    /// Which APNs the rows go to. Hosts and ports: Apple, "Sending notification requests to APNs".
    public enum Destination: Sendable, Equatable {
        case production
        case sandbox
        /// Any other server that speaks HTTP/2 over TLS, such as a simulator or a proxy.
        case host(String, port: UInt16)
    }

    /// How the provider proves who it is.
    public enum Credentials: Sendable {
        /// A signing key (`.p8`, PKCS#8 PEM of a P-256 key), its ten-character id and the team's. Apple, "Establishing
        /// a token-based connection to APNs".
        case providerToken(keyPEM: [UInt8], keyID: String, teamID: String)
        /// A client certificate, leaf first, and its key, both PEM. Apple, "Establishing a certificate-based connection
        /// to APNs".
        case certificate(chainPEM: [UInt8], keyPEM: [UInt8])
        /// None: for servers that ask for none.
        case none
    }

    /// The credentials of one team, and the topics that they are for. Each provider has connections of its own: one
    /// connection never carries two teams.
    public struct Provider: Sendable {
        /// Bundle ids or whole topics. A bundle id covers its topics with the suffix of a push type, such as `.voip`,
        /// unless another provider names those. Empty: every topic that no other provider covers.
        public var topics: [String]
        public var credentials: Credentials

        public init(topics: [String] = [], credentials: Credentials) {
            self.topics = topics
            self.credentials = credentials
        }
    }

    /// How long a provider token lives, in seconds. APNs takes one for an hour, and another one on the same connection no
    /// sooner than after 20 minutes; a connection here never sees a second one. The defaults keep both with a margin and
    /// are for nobody to change but tests and servers with rules of their own. Apple, "Establishing a token-based
    /// connection to APNs".
    public struct TokenRotation: Sendable, Equatable {
        /// New connections get a new token when the last one is this old.
        public var mintAfter: Int
        /// A connection is replaced before its token is this old, and sends nothing from then on.
        public var retireAfter: Int

        /// - Parameters:
        ///   - mintAfter: at least 1.
        ///   - retireAfter: more than `mintAfter`, at most 86,400.
        public init(mintAfter: Int = 1800, retireAfter: Int = 3120) {
            self.mintAfter = mintAfter
            self.retireAfter = retireAfter
        }
    }

    /// A JSON template whose strings hold `{{column}}` placeholders.
    public struct Template: Sendable {
        /// The JSON text, UTF-8.
        public var json: [UInt8]
        /// What errors call it, such as a file's path.
        public var name: String

        public init(json: [UInt8], name: String) {
            self.json = json
            self.name = name
        }
    }

    /// What the headers of every row are, unless the row has a column of its own for them.
    public struct Headers: Sendable {
        /// Bundle id, or full topic; the suffix of the push type is added where it is missing.
        public var topic: String?
        /// `apns-push-type`.
        public var pushType = "alert"
        /// `apns-priority`: 10, 5 or 1; nil for the push type's default.
        public var priority: Int?
        /// `apns-expiration`; nil leaves it out, and APNs stores a push for its own default.
        public var expiration: Expiration?
        /// `apns-collapse-id`, at most 64 bytes; may hold `{{column}}` placeholders.
        public var collapseID: String?

        public init() {}
    }

    /// Templates of which each row picks one.
    public struct Templates: Sendable {
        /// Which column says the template.
        public enum Choice: Sendable {
            /// `locale`: a language tag, by lookup of RFC 4647 section 3.4: `zh-Hant-TW` takes `zh-Hant` where there is no
            /// template of its full name.
            case locale
            /// `variant`: the template's name.
            case variant
        }

        public var choice: Choice
        /// By language tag or name.
        public var templates: [String: Template]
        /// The template of rows whose column is empty or finds none. Needed by `locale`; without it such a row is
        /// invalid.
        public var fallback: String?

        public init(by choice: Choice, _ templates: [String: Template], fallback: String?) {
            self.choice = choice
            self.templates = templates
            self.fallback = fallback
        }
    }

    /// A `Localizable.strings` file.
    public struct Strings: Sendable {
        /// What findings call the language, such as `de`; several files may be of one.
        public var language: String
        /// UTF-8, or UTF-16 with its byte order mark.
        public var content: [UInt8]
        /// What errors call it, such as the file's path.
        public var name: String

        public init(language: String, content: [UInt8], name: String) {
            self.language = language
            self.content = content
            self.name = name
        }
    }

    /// When APNs gives up on a push. Apple, "Sending notification requests to APNs".
    public enum Expiration: Sendable, Equatable {
        /// Seconds since 1970-01-01 00:00 UTC; 0 means one attempt, nothing stored.
        case at(UInt64)
        /// Seconds after the campaign's start.
        case after(UInt64)
    }

    /// Which event loop drives the sockets.
    public enum Loop: String, Sendable, CaseIterable {
        /// io_uring where the kernel allows it, else epoll.
        case automatic
        case ioUring = "io_uring"
        case epoll
    }

    /// Where the rows come from.
    public var input: Input
    /// Where they go.
    public var destination: Destination
    /// Who sends for which topics; 1 to 100. The topic of a row decides.
    public var providers: [Provider]
    /// When provider tokens are renewed.
    public var tokenRotation = TokenRotation()
    /// Devices by their tokens, or broadcast channels.
    public var recipients = Recipients.devices
    /// The headers of rows that have no columns of their own for them.
    public var headers = Headers()
    /// How many rows the input must have, good or not, so that anything is sent: an export that came out short is refused.
    /// Only for a file, which is counted before the first row is sent; a resumed run is not counted again. Nil for any.
    public var minRows: UInt64?
    /// Without a template every row needs a `payload` column.
    public var template: Template?
    /// Several templates, instead of one.
    public var templates: Templates?
    /// The app's own strings: every `loc-key` of a payload must stand in each language and take as many arguments as the
    /// payload gives. Empty: not looked at.
    public var strings: [Strings] = []
    /// The byte between fields.
    public var delimiter = UInt8(ascii: ",")
    /// Nil connects to the destination itself.
    public var proxy: Proxy?
    /// Certificates to trust besides the system's, PEM.
    public var authorities: [UInt8] = []
    /// Whether the system's certificates are trusted.
    public var systemTrust = true
    /// Two numbers that make this campaign's `apns-id`s its own, such as the halves of a UUID; random unless given.
    public var identity: (UInt64, UInt64)?
    /// Where results go; made if missing, must not hold those of another run unless it is resumed. Nil for a new directory below `runs/`.
    public var runDirectory: String?
    /// Columns of the input that are carried into `results.csv`, behind its own and in this order; at most 8. What is longer
    /// than 255 bytes is cut between two characters.
    public var resultColumns: [String] = []
    /// Threads that send; nil for one per core less one, at least one.
    public var lanes: Int?
    /// Connections that a lane may open at most for each provider.
    public var connections = 32
    /// Streams of one connection that are used at once at most, 1 to 10,000, also where the server allows more or names no
    /// limit.
    public var streams = 1000
    /// Which event loop drives the sockets.
    public var loop = Loop.automatic
    /// Requests made for one row at most, the first included.
    public var attempts = 5
    /// The longest first delay before a row is sent again, in milliseconds, 1 to 86,400,000; it doubles from attempt to
    /// attempt. Nil for a second after 429 and lost requests, and for ``unavailableDelay``.
    public var retryDelay: UInt64?
    /// The same after 500 and 503, where APNs itself is in trouble. Nil for ``retryDelay``, or five seconds without one;
    /// Apple says a quarter of an hour.
    public var unavailableDelay: UInt64?
    /// How much longer a `retry-after` of the answer, seconds or a date, may make a delay: up to so many seconds, at most
    /// 2,592,000. 0 passes over it.
    public var retryAfterLimit: UInt64 = 900
    /// How many rows of a lane may wait to be sent again, 1 to 1,000,000; a record of some hundred bytes each. While as many
    /// wait, no fresh row is taken; until then they hold up none.
    public var retryRows = 16_384
    /// When the campaign stops sending: a time, or a duration from its start. Rows that were not sent by then end as
    /// ``Outcome/expired``, and none is sent again; answers under way are awaited. A row that APNs refused for the time being
    /// is ``Outcome/unavailable`` with that answer, and one that may have arrived ``Outcome/unknown``. Nil for no end.
    public var notAfter: Expiration?
    /// When answers end the run.
    public var circuitBreaker = CircuitBreaker()
    /// The first rows alone; nil for all lanes from the start.
    public var canary: Canary?
    /// How long a request may take, in milliseconds, at least 1.
    public var requestTimeout: UInt32 = 30_000
    /// How long no connection may be had before the run ends, in seconds, 1 to 86,400. Once APNs has answered in a run,
    /// ``unavailablePatience`` holds instead, if it is longer.
    public var connectPatience = 60
    /// How long rows may get no answer before their connections are replaced, in seconds, 1 to 86,400, and at least
    /// ``requestTimeout``. After twice as long the run ends, or after ``unavailablePatience`` once APNs has answered in it.
    public var answerPatience = 60
    /// How long APNs may be in trouble before the run ends, in seconds, 1 to 86,400: most answers are 429 or 5xx, no answer
    /// comes, or no connection can be had. Until then only a probe is sent now and then, and attempts do not count. Rows
    /// that are left stay without an outcome, and a resumed run sends them.
    public var unavailablePatience = 3600
    /// How long a connection whose server said GOAWAY may still answer what it has, in seconds, 1 to 86,400.
    public var goawayPatience = 10
    /// How long a connection with requests under way may be silent before it is sent a PING, in seconds, 1 to 86,400.
    public var pingAfter = 5
    /// How long a PING, or bytes sent, may stay unanswered before the connection is replaced, in seconds, 1 to 86,400.
    public var pingPatience = 10
    /// How long answers are waited for after ``CampaignRun/stop()``, in seconds.
    public var stopPatience = 10
    /// What becomes of rows that may have been sent and have no answer.
    public var onUnknown = UnknownPolicy.resend
    /// Whether a resumed run also sends rows again that ended as ``Outcome/unavailable``.
    public var retryUnavailable = false
    /// How often the run's records are made to survive a loss of power, in milliseconds, 10 to 60,000.
    public var syncInterval = 1000
    /// The caller's own, kept with the run and given back by ``RunStatus/note``, such as the arguments of a command; at
    /// most 256 KiB. It is not encrypted: never a secret.
    public var note: [UInt8] = []
    /// Nil sends everything in the clear.
    public var encryption: Encryption?

    /// A campaign of several providers. Without a topic every row must bring one.
    public init(input: Input, destination: Destination, topic: String?, providers: [Provider]) {
        self.input = input
        self.destination = destination
        self.providers = providers
        headers.topic = topic
    }

    /// A campaign of one provider for all its topics.
    public init(input: Input, destination: Destination, topic: String?, credentials: Credentials) {
        self.init(
            input: input, destination: destination, topic: topic, providers: [Provider(credentials: credentials)])
    }

    /// The credentials of the first provider. Setting them makes it the only one, for all topics.
    public var credentials: Credentials {
        get { providers.first?.credentials ?? .none }
        set { providers = [Provider(credentials: newValue)] }
    }
}
