import APNSBatchBasics
import CAPNSTransport

/// Creates a transport of the C core; returns a status like `apns_transport_create`. A simulation, which drives several
/// transports in turn, also assigns a number.
package typealias TransportOpening =
    @Sendable (
        _ options: inout apns_transport_options, _ made: inout OpaquePointer?, _ number: inout UInt32,
        _ error: inout apns_error
    ) -> Int32

/// The limits of a transport.
@safe package struct TransportOptions: Sendable {
    package var loop = LoopKind.automatic
    /// The maximum number of open connections.
    package var connections = 16
    /// The maximum number of open streams, over all connections.
    package var streams = 16_000
    /// The maximum number of bytes kept of a response body. APNs sends a reason of about 50 bytes.
    package var bodyLimit = 1024
    /// The time from submission to completion, in milliseconds, after which the stream is reset. The request is *not
    /// sent* if it was not written until then, and otherwise *may have arrived*.
    package var requestTimeout: UInt32 = 30_000
    /// The time for TCP, TLS and the peer's first SETTINGS together, in milliseconds.
    package var connectTimeout: UInt32 = 15_000
    /// The time after which a connection ends if sent bytes are not acknowledged, in milliseconds; 0 for the default of
    /// the kernel.
    package var userTimeout: UInt32 = 0
    /// The number of bytes of ciphertext that may wait on one connection before it accepts no more.
    package var sendBuffer: UInt32 = 256 * 1024
    /// The names of response header fields that completions contain, at most 8.
    package var captures: [StaticString] = []
    /// Creates the transport of the C core; simulations replace it.
    package var open: TransportOpening = { options, made, _, error in
        unsafe apns_transport_create(&options, &made, &error)
    }

    package init() {}
}

/// The Swift interface of `apns_transport.h`: connections, and requests and completions as arrays of records.
///
/// A transport belongs to the thread that created it. It owns the arrays of completions and events, which the next `poll`
/// overwrites.
@safe package struct Transport: ~Copyable {
    let handle: OpaquePointer
    /// The number assigned by ``TransportOptions/open``.
    package let number: UInt32
    private var waker: LaneWaker?
    private let completions: UnsafeMutableBufferPointer<CompletionRecord>
    private let events: UnsafeMutableBufferPointer<EventRecord>

    /// The maximum number of completions that one poll returns; the others are returned by the next one.
    package static let completionCapacity = 4096
    package static let eventCapacity = 256

    package init(_ options: TransportOptions) throws(TransportError) {
        var record = unsafe apns_transport_options()
        unsafe record.loop = options.loop.rawValue
        unsafe record.connections_max = UInt32(options.connections)
        unsafe record.streams_max = UInt32(options.streams)
        unsafe record.body_received_max = UInt32(options.bodyLimit)
        unsafe record.request_timeout_ms = options.requestTimeout
        unsafe record.connect_timeout_ms = options.connectTimeout
        unsafe record.send_buffer_max = options.sendBuffer
        var error = apns_error()
        var made: OpaquePointer?
        var number: UInt32 = 0
        let names = unsafe options.captures.map {
            unsafe UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self) as UnsafePointer<CChar>?
        }
        let status = unsafe names.withUnsafeBufferPointer { names in
            unsafe record.captures = names.baseAddress
            unsafe record.capture_count = UInt32(names.count)
            return unsafe options.open(&record, &made, &number, &error)
        }
        guard status == 0, let made = unsafe made else { throw TransportError(status: status, record: error) }
        unsafe handle = unsafe made
        self.number = number
        unsafe apns_transport_user_timeout_set(made, options.userTimeout)
        unsafe completions = .allocate(capacity: Self.completionCapacity)
        unsafe events = .allocate(capacity: Self.eventCapacity)
    }

    /// Says goodbye to the servers (GOAWAY, and the `close_notify` of TLS), which takes 0.1 s at most.
    deinit {
        waker?.detach()
        unsafe apns_transport_farewell(handle)
        unsafe apns_transport_destroy(handle)
        unsafe completions.deallocate()
        unsafe events.deallocate()
    }

    /// The event loop in use.
    package var loop: LoopKind { unsafe LoopKind(rawValue: apns_transport_loop_kind(handle)) ?? .automatic }

    /// The errno with which io_uring was refused, if `automatic` fell back to epoll; otherwise 0.
    package var refusal: Int32 { unsafe apns_transport_loop_refusal(handle) }

    /// The monotonic time of the loop, in nanoseconds.
    package var now: UInt64 { unsafe apns_transport_now_ns(handle) }

    /// The number of requests that can be submitted until ``TransportOptions/streams`` are in flight.
    package var streamsFree: Int { unsafe Int(apns_transport_streams_free(handle)) }

    /// Connects a waker, with which other threads can end this transport's wait.
    package mutating func attach(_ waker: LaneWaker) {
        self.waker?.detach()
        self.waker = waker
        unsafe waker.attach(CoreHandle(pointer: handle))
    }

    /// Submits requests; each gets exactly one completion.
    package mutating func submit(_ requests: UnsafeBufferPointer<RequestRecord>) throws(TransportError) {
        let status = unsafe apns_transport_submit(handle, requests.baseAddress, UInt32(requests.count))
        guard status == 0 else { throw TransportError(status: status, doing: "submitting \(requests.count) requests") }
    }

    /// The completions and events that a poll returned; both arrays are valid until the next poll. They are unsafe buffers
    /// to avoid copies and bounds checks for thousands of completions per poll.
    @safe package struct Harvest: ~Copyable {
        package let completions: UnsafeBufferPointer<CompletionRecord>
        package let events: UnsafeBufferPointer<EventRecord>
    }

    /// Runs the loop once.
    ///
    /// - Parameters:
    ///   - timeout: The maximum wait until there is something to report, in microseconds; 0 does not wait.
    ///   - linger: The time during which answers gather, in microseconds; 0 while there are requests to submit.
    package mutating func poll(timeout: UInt32, linger: UInt32) throws(TransportError) -> Harvest {
        var io = unsafe apns_transport_poll_io()
        unsafe io.completions = unsafe completions.baseAddress
        unsafe io.completion_capacity = unsafe UInt32(completions.count)
        unsafe io.events = unsafe events.baseAddress
        unsafe io.event_capacity = unsafe UInt32(events.count)
        unsafe io.timeout_us = timeout
        unsafe io.linger_us = linger
        let status = unsafe apns_transport_poll(handle, &io)
        guard status == 0 else { throw unsafe TransportError(loop: loop, error: apns_transport_loop_error(handle)) }
        return unsafe Harvest(
            completions: UnsafeBufferPointer(start: completions.baseAddress, count: Int(io.completion_count)),
            events: UnsafeBufferPointer(start: events.baseAddress, count: Int(io.event_count)))
    }
}
