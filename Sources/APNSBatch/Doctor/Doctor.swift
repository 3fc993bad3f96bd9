import APNSBatchBasics
import APNSBatchNotification
import APNSBatchTransport

/// Looks for what keeps campaigns from working on this machine and with these credentials: names, network, TLS, clock,
/// key and certificate, and with one push whether a token is of production or of the sandbox.
///
/// ```swift
/// var doctor = Doctor()
/// doctor.credentials = [.key(file: "AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")]
/// for finding in await doctor.examine() where finding.level != .ok { print(finding.text, finding.remedy ?? "") }
/// ```
public struct Doctor: Sendable {
    /// A server to look at.
    public struct Endpoint: Sendable, Equatable {
        public enum Environment: String, Sendable {
            case production, sandbox
            /// Some other server, of which nothing is known.
            case other
        }

        public var environment: Environment
        public var host: String
        public var port: UInt16

        public init(_ environment: Environment, host: String, port: UInt16) {
            self.environment = environment
            self.host = host
            self.port = port
        }

        public static let production = Endpoint(.production, APNSHost.push(.production))
        public static let sandbox = Endpoint(.sandbox, APNSHost.push(.sandbox))

        private init(_ environment: Environment, _ host: APNSHost) {
            self.init(environment, host: host.name, port: host.ports[0])
        }
    }

    /// The files that prove who sends. They are read here, so that what is wrong with them can be told.
    public enum Credentials: Sendable {
        /// A signing key (`.p8`), its id and the team's. The passphrase is for an encrypted one.
        case key(file: String, keyID: String, teamID: String, passphrase: [UInt8]? = nil)
        /// A client certificate (PEM, leaf first) and its key, nil when it is in the same file.
        case certificate(file: String, keyFile: String?, passphrase: [UInt8]? = nil)
    }

    /// A push that tells which environment a token is of: of type background, priority 5, expiration 0, payload
    /// `{"aps":{"content-available":1}}`. The device shows nothing.
    public struct Probe: Sendable, Equatable {
        /// Device token, hex.
        public var token: String
        /// Bundle id of the app that has it.
        public var topic: String
        /// Which of the ``Doctor/credentials`` sends it, from 0.
        public var sender: Int

        public init(token: String, topic: String, sender: Int = 0) {
            self.token = token
            self.topic = topic
            self.sender = sender
        }
    }

    public var endpoints = [Endpoint.production, .sandbox]
    /// Of each team that sends.
    public var credentials: [Credentials] = []
    public var probe: Probe?
    /// Certificates to trust besides the system's, PEM.
    public var authorities: [UInt8] = []
    /// Whether the system's certificates are trusted.
    public var systemTrust = true
    /// For connecting and for each answer, in milliseconds.
    public var timeout: UInt32 = 10_000

    public init() {}

    /// Makes all checks, one after the other. Sends nothing to a device unless there is a ``probe``.
    ///
    /// - Parameter report: gets each finding as soon as it is there.
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
            if !found.contains(where: { $0.level == .error && $0.what != EndpointCheck.clock }) {
                reachable.append(endpoint)
            }
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

    private func client(of endpoint: Endpoint, credentials: RequestCredentials?) -> RequestClient {
        var trust = TLSOptions()
        trust.authorities = authorities
        trust.systemTrust = systemTrust
        return RequestClient(
            host: endpoint.host, port: endpoint.port, trust: trust, credentials: credentials, timeout: timeout)
    }
}

extension Doctor.Endpoint {
    /// `api.push.apple.com:443`.
    var name: String { APNSHost.endpoint(host: host, port: port) }
}
