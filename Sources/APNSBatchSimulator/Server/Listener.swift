import APNSBatchBasics
import CAPNSTransport
import CAPNSTransportServer
import Glibc

/// The ports that a simulator listens on.
struct Ports: Sendable {
    var pushes: UInt16
    /// The port of channel management; nil when `pushes` serves all requests.
    var management: UInt16?
}

/// Creates a transport from options, and returns a status as `apns_transport_create` does and the transport's number in
/// a simulation.
package typealias TransportMaking = (
    _ options: inout apns_transport_options, _ made: inout OpaquePointer?, _ number: inout UInt32,
    _ error: inout apns_error
) -> Int32

/// Creates the transport of a simulator and its listeners, on the calling thread.
enum Listener {
    /// Returns a listening transport and its ports. The caller destroys it, on the same thread.
    static func open(_ configuration: SimulatorConfiguration) throws(SimulatorError) -> (OpaquePointer, Ports) {
        var number: UInt32 = 0
        return try unsafe open(configuration, &number) { options, made, _, error in
            unsafe apns_transport_create(&options, &made, &error)
        }
    }

    /// Returns a listening transport that `make` created, its ports and its number.
    static func open(
        _ configuration: SimulatorConfiguration, _ number: inout UInt32, make: TransportMaking
    ) throws(SimulatorError) -> (OpaquePointer, Ports) {
        let transport = try unsafe create(configuration, make, &number)
        do {
            let tls = try unsafe secure(transport, configuration)
            let services: Services = configuration.managementPort == nil ? .all : .pushes
            var ports = Ports(pushes: 0, management: nil)
            ports.pushes = try unsafe listen(
                transport, configuration, port: configuration.port, for: services, tls: tls)
            if let port = configuration.managementPort {
                ports.management = unsafe try listen(transport, configuration, port: port, for: .management, tls: tls)
            }
            return unsafe (transport, ports)
        } catch {
            unsafe apns_transport_destroy(transport)
            throw error
        }
    }

    /// Listens again on a port that was closed. Returns false when the port is not available yet.
    static func reopen(_ transport: OpaquePointer, _ configuration: SimulatorConfiguration, _ ports: Ports) -> Bool {
        let services: Services = ports.management == nil ? .all : .pushes
        // 0 is the only TLS configuration, which was created with the transport.
        return unsafe (try? listen(transport, configuration, port: ports.pushes, for: services, tls: 0)) != nil
    }

    private static func create(
        _ configuration: SimulatorConfiguration, _ make: TransportMaking, _ number: inout UInt32
    ) throws(SimulatorError) -> OpaquePointer {
        var options = unsafe apns_transport_options()
        unsafe options.loop = configuration.loop.rawValue
        // The two listeners occupy connection slots too.
        unsafe options.connections_max = configuration.connections &+ 2
        unsafe options.streams_max = configuration.streamsTotal
        unsafe options.body_received_max = UInt32(PushType.payloadMaximumOfAll)
        unsafe options.connect_timeout_ms = configuration.connectTimeout
        unsafe options.send_buffer_max = 1 << 18
        var transport: OpaquePointer?
        var error = apns_error()
        let status = unsafe make(&options, &transport, &number, &error)
        guard status == 0, let transport = unsafe transport else {
            throw .system(textOfCharacters(error.text))
        }
        return unsafe transport
    }

    private static func secure(
        _ transport: OpaquePointer, _ configuration: SimulatorConfiguration
    ) throws(SimulatorError) -> Int32 {
        var error = apns_error()
        let clientAuthority = configuration.clientAuthorityPEM ?? []
        let number = unsafe configuration.certificatePEM.withUnsafeBufferPointer { certificate in
            unsafe configuration.keyPEM.withUnsafeBufferPointer { key in
                unsafe clientAuthority.withUnsafeBufferPointer { authority in
                    var options = unsafe apns_transport_tls_options()
                    unsafe options.certificate_pem = certificate.baseAddress
                    unsafe options.certificate_length = UInt32(clamping: certificate.count)
                    unsafe options.key_pem = key.baseAddress
                    unsafe options.key_length = UInt32(clamping: key.count)
                    if configuration.clientAuthorityPEM != nil {
                        unsafe options.ca_pem = authority.baseAddress
                        unsafe options.ca_length = UInt32(clamping: authority.count)
                        unsafe options.request_client_certificate = 1
                    }
                    return unsafe apns_transport_server_tls_create(transport, &options, &error)
                }
            }
        }
        guard number >= 0 else { throw .transport(textOfCharacters(error.text)) }
        return number
    }

    private static func listen(
        _ transport: OpaquePointer, _ configuration: SimulatorConfiguration, port: UInt16, for services: Services,
        tls: Int32
    ) throws(SimulatorError) -> UInt16 {
        var (storage, length) = try address(configuration.host, port)
        var bound: UInt16 = 0
        var error = apns_error()
        let status = unsafe withUnsafePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                var options = unsafe apns_transport_listen_options()
                unsafe options.address = unsafe address
                unsafe options.address_length = length
                unsafe options.tls = tls
                unsafe options.context = UInt64(services.rawValue)
                unsafe options.streams_max = configuration.streamsBeforeToken
                unsafe options.stream_window = configuration.streamWindow
                return unsafe apns_transport_listen(transport, &options, &bound, &error)
            }
        }
        guard status == 0 else {
            throw .transport("\(configuration.host) port \(port): \(textOfCharacters(error.text))")
        }
        return bound
    }

    /// Returns the socket address of a numeric host.
    private static func address(
        _ host: String, _ port: UInt16
    ) throws(SimulatorError) -> (sockaddr_storage, UInt32) {
        var storage = sockaddr_storage()
        let length = unsafe withUnsafeMutableBytes(of: &storage) { bytes -> UInt32 in
            guard let start = bytes.baseAddress else { return 0 }
            let four = unsafe start.bindMemory(to: sockaddr_in.self, capacity: 1)
            if unsafe inet_pton(AF_INET, host, &four.pointee.sin_addr) == 1 {
                unsafe four.pointee.sin_family = sa_family_t(AF_INET)
                unsafe four.pointee.sin_port = port.bigEndian
                return UInt32(MemoryLayout<sockaddr_in>.size)
            }
            let six = unsafe start.bindMemory(to: sockaddr_in6.self, capacity: 1)
            guard unsafe inet_pton(AF_INET6, host, &six.pointee.sin6_addr) == 1 else { return 0 }
            unsafe six.pointee.sin6_family = sa_family_t(AF_INET6)
            unsafe six.pointee.sin6_port = port.bigEndian
            return UInt32(MemoryLayout<sockaddr_in6>.size)
        }
        guard length > 0 else {
            throw .configuration("host: expected an IPv4 or IPv6 address in numbers, found \(host.quoted)")
        }
        return (storage, length)
    }
}
