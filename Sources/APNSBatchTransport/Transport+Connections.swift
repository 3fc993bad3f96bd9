import APNSBatchBasics
import CAPNSTransport

/// The TLS configuration of connections: trusted certificates, and the own certificate.
package struct TLSOptions: Sendable {
    /// Additional trusted certificates, PEM.
    package var authorities: [UInt8]
    /// Whether the system's certificates are trusted too.
    package var systemTrust: Bool
    /// The own certificate chain, leaf first, and its private key, PEM; empty for none.
    package var certificate: [UInt8] = []
    package var key = SecretBytes(copying: [])

    package init(authorities: [UInt8] = [], systemTrust: Bool = true) {
        (self.authorities, self.systemTrust) = (authorities, systemTrust)
    }
}

extension Transport {
    /// Creates a TLS configuration and returns its number.
    package mutating func makeTLS(_ options: TLSOptions) throws(TransportError) -> Int32 {
        var error = apns_error()
        let number = options.key.withSpan { key in
            unsafe options.authorities.withUnsafeBufferPointer { authorities in
                unsafe options.certificate.withUnsafeBufferPointer { certificate in
                    unsafe key.withUnsafeBufferPointer { key in
                        var record = unsafe apns_transport_tls_options()
                        unsafe record.system_trusted = options.systemTrust ? 1 : 0
                        unsafe record.ca_pem = authorities.isEmpty ? nil : authorities.baseAddress
                        unsafe record.ca_length = UInt32(authorities.count)
                        unsafe record.certificate_pem = certificate.isEmpty ? nil : certificate.baseAddress
                        unsafe record.certificate_length = UInt32(certificate.count)
                        unsafe record.key_pem = key.isEmpty ? nil : key.baseAddress
                        unsafe record.key_length = UInt32(key.count)
                        return unsafe apns_transport_tls_create(handle, &record, &error)
                    }
                }
            }
        }
        guard number >= 0 else { throw TransportError(status: number, record: error) }
        return number
    }

    /// Releases a TLS configuration. Connections that use it stay valid.
    package mutating func releaseTLS(_ number: Int32) { _ = unsafe apns_transport_tls_release(handle, number) }

    /// Sets the CONNECT request with which connections started from now on open a tunnel through a proxy; empty for
    /// none.
    package mutating func setTunnel(_ request: [UInt8]) throws(TransportError) {
        let status = unsafe request.withUnsafeBufferPointer {
            unsafe apns_transport_tunnel_set(handle, $0.baseAddress, UInt32($0.count))
        }
        guard status == 0 else { throw TransportError(status: status, doing: "setting up the proxy") }
    }

    /// Starts a connection. It always ends with one `down` event, whether or not it was ever up.
    ///
    /// - Parameter context: Copied into the connection's events.
    package mutating func connect(
        to address: SocketAddress, host: String, tls: Int32, context: UInt64
    ) throws(TransportError) -> ConnectionID {
        var connection: ConnectionID = 0
        var error = apns_error()
        let status = unsafe host.withCString { host in
            unsafe address.withPointer { pointer, length in
                var record = unsafe apns_transport_connect_options(
                    address: pointer, host_name: host, context: context, address_length: length, tls: tls)
                return unsafe apns_transport_connect(handle, &record, &connection, &error)
            }
        }
        guard status == 0 else { throw TransportError(status: status, record: error) }
        return connection
    }

    /// Returns the stage of a connection, or nil if it has ended.
    package func stage(of connection: ConnectionID) -> ConnectionStage? {
        unsafe ConnectionStage(rawValue: UInt8(truncatingIfNeeded: apns_transport_connection_stage(handle, connection)))
    }

    /// Whether the body of a request waits on a connection until the peer opens its flow-control windows.
    package func waitsForWindow(_ connection: ConnectionID) -> Bool {
        unsafe apns_transport_connection_waits_for_window(handle, connection) != 0
    }

    /// Sets the field with a secret that all further requests of the connection carry. It is never indexed (HPACK).
    package mutating func setField(
        _ name: String, _ value: SecretBytes, of connection: ConnectionID
    ) throws(TransportError) {
        let name = Array(name.utf8)
        let status = unsafe name.withUnsafeBufferPointer { name in
            value.withSpan { value in
                unsafe value.withUnsafeBufferPointer { value in
                    var record = unsafe FieldRecord(
                        name: name.baseAddress, value: value.baseAddress, name_length: UInt32(name.count),
                        value_length: UInt32(value.count), indexing: APNS_TRANSPORT_LITERAL.rawValue, reserved: 0)
                    return unsafe apns_transport_connection_fields_set(handle, connection, &record, 1)
                }
            }
        }
        guard status == 0 else { throw TransportError(status: status, doing: "setting a connection's field") }
    }

    /// Defines the fields that all requests of one kind share, pseudo-header fields first.
    package mutating func defineHeaderSet(
        _ number: UInt16, _ fields: [HeaderFieldBytes]
    ) throws(TransportError) {
        let status = unsafe HeaderFieldBytes.withRecords(fields) { records in
            unsafe apns_transport_header_set_define(handle, number, records.baseAddress, UInt32(records.count))
        }
        guard status == 0 else { throw TransportError(status: status, doing: "defining a header set") }
    }

    /// Sends a PING; the answer is a `pong` event. Does nothing if the connection is not up.
    package mutating func ping(_ connection: ConnectionID) {
        _ = unsafe apns_transport_connection_ping(handle, connection)
    }

    /// Closes a connection after its last completion; it takes no new requests.
    package mutating func drain(_ connection: ConnectionID) {
        _ = unsafe apns_transport_connection_close(handle, connection, APNS_TRANSPORT_CLOSE_DRAIN.rawValue)
    }

    /// Closes a connection at once; its open requests get completions.
    package mutating func close(_ connection: ConnectionID) {
        _ = unsafe apns_transport_connection_close(handle, connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
    }
}

/// A header field that owns its bytes, for fields that are set up once and not per row.
package struct HeaderFieldBytes: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]
    /// The HPACK representation: a value of `apns_transport_indexing`.
    package var indexing: UInt32

    package init(name: [UInt8], value: [UInt8], indexing: UInt32) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }

    /// Calls `body` with records that point into one copy of all fields, and are valid until it returns.
    static func withRecords<R>(
        _ fields: [HeaderFieldBytes], _ body: (UnsafeBufferPointer<FieldRecord>) -> R
    ) -> R {
        let flat = fields.flatMap { $0.name + $0.value }
        return unsafe flat.withUnsafeBufferPointer { bytes in
            var at = 0
            let records = unsafe fields.map { field in
                let (name, value) = (field.name.count, field.value.count)
                defer { at += name + value }
                return unsafe FieldRecord(
                    name: bytes.baseAddress.map { unsafe $0 + at },
                    value: bytes.baseAddress.map { unsafe $0 + at + name },
                    name_length: UInt32(name), value_length: UInt32(value), indexing: field.indexing, reserved: 0)
            }
            return unsafe records.withUnsafeBufferPointer(body)
        }
    }
}
