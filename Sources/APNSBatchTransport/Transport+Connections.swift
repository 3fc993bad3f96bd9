import CAPNSTransport

/// Whom to trust and who we are, for the TLS of a lane's connections.
package struct TLSOptions: Sendable {
    /// Further trusted certificates, PEM.
    package var authorities: [UInt8] = []
    /// Trust the system's certificates too.
    package var systemTrust = true
    private let systemRoots = SystemRoots()
    /// Own certificate chain, leaf first, and its private key, PEM; empty for none.
    package var certificate: [UInt8] = []
    package var key: [UInt8] = []

    package init() {}

    fileprivate func roots() throws(TransportError) -> OpaquePointer? {
        systemTrust ? try systemRoots.loaded() : nil
    }
}

extension Transport {
    /// Makes a TLS configuration and gives its number.
    package mutating func makeTLS(_ options: TLSOptions) throws(TransportError) -> Int32 {
        var error = apns_error()
        let roots = try options.roots()
        let number = options.authorities.withUnsafeBufferPointer { authorities in
            options.certificate.withUnsafeBufferPointer { certificate in
                options.key.withUnsafeBufferPointer { key in
                    var record = apns_transport_tls_options()
                    record.system_roots = roots
                    record.ca_pem = authorities.isEmpty ? nil : authorities.baseAddress
                    record.ca_length = UInt32(authorities.count)
                    record.certificate_pem = certificate.isEmpty ? nil : certificate.baseAddress
                    record.certificate_length = UInt32(certificate.count)
                    record.key_pem = key.isEmpty ? nil : key.baseAddress
                    record.key_length = UInt32(key.count)
                    return apns_transport_tls_create(handle, &record, &error)
                }
            }
        }
        guard number >= 0 else { throw TransportError(status: number, record: error) }
        return number
    }

    /// Forgets a TLS configuration; connections that use it go on.
    package mutating func releaseTLS(_ number: Int32) { _ = apns_transport_tls_release(handle, number) }

    /// Leads connections from now on through a proxy that is sent this request first.
    package mutating func setTunnel(_ request: [UInt8]) throws(TransportError) {
        let status = request.withUnsafeBufferPointer {
            apns_transport_tunnel_set(handle, $0.baseAddress, UInt32($0.count))
        }
        guard status == 0 else { throw TransportError(status: status, doing: "setting up the proxy") }
    }

    /// Starts a connection. Its end is always one `down` event, also when it never comes up.
    ///
    /// - Parameter context: comes back in the connection's events.
    package mutating func connect(
        to address: SocketAddress, host: String, tls: Int32, context: UInt64
    ) throws(TransportError) -> ConnectionID {
        var connection: ConnectionID = 0
        var error = apns_error()
        let status = host.withCString { host in
            address.withPointer { pointer, length in
                var record = apns_transport_connect_options()
                record.address = pointer
                record.address_length = length
                record.host_name = host
                record.tls = tls
                record.context = context
                return apns_transport_connect(handle, &record, &connection, &error)
            }
        }
        guard status == 0 else { throw TransportError(status: status, record: error) }
        return connection
    }

    /// How far a connection has got; nil when it has ended.
    package func stage(of connection: ConnectionID) -> ConnectionStage? {
        ConnectionStage(rawValue: UInt8(truncatingIfNeeded: apns_transport_connection_stage(handle, connection)))
    }

    /// Fields that every request of this connection carries from now on.
    package mutating func setFields(
        _ fields: [HeaderFieldBytes], of connection: ConnectionID
    ) throws(TransportError) {
        let status = HeaderFieldBytes.withRecords(fields) { records in
            apns_transport_connection_fields_set(handle, connection, records.baseAddress, UInt32(records.count))
        }
        guard status == 0 else { throw TransportError(status: status, doing: "setting a connection's fields") }
    }

    /// The fields that all requests of a kind share, pseudo-header fields first.
    package mutating func defineHeaderSet(
        _ number: UInt16, _ fields: [HeaderFieldBytes]
    ) throws(TransportError) {
        let status = HeaderFieldBytes.withRecords(fields) { records in
            apns_transport_header_set_define(handle, number, records.baseAddress, UInt32(records.count))
        }
        guard status == 0 else { throw TransportError(status: status, doing: "defining a header set") }
    }

    /// Asks for a sign of life; the answer is a `pong` event. Of no consequence where the connection is not up.
    package mutating func ping(_ connection: ConnectionID) {
        _ = apns_transport_connection_ping(handle, connection)
    }

    /// Takes no new request, closes after the last outcome.
    package mutating func drain(_ connection: ConnectionID) {
        _ = apns_transport_connection_close(handle, connection, APNS_TRANSPORT_CLOSE_DRAIN.rawValue)
    }

    /// Closes at once; its open requests get outcomes.
    package mutating func close(_ connection: ConnectionID) {
        _ = apns_transport_connection_close(handle, connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
    }
}

/// A header field with bytes of its own, for what is set up once and not once a row.
package struct HeaderFieldBytes: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]
    /// How HPACK carries it: a value of `apns_transport_indexing`.
    package var indexing: UInt32

    package init(name: [UInt8], value: [UInt8], indexing: UInt32) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }

    /// Records that point into one flat copy of the fields, for the length of `body`.
    static func withRecords<R>(
        _ fields: [HeaderFieldBytes], _ body: (UnsafeBufferPointer<FieldRecord>) -> R
    ) -> R {
        let flat = fields.flatMap { $0.name + $0.value }
        return flat.withUnsafeBufferPointer { bytes in
            var at = 0
            let records = fields.map { field in
                var record = FieldRecord()
                record.name = bytes.baseAddress.map { $0 + at }
                record.name_length = UInt32(field.name.count)
                record.value = bytes.baseAddress.map { $0 + at + field.name.count }
                record.value_length = UInt32(field.value.count)
                record.indexing = field.indexing
                at += field.name.count + field.value.count
                return record
            }
            return records.withUnsafeBufferPointer(body)
        }
    }
}
