import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// Sends single requests outside of campaigns, each on a connection of its own, with a thread and an event loop that exist
/// for the duration of the call.
struct RequestClient: Sendable {
    struct Request: Sendable {
        var method = "GET"
        var path: String
        /// The header fields, without pseudo-header fields and credentials.
        var fields: [HeaderField] = []
        var body: [UInt8] = []
    }

    struct Response: Sendable {
        let status: UInt16
        /// The header fields of the answer that are listed in ``RequestClient/captures``.
        let fields: [String: String]
        let body: [UInt8]
    }

    /// The cause for which there is no response.
    struct Failure: Error, Sendable, Equatable {
        enum Kind: Sendable {
            /// The host name does not resolve.
            case name
            /// No connection could be established to any address.
            case connection
            /// The certificate does not verify.
            case certificate
            case tls
            /// The server does not speak HTTP/2.
            case noHTTP2
            /// The connection was established, but no response came.
            case noAnswer
            /// The operating system refused a resource, or a key cannot sign.
            case local
            /// The task was cancelled before the request was sent.
            case cancelled
        }

        let kind: Kind
        /// A sentence without a full stop.
        let text: String
    }

    /// The course of a request, even if it failed.
    struct Exchange: Sendable {
        var addresses: [SocketAddress] = []
        /// The addresses to which no connection could be established, and the causes.
        var failed: [(address: SocketAddress, why: String)] = []
        /// The address of the connection.
        var address: SocketAddress?
        /// The TLS version and cipher.
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
    /// The proxy through which connections are made; nil for none.
    var proxy: Campaign.Proxy?
    /// The timeout for connecting, and for the answer, in milliseconds.
    var timeout: UInt32 = 15_000
    /// The maximum length of a body, in bytes; a longer one is a failure.
    var bodyLimit = 64 * 1024

    /// The name of the server in messages.
    var endpoint: String { APNSHost.endpoint(host: host, port: port) }

    /// Sends a request on a thread of its own, without blocking the caller's thread. Nothing is sent if the task is cancelled.
    func send(_ request: Request) async -> Exchange {
        if Task.isCancelled {
            return Exchange(
                result: .failure(Failure(kind: .cancelled, text: "the task was cancelled; nothing was sent")))
        }
        do throws(ThreadError) {
            return try await NamedThread.value("request") { exchange(request) }
        } catch {
            return Exchange(result: .failure(Failure(kind: .local, text: "\(error)")))
        }
    }

    /// Sends a request. Blocks until it has ended.
    private func exchange(_ request: Request) -> Exchange {
        var exchange = Exchange()
        do {
            exchange.addresses = try HostResolver.resolve(host: proxy?.host ?? host, port: proxy?.port ?? port)
        } catch {
            exchange.result = .failure(Failure(kind: .name, text: error.description))
            return exchange
        }
        do {
            let authorization = try credentials?.authorization(now: SystemClock.seconds())
            var connection = try SingleConnection(self, tunnel: try proxy?.request(to: endpoint) ?? [])
            try connection.run(request, authorization: authorization, into: &exchange)
        } catch {
            exchange.result = .failure(Failure(kind: .local, text: "\(error)"))
        }
        return exchange
    }
}
