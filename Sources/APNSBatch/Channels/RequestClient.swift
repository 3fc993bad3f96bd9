import APNSBatchBasics
import APNSBatchNotification
import APNSBatchTransport

/// Sends one request on a connection of its own: for what is no campaign. Each call has a thread and a loop for as
/// long as it takes.
struct RequestClient: Sendable {
    struct Request: Sendable {
        var method = "GET"
        var path: String
        /// Without the pseudo-header fields and without credentials.
        var fields: [HeaderField] = []
        var body: [UInt8] = []
    }

    struct Response: Sendable {
        let status: UInt16
        /// Those of ``RequestClient/captures`` that came.
        let fields: [String: String]
        let body: [UInt8]
    }

    /// Why there is no response.
    struct Failure: Error, Sendable, Equatable {
        enum Kind: Sendable {
            /// The host has no address.
            case name
            /// No connection came about at any address.
            case connection
            /// The certificate does not verify.
            case certificate
            case tls
            /// The server does not speak HTTP/2.
            case noHTTP2
            /// The connection came about and the response did not.
            case noAnswer
            /// This machine refused something, or a key cannot sign.
            case local
        }

        let kind: Kind
        /// A sentence without a full stop.
        let text: String
    }

    /// How a request went, also when it failed half-way.
    struct Exchange: Sendable {
        var addresses: [SocketAddress] = []
        /// Addresses to which no connection came about, and why.
        var failed: [(address: SocketAddress, why: String)] = []
        /// The address that answered.
        var address: SocketAddress?
        /// TLS version and cipher.
        var security = ""
        var result: Result<Response, Failure> = .failure(Failure(kind: .local, text: "not sent"))
    }

    static let captures: [StaticString] = [
        "apns-id", "apns-unique-id", "apns-request-id", "apns-channel-id", "date", "retry-after",
    ]

    let host: String
    let port: UInt16
    let trust: TLSOptions
    let credentials: RequestCredentials?
    /// For connecting and for the answer each, in milliseconds.
    var timeout: UInt32 = 15_000
    /// Bytes of a body kept; a longer one is a failure.
    var bodyLimit = 64 * 1024

    /// What messages call the server.
    var endpoint: String { APNSHost.endpoint(host: host, port: port) }

    /// Sends it and waits without holding up the caller's thread.
    func send(_ request: Request) async -> Exchange {
        do throws(ThreadError) {
            return try await NamedThread.value("request") { exchange(request) }
        } catch {
            return Exchange(result: .failure(Failure(kind: .local, text: "\(error)")))
        }
    }

    /// Sends it. Blocks.
    private func exchange(_ request: Request) -> Exchange {
        var exchange = Exchange()
        do {
            exchange.addresses = try HostResolver.resolve(host: host, port: port)
        } catch {
            exchange.result = .failure(Failure(kind: .name, text: error.description))
            return exchange
        }
        do {
            let authorization = try credentials?.authorization(now: SystemClock.seconds())
            var connection = try SingleConnection(self)
            try connection.run(request, authorization: authorization, into: &exchange)
        } catch {
            exchange.result = .failure(Failure(kind: .local, text: "\(error)"))
        }
        return exchange
    }
}
