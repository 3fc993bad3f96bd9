import CAPNSTransport
import CAPNSTransportServer
import Glibc

/// The ports that a simulator listens on.
struct Ports: Sendable {
    var pushes: UInt16
    /// Nil when `pushes` serves all.
    var management: UInt16?
}

/// Makes a transport from options, with its number among those that are driven in turn; returns a status as
/// `apns_transport_create` does.
package typealias TransportMaking = (
    _ options: inout apns_transport_options, _ made: inout OpaquePointer?, _ number: inout UInt32,
    _ error: inout apns_error
) -> Int32

/// Makes the transport of a simulator and lets it listen, on the calling thread.
enum Listener {
    /// A transport that listens, and its ports. Destroyed by the caller, on the same thread.
    static func open(_ configuration: SimulatorConfiguration) throws(SimulatorError) -> (OpaquePointer, Ports) {
        var number: UInt32 = 0
        return try open(configuration, &number) { options, made, _, error in
            apns_transport_create(&options, &made, &error)
        }
    }

    /// The same with a transport that `make` makes, and its number.
    static func open(
        _ configuration: SimulatorConfiguration, _ number: inout UInt32, make: TransportMaking
    ) throws(SimulatorError) -> (OpaquePointer, Ports) {
        let transport = try create(configuration, make, &number)
        do {
            let tls = try secure(transport, configuration)
            let services: Services = configuration.managementPort == nil ? .all : .pushes
            var ports = Ports(pushes: 0, management: nil)
            ports.pushes = try listen(transport, configuration, port: configuration.port, for: services, tls: tls)
            if let port = configuration.managementPort {
                ports.management = try listen(transport, configuration, port: port, for: .management, tls: tls)
            }
            return (transport, ports)
        } catch {
            apns_transport_destroy(transport)
            throw error
        }
    }

    /// Listens again on a port that was closed; false when it cannot be had yet.
    static func reopen(_ transport: OpaquePointer, _ configuration: SimulatorConfiguration, _ ports: Ports) -> Bool {
        let services: Services = ports.management == nil ? .all : .pushes
        // The only TLS configuration, made when the transport was opened.
        return (try? listen(transport, configuration, port: ports.pushes, for: services, tls: 0)) != nil
    }

    private static func create(
        _ configuration: SimulatorConfiguration, _ make: TransportMaking, _ number: inout UInt32
    ) throws(SimulatorError) -> OpaquePointer {
        var options = apns_transport_options()
        options.loop =
            switch configuration.loop {
            case .automatic: APNS_TRANSPORT_LOOP_AUTO.rawValue
            case .ioUring: APNS_TRANSPORT_LOOP_IO_URING.rawValue
            case .epoll: APNS_TRANSPORT_LOOP_EPOLL.rawValue
            }
        // The listeners take places too.
        options.connections_max = configuration.connections &+ 2
        options.streams_max = configuration.streamsTotal
        options.body_received_max = UInt32(PushType.payloadMaximumOfAll)
        options.connect_timeout_ms = configuration.connectTimeout
        options.send_buffer_max = 1 << 18
        var transport: OpaquePointer?
        var error = apns_error()
        let status = make(&options, &transport, &number, &error)
        guard status == 0, let transport else {
            throw .system(text(error))
        }
        return transport
    }

    private static func secure(
        _ transport: OpaquePointer, _ configuration: SimulatorConfiguration
    ) throws(SimulatorError) -> Int32 {
        var error = apns_error()
        let clientAuthority = configuration.clientAuthorityPEM ?? []
        let number = configuration.certificatePEM.withUnsafeBufferPointer { certificate in
            configuration.keyPEM.withUnsafeBufferPointer { key in
                clientAuthority.withUnsafeBufferPointer { authority in
                    var options = apns_transport_tls_options()
                    options.certificate_pem = certificate.baseAddress
                    options.certificate_length = UInt32(clamping: certificate.count)
                    options.key_pem = key.baseAddress
                    options.key_length = UInt32(clamping: key.count)
                    if configuration.clientAuthorityPEM != nil {
                        options.ca_pem = authority.baseAddress
                        options.ca_length = UInt32(clamping: authority.count)
                        options.request_client_certificate = 1
                    }
                    return apns_transport_server_tls_create(transport, &options, &error)
                }
            }
        }
        guard number >= 0 else { throw .transport(text(error)) }
        return number
    }

    private static func listen(
        _ transport: OpaquePointer, _ configuration: SimulatorConfiguration, port: UInt16, for services: Services,
        tls: Int32
    ) throws(SimulatorError) -> UInt16 {
        var (storage, length) = try address(configuration.host, port)
        var bound: UInt16 = 0
        var error = apns_error()
        let status = withUnsafePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                var options = apns_transport_listen_options()
                options.address = address
                options.address_length = length
                options.tls = tls
                options.context = UInt64(services.rawValue)
                options.streams_max = configuration.streamsBeforeToken
                options.stream_window = configuration.streamWindow
                return apns_transport_listen(transport, &options, &bound, &error)
            }
        }
        guard status == 0 else {
            throw .transport("\(configuration.host) port \(port): \(text(error))")
        }
        return bound
    }

    /// The socket address of a host in numbers.
    private static func address(
        _ host: String, _ port: UInt16
    ) throws(SimulatorError) -> (sockaddr_storage, UInt32) {
        var storage = sockaddr_storage()
        let length = withUnsafeMutableBytes(of: &storage) { bytes -> UInt32 in
            guard let start = bytes.baseAddress else { return 0 }
            let four = start.bindMemory(to: sockaddr_in.self, capacity: 1)
            if inet_pton(AF_INET, host, &four.pointee.sin_addr) == 1 {
                four.pointee.sin_family = sa_family_t(AF_INET)
                four.pointee.sin_port = port.bigEndian
                return UInt32(MemoryLayout<sockaddr_in>.size)
            }
            let six = start.bindMemory(to: sockaddr_in6.self, capacity: 1)
            guard inet_pton(AF_INET6, host, &six.pointee.sin6_addr) == 1 else { return 0 }
            six.pointee.sin6_family = sa_family_t(AF_INET6)
            six.pointee.sin6_port = port.bigEndian
            return UInt32(MemoryLayout<sockaddr_in6>.size)
        }
        guard length > 0 else {
            throw .configuration("host: expected an IPv4 or IPv6 address in numbers, found \"\(host)\"")
        }
        return (storage, length)
    }

    private static func text(_ error: apns_error) -> String {
        withUnsafeBytes(of: error.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
