import APNSBatchSimulator
import CAPNSTransport
import CAPNSTransportServer
import Glibc
import Synchronization

/// An HTTP/2 server on its own thread, which handles each request as a test specifies.
final class ScriptedServer: Sendable {
    enum Deed: Sendable {
        case accept
        /// Announces this MAX_CONCURRENT_STREAMS.
        case streams(UInt32)
        /// Sends GOAWAY with this reason.
        case goaway(String)
        /// Neither reads nor writes on any connection until `thaw`. The kernel continues to acknowledge data.
        case freeze
    }

    /// A request, as it is passed to the script.
    struct Request {
        /// The index of the connection, from 0, in the order of the first requests.
        var connection: Int
        /// The index of the request on its connection, from 0.
        var number: Int
    }

    private struct State {
        var port: UInt16 = 0
        var isFrozen = false
        var isOver = false
        var requests: [Int] = []
    }

    private let state = Mutex(State())
    private let script: @Sendable (Request) -> [Deed]

    /// - Parameter script: returns what is done with a request, in order. A request for which it returns nothing gets
    ///   no answer.
    init(_ occasion: Occasion, streams: UInt32, script: @escaping @Sendable (Request) -> [Deed]) throws {
        self.script = script
        let loop = try Loop(occasion, streams: streams)
        state.withLock { $0.port = loop.port }
        let work = Work(server: self, loop: loop)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(work).toOpaque())
        precondition(status == 0)
        pthread_detach(thread)
    }

    var port: UInt16 { state.withLock { $0.port } }
    /// The number of requests of each connection.
    var requests: [Int] { state.withLock { $0.requests } }

    func thaw() { state.withLock { $0.isFrozen = false } }
    func stop() { state.withLock { $0.isOver = true } }

    private final class Work: @unchecked Sendable {
        let server: ScriptedServer
        let loop: Loop
        /// The indexes of connections, by connection id.
        var numbers: [UInt64: Int] = [:]

        init(server: ScriptedServer, loop: Loop) {
            (self.server, self.loop) = (server, loop)
        }

        func run() {
            while true {
                let (isOver, isFrozen) = server.state.withLock { ($0.isOver, $0.isFrozen) }
                if isOver { return }
                if isFrozen { usleep(1000) } else { loop.poll { take($0) } }
            }
        }

        private func take(_ received: apns_transport_received) {
            let connection = numbers[received.connection] ?? numbers.count
            numbers[received.connection] = connection
            let number = server.state.withLock { state in
                if state.requests.count == connection { state.requests.append(0) }
                state.requests[connection] += 1
                return state.requests[connection] - 1
            }
            for deed in server.script(Request(connection: connection, number: number)) {
                if case .freeze = deed { server.state.withLock { $0.isFrozen = true } }
                loop.perform(deed, received)
            }
        }
    }

    /// The transport, which belongs to the thread that polls.
    private final class Loop {
        let handle: OpaquePointer
        var port: UInt16 = 0

        init(_ occasion: Occasion, streams: UInt32) throws {
            var options = apns_transport_options()
            options.loop = UInt32(APNS_TRANSPORT_LOOP_EPOLL.rawValue)
            options.connections_max = 64
            options.streams_max = 65_536
            options.body_received_max = 4096
            options.connect_timeout_ms = 60_000
            options.send_buffer_max = 65_536
            var made: OpaquePointer?
            guard apns_transport_create(&options, &made, nil) == 0, let made else { throw Failure() }
            handle = made
            let tls = occasion.certificatePEM.withUnsafeBufferPointer { certificate in
                occasion.keyPEM.withUnsafeBufferPointer { key in
                    var options = apns_transport_tls_options()
                    options.certificate_pem = certificate.baseAddress
                    options.certificate_length = UInt32(certificate.count)
                    options.key_pem = key.baseAddress
                    options.key_length = UInt32(key.count)
                    return apns_transport_server_tls_create(made, &options, nil)
                }
            }
            guard tls >= 0, listen(tls, streams) == 0 else { throw Failure() }
        }

        deinit { apns_transport_destroy(handle) }

        struct Failure: Error {}

        private func listen(_ tls: Int32, _ streams: UInt32) -> Int32 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    var options = apns_transport_listen_options()
                    options.address = pointer
                    options.address_length = UInt32(MemoryLayout<sockaddr_in>.size)
                    options.tls = tls
                    options.streams_max = streams
                    return apns_transport_listen(handle, &options, &port, nil)
                }
            }
        }

        func poll(_ take: (apns_transport_received) -> Void) {
            withUnsafeTemporaryAllocation(of: apns_transport_event.self, capacity: 64) { events in
                withUnsafeTemporaryAllocation(of: apns_transport_received.self, capacity: 64) { received in
                    var io = apns_transport_poll_io()
                    io.events = events.baseAddress
                    io.received = received.baseAddress
                    io.event_capacity = 64
                    io.received_capacity = 64
                    io.timeout_us = 5000
                    guard apns_transport_poll(handle, &io) == 0 else { return }
                    for request in received.prefix(Int(io.received_count)) { take(request) }
                }
            }
        }

        func perform(_ deed: Deed, _ received: apns_transport_received) {
            switch deed {
            case .accept:
                var response = apns_transport_response()
                response.connection = received.connection
                response.stream = received.stream
                response.status = 200
                _ = apns_transport_respond(handle, &response, 1)
            case .streams(let count): _ = apns_transport_connection_streams_set(handle, received.connection, count)
            case .goaway(let reason):
                let debug = Array((reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#).utf8)
                _ = apns_transport_connection_goaway(handle, received.connection, 0, debug, UInt32(debug.count))
            case .freeze: break
            }
        }
    }
}
