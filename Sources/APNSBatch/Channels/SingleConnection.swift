import APNSBatchBasics
import APNSBatchNotification
import APNSBatchTransport

/// The connection of a ``RequestClient``. Used only on the thread that made it.
struct SingleConnection: ~Copyable {
    private let client: RequestClient
    private var transport: Transport
    private let tls: Int32
    /// The reason in the server's GOAWAY, as a suffix of messages; empty if there is none.
    private var goaway = ""

    /// - Parameter tunnel: The request to a proxy; empty without one.
    init(_ client: RequestClient, tunnel: [UInt8] = []) throws(TransportError) {
        var options = TransportOptions()
        options.connections = 2
        options.streams = 1
        options.bodyLimit = client.bodyLimit
        options.requestTimeout = client.timeout
        options.connectTimeout = client.timeout
        options.captures = RequestClient.captures
        var transport = try Transport(options)
        try transport.setTunnel(tunnel)
        tls = try transport.makeTLS(client.credentials?.tls(client.trust) ?? client.trust)
        self.transport = transport
        self.client = client
    }

    mutating func run(
        _ request: RequestClient.Request, authorization: SecretBytes?, into exchange: inout RequestClient.Exchange
    ) throws(TransportError) {
        var fields = [
            RequestHeader.method.field(request.method), RequestHeader.scheme.field("https"),
            RequestHeader.authority.field(APNSHost.authority(host: client.host, port: client.port)),
        ]
        fields += request.fields
        try transport.defineHeaderSet(0, fields.map(\.bytes))
        guard let connection = try connect(&exchange) else { return }
        if let authorization { try transport.setField(RequestHeader.authorization.name, authorization, of: connection) }
        exchange.result = try send(request, on: connection)
    }

    /// Connects to the first address that accepts a connection; returns nil if none does.
    private mutating func connect(_ exchange: inout RequestClient.Exchange) throws(TransportError) -> ConnectionID? {
        for address in exchange.addresses {
            let connection = try transport.connect(to: address, host: client.host, tls: tls, context: 0)
            switch try waitUntilUp() {
            case .success(let security):
                exchange.address = address
                exchange.security = security
                return connection
            case .failure(let failure):
                exchange.result = .failure(failure)
                exchange.failed.append((address, failure.text))
                // A failure of TLS concerns the host and not the address, so further addresses are not tried.
                if failure.kind != .connection { return nil }
            }
        }
        return nil
    }

    private mutating func waitUntilUp() throws(TransportError) -> Result<String, RequestClient.Failure> {
        while true {
            let harvest = try transport.poll(timeout: 1_000_000, linger: 0)
            for index in unsafe harvest.events.indices {
                let event = unsafe harvest.events[index]
                if unsafe event.eventKind == .up { return unsafe .success(event.detailText) }
                if unsafe event.eventKind == .down { return unsafe .failure(Self.failure(event)) }
            }
        }
    }

    private static func failure(_ event: EventRecord) -> RequestClient.Failure {
        if unsafe event.saysNoHTTP2 { return unsafe .init(kind: .noHTTP2, text: event.detailText) }
        if unsafe event.saysUntrusted { return unsafe .init(kind: .certificate, text: event.detailText) }
        return unsafe .init(kind: event.failureScope == .tls ? .tls : .connection, text: event.detailText)
    }

    private mutating func send(
        _ request: RequestClient.Request, on connection: ConnectionID
    ) throws(TransportError) -> Result<RequestClient.Response, RequestClient.Failure> {
        // These are allocated, since the core reads them until the completion.
        let path = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: request.path.utf8.count)
        let body = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: request.body.count)
        let record = UnsafeMutableBufferPointer<RequestRecord>.allocate(capacity: 1)
        defer {
            unsafe path.deallocate()
            unsafe body.deallocate()
            unsafe record.deallocate()
        }
        _ = unsafe path.initialize(fromContentsOf: request.path.utf8)
        _ = unsafe body.initialize(fromContentsOf: request.body)
        unsafe record.initialize(repeating: RequestRecord())
        unsafe record[0].connection = connection
        unsafe record[0].path = unsafe UnsafePointer(path.baseAddress)
        unsafe record[0].path_length = UInt32(path.count)
        unsafe record[0].body = unsafe body.isEmpty ? nil : UnsafePointer(body.baseAddress)
        unsafe record[0].body_length = UInt32(body.count)
        try unsafe transport.submit(UnsafeBufferPointer(record))
        return try waitForCompletion()
    }

    private mutating func waitForCompletion() throws(TransportError) -> Result<
        RequestClient.Response, RequestClient.Failure
    > {
        while true {
            let harvest = try transport.poll(timeout: 1_000_000, linger: 0)
            if let event = unsafe harvest.events.last(where: { unsafe $0.eventKind == .goaway }) {
                goaway = unsafe Self.text(of: event)
            }
            guard let completion = unsafe harvest.completions.first else { continue }
            guard unsafe completion.deliveryState == .answered else { return unsafe .failure(noAnswer(completion)) }
            return unsafe .success(Self.response(completion))
        }
    }

    private static func text(of event: EventRecord) -> String {
        switch unsafe GoAwayDebug.parse(event.detailBytes) {
        case .reason(let reason): ": \(reason)"
        case .text(let text): ": \(text)"
        case .empty: ""
        }
    }

    private func noAnswer(_ completion: CompletionRecord) -> RequestClient.Failure {
        switch unsafe completion.failureScope {
        case .timeout: .init(kind: .noAnswer, text: "no answer within \(client.timeout / 1000) seconds")
        case .http2 where goaway.isEmpty:
            .init(kind: .noAnswer, text: unsafe "stream reset, code \(completion.code)")
        default: .init(kind: .noAnswer, text: "connection closed before the answer\(goaway)")
        }
    }

    private static func response(_ completion: CompletionRecord) -> RequestClient.Response {
        var fields: [String: String] = [:]
        unsafe completion.capturedFields.forEach { field in
            unsafe fields[String(decoding: field.nameBytes, as: UTF8.self)] = unsafe String(
                decoding: field.valueBytes, as: UTF8.self)
        }
        return unsafe RequestClient.Response(
            status: completion.status, fields: fields, body: Array(completion.bodyBytes))
    }
}
