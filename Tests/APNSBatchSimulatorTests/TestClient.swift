import APNSBatchCredentials
import CAPNSTransport
import Glibc

@testable import APNSBatchSimulator

/// A client that uses the client side of the core from one thread. It has one connection, and every wait has a time
/// limit.
final class TestClient {
    /// The result of a request.
    struct Answer: Equatable {
        var status: UInt16
        var body: String
        /// The captured fields, by name.
        var fields: [String: String] = [:]
        var delivery: UInt8

        var id: String? { fields["apns-id"] }

        /// The status and the body, such as `400 {"reason":"BadTopic"}`.
        var text: String { body.isEmpty ? "\(status)" : "\(status) \(body)" }
    }

    /// A failure that occurred before a request could be sent.
    struct Failure: Error {
        var text: String
    }

    private let transport: OpaquePointer
    private(set) var connection: UInt64 = 0
    /// The MAX_CONCURRENT_STREAMS that the server announced last.
    private(set) var streamsMax: UInt32 = 0
    private(set) var isDown = false
    /// The debug data of the GOAWAY frames received.
    private(set) var farewells: [String] = []
    private var answers: [UInt64: Answer] = [:]
    private var headerSets: [[String]: UInt16] = [:]
    private var memory: [UnsafeMutableBufferPointer<UInt8>] = []

