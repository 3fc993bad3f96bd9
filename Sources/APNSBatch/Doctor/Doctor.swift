import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// Checks whether campaigns can work on this machine and with these credentials: name resolution, network, TLS, clock, keys
/// and certificates, and with a single push whether a token belongs to production or to the sandbox.
///
/// ```swift
/// var doctor = Doctor()
/// doctor.credentials = [.key(file: "AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")]
/// for finding in await doctor.examine() where finding.level != .ok { print(finding.text, finding.remedy ?? "") }
/// ```
public struct Doctor: Sendable {
    /// A server to check.
    public struct Endpoint: Sendable, Equatable {
        /// The environment of a server.
        @nonexhaustive
        public enum Environment: String, Sendable {
            /// Apple's production environment.
            case production
            /// Apple's sandbox, for apps that are being developed.
            case sandbox
            /// Another server, such as a simulator.
            case other
        }

        /// The environment, which determines the meaning of answers for a ``Probe``.
        public var environment: Environment
        /// A name, or an address in numbers.
        public var host: String
        /// The TCP port.
        public var port: UInt16

        /// Creates an endpoint.
        public init(_ environment: Environment, host: String, port: UInt16) {
            self.environment = environment
            self.host = host
            self.port = port
        }

        /// `api.push.apple.com:443`.
        public static let production = Endpoint(.production, APNSHost.push(.production))
        /// `api.sandbox.push.apple.com:443`.
        public static let sandbox = Endpoint(.sandbox, APNSHost.push(.sandbox))

        private init(_ environment: Environment, _ host: APNSHost) {
            self.init(environment, host: host.name, port: host.ports[0])
        }
    }

    /// Files with credentials. The doctor reads them itself, so that it can report what is wrong with them.
    @nonexhaustive
    public enum Credentials: Sendable {
        /// A signing key (`.p8`), its id and that of the team, and the passphrase if the key is encrypted.
        case key(file: String, keyID: String, teamID: String, passphrase: [UInt8]? = nil)
        /// A client certificate (PEM, leaf first, or PKCS#12) and its key; nil if the key is in the same file.
        case certificate(file: String, keyFile: String?, passphrase: [UInt8]? = nil)
        /// A provider token that was made elsewhere.
        case issuedToken(file: String)
    }

    /// A push that determines the environment of a token. It has type background, priority 5, expiration 0 and the payload
    /// `{"aps":{"content-available":1}}`, so that the device displays nothing.
    public struct Probe: Sendable, Equatable {
        /// The device token, in hex digits.
        public var token: String
        /// The bundle id of the app that registered the token.
        public var topic: String
        /// The index in ``Doctor/credentials`` of those that send the push.
        public var sender: Int

        /// Creates a probe, sent by the first credentials unless another index is given.
        public init(token: String, topic: String, sender: Int = 0) {
            self.token = token
            self.topic = topic
            self.sender = sender
        }
    }

    /// The servers to check, in this order.
    public var endpoints = [Endpoint.production, .sandbox]
    /// The credentials to check, for each team.
    public var credentials: [Credentials] = []
    /// The push with which the environment of a token is determined; nil to send none.
    public var probe: Probe?
    /// Whether each server is asked if it accepts the ``credentials``, by a request that reaches no device: it has no device token.
    public var asksForCredentials = false
    /// The topic of that request; nil for none.
    public var topic: String?
    /// The proxy through which connections are made; nil for none.
    public var proxy: Campaign.Proxy?
    /// CA certificates to trust besides those of the system, in PEM.
    public var authorities: [UInt8] = []
    /// Whether the CA certificates of the system are trusted.
    public var systemTrust = true
    /// The timeout for connecting, and for each answer.
    public var timeout = Duration.seconds(10)

    /// Creates a doctor that checks production and sandbox, without credentials.
    public init() {}

    /// Runs all checks, one after the other, and returns their findings. Without a ``probe`` nothing is sent to a device.
    ///
    /// - Parameter report: Called with each finding as soon as it is available.
    public func examine(_ report: (Finding) -> Void = { _ in }) async -> [Finding] {
        var findings: [Finding] = []
        func add(_ found: [Finding]) {
            findings += found
            for finding in found { report(finding) }
        }
        let checks = credentials.map { CredentialsCheck(now: Int64(SystemClock.seconds())).examine($0) }
        add(checks.flatMap(\.findings))
        var reachable: [Endpoint] = []
        for endpoint in endpoints {
            let check = EndpointCheck(endpoint, client: client(of: endpoint, credentials: nil))
            let found = await check.examine()
            add(found)
            guard !found.contains(where: { $0.level == .error && $0.what != EndpointCheck.clock }) else { continue }
            reachable.append(endpoint)
            if asksForCredentials { add(await ask(endpoint, checks.map(\.usable))) }
        }
        guard let probe else { return findings }
        guard checks.indices.contains(probe.sender), let usable = checks[probe.sender].usable else {
            add([Finding(.error, "probe", "not sent: there are no usable credentials")])
            return findings
        }
        add(await examine(probe, at: reachable, usable))
        return findings
    }

    private func examine(
        _ probe: Probe, at endpoints: [Endpoint], _ credentials: RequestCredentials
    ) async -> [Finding] {
        var check = ProbeCheck(probe)
        if let fault = check.fault { return [fault] }
        var findings: [Finding] = []
        for endpoint in endpoints {
            let exchange = await client(of: endpoint, credentials: credentials).send(check.request)
            findings.append(check.judge(exchange.result, of: endpoint))
        }
        return findings + check.verdict
    }

    /// Asks one server about all credentials that are usable.
    private func ask(_ endpoint: Endpoint, _ usable: [RequestCredentials?]) async -> [Finding] {
        var findings: [Finding] = []
        for (number, credentials) in usable.enumerated() {
            guard let credentials else { continue }
            let exchange = await client(of: endpoint, credentials: credentials).send(
                CredentialsQuestion.request(topic: topic))
            let what = credentials.name + (usable.count > 1 ? " \(number + 1)" : "")
            findings.append(CredentialsQuestion.judge(exchange.result, of: endpoint, what))
        }
        return findings
    }

    private func client(of endpoint: Endpoint, credentials: RequestCredentials?) -> RequestClient {
        RequestClient(
            host: endpoint.host, port: endpoint.port,
            trust: TLSOptions(authorities: authorities, systemTrust: systemTrust), credentials: credentials,
            proxy: proxy, timeout: UInt32(clamping: timeout.milliseconds))
    }
}

extension Doctor.Endpoint {
    /// Host and port, such as `api.push.apple.com:443`.
    var name: String { APNSHost.endpoint(host: host, port: port) }
}
