import APNSBatchCredentials
import APNSBatchIdentities
import CAPNSTransport
import CAPNSTransportServer
import Glibc

struct TransportFailure: Error {
    var status: Int32
    var text: String
}

/// A transport and all events that it has reported.
final class Side {
    let handle: OpaquePointer
    private(set) var outcomes: [Outcome] = []
    private(set) var events: [Event] = []
    private(set) var received: [Received] = []
    /// Whether a connection has come up, and the first one that is down.
    private(set) var isUp = false
    private(set) var down: Event?
    /// Handles each request received. The response is sent at once.
    var answer: ((Received) -> Response?)?
    private let arena = Arena()

    /// - Parameter open: makes the transport, `apns_transport_create` unless another is given.
    init(
        _ limits: Limits,
        open: (inout apns_transport_options, inout OpaquePointer?, inout apns_error) -> Int32 = {
            apns_transport_create(&$0, &$1, &$2)
        }
    ) throws {
        var names = limits.captures.map { UnsafePointer<CChar>(strdup($0)) }
        defer { names.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
        var made: OpaquePointer?
        var error = apns_error()
        let status = names.withUnsafeMutableBufferPointer { captures in
            var options = apns_transport_options(
                loop: limits.loop.rawValue, connections_max: limits.connections, streams_max: limits.streams,
                body_received_max: limits.bodyReceived, request_timeout_ms: limits.requestTimeoutMs,
                connect_timeout_ms: limits.connectTimeoutMs, send_buffer_max: limits.sendBuffer,
                capture_count: UInt32(limits.captures.count), captures: UnsafePointer(captures.baseAddress))
            return open(&options, &made, &error)
        }
        guard let made else { throw TransportFailure(status: status, text: error.message) }
        handle = made
    }

    deinit {
        apns_transport_destroy(handle)
    }

    var statistics: apns_transport_statistics {
        var statistics = apns_transport_statistics()
        apns_transport_statistics_get(handle, &statistics)
        return statistics
    }

    // MARK: - setting up

    func tls(
        _ fill: (inout apns_transport_tls_options) -> Void, pem: [[UInt8]?], server: Bool = false
    ) throws -> Int32 {
        var options = apns_transport_tls_options()
        var error = apns_error()
        let (ca, certificate, key) = (pem[0] ?? [], pem[1] ?? [], pem[2] ?? [])
        let number = ca.withUnsafeBufferPointer { ca in
            certificate.withUnsafeBufferPointer { certificate in
                key.withUnsafeBufferPointer { key in
                    options.ca_pem = ca.isEmpty ? nil : ca.baseAddress
                    options.certificate_pem = certificate.isEmpty ? nil : certificate.baseAddress
                    options.key_pem = key.isEmpty ? nil : key.baseAddress
                    options.ca_length = UInt32(ca.count)
                    options.certificate_length = UInt32(certificate.count)
                    options.key_length = UInt32(key.count)
                    fill(&options)
                    return server
                        ? apns_transport_server_tls_create(handle, &options, &error)
                        : apns_transport_tls_create(handle, &options, &error)
                }
            }
        }
        guard number >= 0 else { throw TransportFailure(status: number, text: error.message) }
        return number
    }

    func listen(
        streamsMax: UInt32 = 100, identity: ServerIdentity = .test, askForCertificate: Bool = false,
        clientCA: [UInt8]? = nil, own: (certificatePEM: [UInt8], keyPEM: [UInt8])? = nil
    ) throws -> UInt16 {
        let own = own ?? (identity.certificatePEM, identity.keyPEM)
        let tls = try tls(
            { $0.request_client_certificate = askForCertificate ? 1 : 0 },
            pem: [clientCA, own.certificatePEM, own.keyPEM], server: true)
        var port: UInt16 = 0
        var error = apns_error()
        let status = withLoopback(port: 0) { address, length in
            var options = apns_transport_listen_options(
                address: address, context: 77, address_length: length, tls: tls, streams_max: streamsMax,
                stream_window: 0)
            return apns_transport_listen(handle, &options, &port, &error)
        }
        guard status == 0 else { throw TransportFailure(status: status, text: error.message) }
        return port
    }

    func connect(
        _ port: UInt16, host: String = "localhost", ca: [UInt8]? = ServerIdentity.test.caPEM,
        certificate: ServerIdentity? = nil, own: (certificatePEM: [UInt8], keyPEM: [UInt8])? = nil, context: UInt64 = 5
    ) throws -> UInt64 {
        let own = own ?? certificate.map { ($0.certificatePEM, $0.keyPEM) }
        let tls = try tls({ _ in }, pem: [ca, own?.certificatePEM, own?.keyPEM])
        var connection: UInt64 = 0
        var error = apns_error()
        let status = withLoopback(port: port) { address, length in
            host.withCString { name in
                var options = apns_transport_connect_options(
                    address: address, host_name: name, context: context, address_length: length, tls: tls)
                return apns_transport_connect(handle, &options, &connection, &error)
            }
        }
        guard status == 0 else { throw TransportFailure(status: status, text: error.message) }
        return connection
    }

    func define(_ number: UInt16 = 0, _ more: [Field] = []) {
        let fields = [
            Field(name: ":method", value: "POST"), Field(name: ":scheme", value: "https"),
            Field(name: ":authority", value: "localhost"),
        ]
        let all = fields + more
        precondition(apns_transport_header_set_define(handle, number, arena.fields(all), UInt32(all.count)) == 0)
    }

    func share(_ fields: [Field], on connection: UInt64) {
        precondition(
            apns_transport_connection_fields_set(handle, connection, arena.fields(fields), UInt32(fields.count)) == 0)
    }

    // MARK: - working

    @discardableResult
    func submit(_ requests: [Request], on connection: UInt64) -> Int32 {
        let records = requests.map { arena.record($0, on: connection) }
        return apns_transport_submit(handle, records, UInt32(records.count))
    }

    func respond(_ response: Response, to received: Received) {
        var record = arena.record(response, to: received)
        apns_transport_respond(handle, &record, 1)
    }

    /// Calls the transport's poll once with arrays of `capacity` records, and stores what it reports.
    func poll(timeoutMs: UInt32 = 0, lingerUs: UInt32 = 0, capacity: Int = 256) {
        withUnsafeTemporaryAllocation(of: apns_transport_completion.self, capacity: capacity) { outcomes in
            withUnsafeTemporaryAllocation(of: apns_transport_event.self, capacity: capacity) { events in
                withUnsafeTemporaryAllocation(of: apns_transport_received.self, capacity: capacity) { received in
                    var io = apns_transport_poll_io()
                    io.completions = outcomes.baseAddress
                    io.events = events.baseAddress
                    io.received = received.baseAddress
                    io.completion_capacity = UInt32(capacity)
                    io.event_capacity = UInt32(capacity)
                    io.received_capacity = UInt32(capacity)
                    io.timeout_us = timeoutMs * 1000
                    io.linger_us = lingerUs
                    precondition(apns_transport_poll(handle, &io) == 0)
                    // Most polls report nothing, and a test polls very often.
                    for index in 0..<Int(io.completion_count) { self.outcomes.append(Outcome(outcomes[index])) }
                    for index in 0..<Int(io.event_count) { note(Event(events[index])) }
                    guard io.received_count > 0 else { return }
                    take(received.prefix(Int(io.received_count)).map(Received.init))
                }
            }
        }
    }

    private func note(_ event: Event) {
        events.append(event)
        if event.kind == APNS_TRANSPORT_EVENT_UP.rawValue { isUp = true }
        if event.kind == APNS_TRANSPORT_EVENT_DOWN.rawValue { down = down ?? event }
    }

    private func take(_ requests: [Received]) {
        received += requests
        guard let answer else { return }
        for request in requests {
            if let response = answer(request) {
                respond(response, to: request)
            }
        }
    }

    // MARK: - looking

    func events(_ kind: apns_transport_event_kind) -> [Event] {
        events.filter { $0.kind == kind.rawValue }
    }

    var ping: [Event] { events(APNS_TRANSPORT_EVENT_PONG) }
}

extension apns_error {
    var message: String {
        withUnsafeBytes(of: text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

func withLoopback<R>(port: UInt16, _ body: (UnsafePointer<sockaddr>, UInt32) -> R) -> R {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, UInt32(MemoryLayout<sockaddr_in>.size))
        }
    }
}

extension ServerIdentity {
    static let test = try! ServerIdentity.make(hosts: ["localhost", "127.0.0.1"])
    static let other = try! ServerIdentity.make(hosts: ["localhost"])
}
