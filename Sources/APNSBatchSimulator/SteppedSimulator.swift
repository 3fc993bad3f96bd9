import CAPNSTransport
import CAPNSTransportServer

/// A simulator without a thread, which a simulation drives turn by turn.
@safe package final class SteppedSimulator {
    /// The number of its transport.
    package let number: UInt32
    package let port: UInt16
    private let transport: OpaquePointer
    private var server: SimulatorServer

    /// - Parameters:
    ///   - configuration: a configuration whose provider keys are identified by their ids alone.
    ///   - make: creates the transport, whose network must outlive the simulator.
    ///   - verify: returns whether a signature (64 bytes) of a message is valid.
    package init(
        _ configuration: SimulatorConfiguration, make: TransportMaking,
        verify: @escaping @Sendable (_ message: UnsafeRawBufferPointer, _ signature: [UInt8]) -> Bool
    ) throws(SimulatorError) {
        if let fault = configuration.script.fault() { throw .script(fault) }
        let keys = configuration.providerKeys.map { key in
            unsafe ProviderKey(keyID: key.keyID, teamID: key.teamID, team: -1, topics: key.topics, verify: verify)
        }
        var number: UInt32 = 0
        let ports: Ports
        unsafe (transport, ports) = try unsafe Listener.open(configuration, &number, make: make)
        self.number = number
        port = ports.pushes
        server = unsafe SimulatorServer(transport, configuration, ProviderKey.numbered(keys), ports)
    }

    deinit { unsafe apns_transport_destroy(transport) }

    /// Runs one turn. Returns false when the event loop failed.
    package func turn() -> Bool { server.turn() }

    package func finish() -> SimulatorReport { server.finish() }

    /// The ids of the connections that are up.
    package var connections: [UInt64] { server.connections.ids }

    /// Sends GOAWAY on a connection, and closes it after the last answer if `closing` is true.
    package func goaway(_ connection: UInt64, code: UInt32, debug: String, closing: Bool) {
        let text = Array(debug.utf8)
        _ = unsafe apns_transport_connection_goaway(transport, connection, code, text, UInt32(text.count))
        if closing {
            _ = unsafe apns_transport_connection_close(transport, connection, APNS_TRANSPORT_CLOSE_DRAIN.rawValue)
        }
        unsafe apns_transport_wake(transport)
    }

    /// Announces a different MAX_CONCURRENT_STREAMS.
    package func setStreams(_ connection: UInt64, _ streams: UInt32) {
        _ = unsafe apns_transport_connection_streams_set(transport, connection, streams)
        unsafe apns_transport_wake(transport)
    }

    /// Changes the rate limit to `perSecond` requests per second. The script must have a rate limit.
    package func take(perSecond: Int) { server.take(perSecond: perSecond) }

    /// Closes a connection at once, with its requests in flight.
    package func close(_ connection: UInt64) {
        _ = unsafe apns_transport_connection_close(transport, connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
        unsafe apns_transport_wake(transport)
    }
}