    init(
        port: UInt16, ca: [UInt8], loop: UInt32 = APNS_TRANSPORT_LOOP_AUTO.rawValue,
        certificate: (certificatePEM: [UInt8], keyPEM: [UInt8])? = nil
    ) throws {
        transport = try Self.create(loop)
        let tls = Self.secure(transport, ca, certificate)
        guard tls >= 0 else { throw Failure(text: "TLS") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                "localhost".withCString { name in
                    var options = apns_transport_connect_options()
                    options.address = address
                    options.address_length = UInt32(MemoryLayout<sockaddr_in>.size)
                    options.host_name = name
                    options.tls = tls
                    return apns_transport_connect(transport, &options, &connection, nil)
                }
            }
        }
        guard status == 0 else { throw Failure(text: "connect") }
        try poll(until: { self.streamsMax > 0 || self.isDown })
        guard !isDown else { throw Failure(text: "the connection did not come up") }
    }

    deinit {
        apns_transport_destroy(transport)
        memory.forEach { $0.deallocate() }
    }

    private static func secure(
        _ transport: OpaquePointer, _ ca: [UInt8], _ certificate: (certificatePEM: [UInt8], keyPEM: [UInt8])?
    ) -> Int32 {
        let (own, key) = certificate ?? ([], [])
        return ca.withUnsafeBufferPointer { ca in
            own.withUnsafeBufferPointer { own in
                key.withUnsafeBufferPointer { key in
                    var options = apns_transport_tls_options()
                    options.ca_pem = ca.baseAddress
                    options.ca_length = UInt32(ca.count)
                    options.certificate_pem = own.isEmpty ? nil : own.baseAddress
                    options.certificate_length = UInt32(own.count)
                    options.key_pem = key.isEmpty ? nil : key.baseAddress
                    options.key_length = UInt32(key.count)
                    return apns_transport_tls_create(transport, &options, nil)
                }
            }
        }
    }

    private static let captures = [
        "apns-id", "apns-request-id", "apns-channel-id", "apns-unique-id", "date", "retry-after",
    ]

    private static func create(_ loop: UInt32) throws -> OpaquePointer {
        var options = apns_transport_options()
        options.loop = loop
        options.connections_max = 2
        options.streams_max = 4096
        options.body_received_max = 1 << 16
        options.request_timeout_ms = 20_000
        options.connect_timeout_ms = 20_000
        options.send_buffer_max = 1 << 20
        options.capture_count = UInt32(Self.captures.count)
        var transport: OpaquePointer?
        var error = apns_error()
        let names = Self.captures.map { UnsafePointer<CChar>(strdup($0)) }
        defer { names.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
        let status = names.withUnsafeBufferPointer { names in
            options.captures = names.baseAddress
            return apns_transport_create(&options, &transport, &error)
        }
        guard status == 0, let transport else { throw Failure(text: "create") }
        return transport
    }

    /// Sends requests, each after the answer to the one before.
    func send(_ requests: [TestRequest]) throws -> [Answer] {
        try requests.map { try sendAtOnce([$0])[0] }
    }

    /// Sends all requests at once and waits for all answers.
    func sendAtOnce(_ requests: [TestRequest], seconds: Double = 20) throws -> [Answer] {
        answers = [:]
        let records = try requests.enumerated().map { try record($1, ticket: UInt64($0)) }
        let status = records.withUnsafeBufferPointer { records in
            apns_transport_submit(transport, records.baseAddress, UInt32(records.count))
        }
        guard status == 0 else { throw Failure(text: "submit") }
        try poll(seconds: seconds, until: { self.answers.count == requests.count })
        return (0..<requests.count).compactMap { answers[UInt64($0)] }
    }

    /// Polls until a condition holds.
    func poll(seconds: Double = 20, until isDone: () -> Bool) throws {
        let limit = apns_transport_now_ns(transport) + UInt64(seconds * 1e9)
        while !isDone() {
            guard apns_transport_now_ns(transport) < limit else {
                throw Failure(text: "\(seconds) seconds without an answer")
            }
            try pollOnce()
        }
    }

    private func pollOnce() throws {
        var outcomes = [apns_transport_completion](repeating: apns_transport_completion(), count: 256)
        var events = [apns_transport_event](repeating: apns_transport_event(), count: 16)
        let status = outcomes.withUnsafeMutableBufferPointer { outcomes in
            events.withUnsafeMutableBufferPointer { events in
                var io = apns_transport_poll_io()
                io.completions = outcomes.baseAddress
                io.completion_capacity = UInt32(outcomes.count)
                io.events = events.baseAddress
                io.event_capacity = UInt32(events.count)
                io.timeout_us = 20_000
                let status = apns_transport_poll(transport, &io)
                outcomes.prefix(Int(io.completion_count)).forEach(note)
                events.prefix(Int(io.event_count)).forEach(note)
                return status
            }
        }
        guard status == 0 else { throw Failure(text: "poll") }
    }

    private func note(_ outcome: apns_transport_completion) {
        var answer = Answer(
            status: outcome.status, body: Self.text(outcome.body, outcome.body_length), delivery: outcome.delivery)
        for field in UnsafeBufferPointer(start: outcome.fields, count: Int(outcome.field_count)) {
            answer.fields[Self.text(field.name, field.name_length)] = Self.text(field.value, field.value_length)
        }
        answers[outcome.ticket] = answer
    }

    private func note(_ event: apns_transport_event) {
        switch UInt32(event.kind) {
        case APNS_TRANSPORT_EVENT_UP.rawValue, APNS_TRANSPORT_EVENT_SETTINGS.rawValue: streamsMax = event.streams_max
        case APNS_TRANSPORT_EVENT_DOWN.rawValue: isDown = true
        case APNS_TRANSPORT_EVENT_GOAWAY.rawValue: farewells.append(Self.text(event.detail, event.detail_length))
        default: break
        }
    }

    private static func text(_ bytes: UnsafePointer<UInt8>?, _ length: UInt32) -> String {
        String(decoding: UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(length)), as: UTF8.self)
    }

    private func keep(_ bytes: [UInt8]) -> UnsafePointer<UInt8>? {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = copy.initialize(from: bytes)
        memory.append(copy)
        return UnsafePointer(copy.baseAddress)
    }

    /// Returns the header set of all fields except the path. There is one for each different list of fields.
    private func headerSet(_ request: TestRequest) throws -> UInt16 {
        let fields = request.fields.filter { $0.name != ":path" }
        let key = fields.flatMap { [$0.name, $0.value] }
        if let number = headerSets[key] {
            return number
        }
        var shared = request
        shared.fields = fields
        let number = UInt16(headerSets.count)
        let status = shared.withFields {
            apns_transport_header_set_define(transport, number, $0.baseAddress, UInt32($0.count))
        }
        guard status == 0 else { throw Failure(text: "header set") }
        headerSets[key] = number
        return number
    }

    private func record(_ request: TestRequest, ticket: UInt64) throws -> apns_transport_request {
        let path = Array((request[":path"] ?? "").utf8)
        var record = apns_transport_request()
        record.ticket = ticket
        record.connection = connection
        record.header_set = try headerSet(request)
        record.path = keep(path)
        record.path_length = UInt32(path.count)
        if !request.body.isEmpty {
            record.body = keep(request.body)
            record.body_length = UInt32(request.body.count)
        }
        return record
    }
}
