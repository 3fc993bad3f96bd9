import CAPNSTransport
import Glibc

/// A request, as passed to the C core; `apns_transport.h` documents who owns its pointers.
package typealias RequestRecord = apns_transport_request

package typealias FieldRecord = apns_transport_field

/// The completion of a request; there is exactly one for each submitted request.
package typealias CompletionRecord = apns_transport_completion

package typealias EventRecord = apns_transport_event

/// The identity of a connection: slot number and generation. 0 is never a connection.
package typealias ConnectionID = apns_transport_connection

/// How far a request got, which determines whether it may be sent again. Inlinable because lanes check it for each
/// answer.
@frozen @usableFromInline package enum Delivery: UInt8, Sendable {
    /// No byte of the request was sent, or the peer reported that it did not process the request.
    case notSent = 0
    /// The peer may have processed the request, but there is no complete response.
    case mayHaveArrived = 1
    /// A complete response was received.
    case answered = 2
}

/// Where a failure happened, which determines the meaning of its code; see `apns_transport_scope`.
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

package enum LoopKind: UInt32, Sendable {
    case automatic = 0
    case ioUring = 1
    case epoll = 2
    /// A simulated loop, made by another `TransportOpening`; not allowed in ``TransportOptions``.
    case other = 3
}

extension apns_transport_completion {
    package var deliveryState: Delivery { unsafe Delivery(rawValue: delivery) ?? .mayHaveArrived }
    package var failureScope: FailureScope { unsafe FailureScope(rawValue: scope) ?? .none }

    /// The part of the response body that was kept; valid until the next poll.
    package var bodyBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: body, count: Int(body_length))
    }

    /// The captured fields of the response; valid until the next poll.
    package var capturedFields: UnsafeBufferPointer<FieldRecord> {
        unsafe UnsafeBufferPointer(start: fields, count: Int(field_count))
    }

    /// Returns the value of the first captured field with this name, or nil; valid until the next poll.
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

/// The kind of an event; see `apns_transport_event_kind`.
package enum ConnectionEventKind: UInt8, Sendable {
    case up = 1
    case settings = 2
    case goaway = 3
    case down = 4
    case pong = 5
    case woken = 6
    case accepted = 7
}

/// The step that a connection is waiting for; see `apns_transport_stage`.
package enum ConnectionStage: UInt8, Sendable {
    case connecting = 1
    case tunneling = 2
    case handshaking = 3
    case settling = 4
    case up = 5
}

extension apns_transport_event {
    /// The stage that the connection had reached when it ended.
    package var connectionStage: ConnectionStage? { unsafe ConnectionStage(rawValue: stage) }
    package var eventKind: ConnectionEventKind? { unsafe ConnectionEventKind(rawValue: kind) }
    package var failureScope: FailureScope { unsafe FailureScope(rawValue: scope) ?? .none }

    /// Whether the server's certificate could not be verified: the code is an `X509_V_ERR` code, all of which are
    /// smaller than OpenSSL's packed error codes.
    package var saysUntrusted: Bool { unsafe failureScope == .tls && (1..<1000).contains(code) }

    /// Whether the server did not select h2 (ALPN).
    package var saysNoHTTP2: Bool {
        unsafe failureScope == .local && code == Int64(APNS_TRANSPORT_LOCAL_NO_ALPN.rawValue)
    }

    /// Whether this program closed the connection.
    package var saysClosedHere: Bool {
        unsafe failureScope == .local && code == Int64(APNS_TRANSPORT_LOCAL_CLOSED.rawValue)
    }

    /// Whether the peer ended the connection without a cause.
    package var saysNothing: Bool {
        unsafe failureScope == .end
            || failureScope == .system && code == Int64(ECONNRESET) && connectionStage != .connecting
    }

    /// The detail as text, for the log and the report; invalid UTF-8 is replaced. Not for the path of a row.
    package var detailText: String {
        unsafe String(decoding: detailBytes, as: UTF8.self)
    }

    /// The detail as received; valid until the next poll.
    package var detailBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: detail, count: Int(detail_length))
    }
}
