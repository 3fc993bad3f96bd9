import CAPNSTransport

/// One request as it crosses to the core: fixed layout, pointers borrowed as `apns_transport.h` says.
package typealias RequestRecord = apns_transport_request

/// One header field of a request.
package typealias FieldRecord = apns_transport_field

/// The end of one request: exactly one for each request submitted.
package typealias OutcomeRecord = apns_transport_outcome

/// What happened to a connection.
package typealias EventRecord = apns_transport_event

/// Slot and generation of a connection; zero is none.
package typealias ConnectionID = apns_transport_connection

/// Counters of one transport since its creation.
package typealias TransportStatistics = apns_transport_statistics

/// How far a request got; everything that decides about sending again relies on it. Usable from inline, for lanes ask it of
/// each answer.
@frozen @usableFromInline package enum Delivery: UInt8, Sendable {
    /// No byte of it left, or the peer said that it did not process it.
    case notSent = 0
    /// It may have been processed, and no complete answer came.
    case maybeSent = 1
    /// A complete response.
    case answered = 2
}

/// Where a failure happened; says what its code means.
package enum FailureScope: UInt8, Sendable {
    case none = 0
    case system = 1
    case tls = 2
    case http2 = 3
    case session = 4
    case timeout = 5
    case local = 6
    case end = 7
    case proxy = 8
}

/// The event loop that drives the sockets.
package enum LoopKind: UInt32, Sendable {
    case automatic = 0
    case ioUring = 1
    case epoll = 2
    /// Made by a `TransportOpening` of somebody else's, and never asked for by this name.
    case other = 3
}

extension apns_transport_outcome {
    /// How far the request got.
    package var deliveryState: Delivery { unsafe Delivery(rawValue: delivery) ?? .maybeSent }
    package var failureScope: FailureScope { unsafe FailureScope(rawValue: scope) ?? .none }

    /// The response body kept; valid until the next poll.
    package var bodyBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: body, count: Int(body_length))
    }

    /// The captured response header fields; valid until the next poll.
    package var capturedFields: UnsafeBufferPointer<FieldRecord> {
        unsafe UnsafeBufferPointer(start: fields, count: Int(field_count))
    }

    /// The value of the first captured field of a name; nil where there is none. Valid until the next poll.
    package func captured(_ name: StaticString) -> UnsafeRawBufferPointer? {
        let wanted = unsafe UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return unsafe capturedFields.first { unsafe $0.nameBytes.elementsEqual(wanted) }?.valueBytes
    }
}

extension apns_transport_field {
    package var nameBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: name, count: Int(name_length))
    }
    package var valueBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: value, count: Int(value_length))
    }
}

/// What kind of news an event is.
package enum ConnectionEventKind: UInt8, Sendable {
    case up = 1
    case settings = 2
    case goaway = 3
    case down = 4
    case pong = 5
    case woken = 6
    case accepted = 7
}

/// How far a connection has got, and so what it waits for.
package enum ConnectionStage: UInt8, Sendable {
    case connecting = 1
    case tunneling = 2
    case handshaking = 3
    case settling = 4
    case up = 5
}

extension apns_transport_event {
    /// How far the connection had got when it ended.
    package var connectionStage: ConnectionStage? { unsafe ConnectionStage(rawValue: stage) }
    package var eventKind: ConnectionEventKind? { unsafe ConnectionEventKind(rawValue: kind) }
    package var failureScope: FailureScope { unsafe FailureScope(rawValue: scope) ?? .none }

    /// The server's certificate does not verify: an `X509_V_ERR` code, far below the library's packed errors.
    package var saysUntrusted: Bool { unsafe failureScope == .tls && (1..<1000).contains(code) }

    /// The server did not choose h2 in TLS.
    package var saysNoHTTP2: Bool {
        unsafe failureScope == .local && code == Int64(APNS_TRANSPORT_LOCAL_NO_ALPN.rawValue)
    }

    /// The detail as text; bytes that are no UTF-8 are replaced. For the log and the report, never on the way of a row.
    package var detailText: String {
        unsafe String(decoding: UnsafeRawBufferPointer(start: detail, count: Int(detail_length)), as: UTF8.self)
    }

    /// The detail as it came; valid until the next poll.
    package var detailBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: detail, count: Int(detail_length))
    }
}
