import APNSBatchBasics
import CAPNSTransport

/// Makes a transport of the core's from options; returns a status as `apns_transport_create` does. Whoever drives several
/// transports in turn has each of them numbered.
package typealias TransportOpening =
    @Sendable (
        _ options: inout apns_transport_options, _ made: inout OpaquePointer?, _ number: inout UInt32,
        _ error: inout apns_error
    ) -> Int32

/// How large a transport is made, and what it waits for.
@safe package struct TransportOptions: Sendable {
    package var loop = LoopKind.automatic
    /// Connections open at once.
    package var connections = 16
    /// Streams open at once over all connections.
    package var streams = 16_000
    /// Bytes of a response body that are kept. APNs sends a reason of some 50 bytes.
    package var bodyLimit = 1024
    /// From submit to outcome, in milliseconds; then the stream is reset and the outcome is *maybe sent*.
    package var requestTimeout: UInt32 = 30_000
    /// TCP, TLS and the peer's first SETTINGS together, in milliseconds.
    package var connectTimeout: UInt32 = 15_000
    /// How long bytes sent may stay without an acknowledgement, in milliseconds; then the connection ends. 0: as long as
    /// the kernel likes.
    package var userTimeout: UInt32 = 0
    /// Bytes of ciphertext waiting on one connection before it takes no more.
    package var sendBuffer: UInt32 = 256 * 1024
    /// Names of response header fields that outcomes carry, at most 8.
    package var captures: [StaticString] = []
    /// Makes the core's transport. A simulation has its own, over another loop.
    package var open: TransportOpening = { options, made, _, error in
        unsafe apns_transport_create(&options, &made, &error)
    }

    package init() {}
}

/// The lane's face of the core: connections, requests submitted as records, outcomes polled as records.
///
/// Belongs to the thread that made it. The arrays of outcomes and events are the transport's own and are overwritten by
/// the next `poll`.
@safe package struct Transport: ~Copyable {
    let handle: OpaquePointer
    /// Its number among those that are driven in turn.
    package let number: UInt32
    private var waker: LaneWaker?
    private let outcomes: UnsafeMutableBufferPointer<OutcomeRecord>
    private let events: UnsafeMutableBufferPointer<EventRecord>

    /// Outcomes that one poll reports at most; more wait for the next.
    package static let outcomeCapacity = 4096
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
        unsafe outcomes = .allocate(capacity: Self.outcomeCapacity)
        unsafe events = .allocate(capacity: Self.eventCapacity)
    }

    deinit {
        waker?.detach()
        unsafe apns_transport_destroy(handle)
        unsafe outcomes.deallocate()
        unsafe events.deallocate()
    }

    /// The loop that runs.
    package var loop: LoopKind { unsafe LoopKind(rawValue: apns_transport_loop_kind(handle)) ?? .automatic }

    /// The errno with which io_uring was refused where `automatic` was asked for; 0 if it was not.
    package var refusal: Int32 { unsafe apns_transport_loop_refusal(handle) }

    /// Monotonic nanoseconds.
    package var now: UInt64 { unsafe apns_transport_now_ns(handle) }

    /// Requests that may be submitted before the slab is full.
    package var streamsFree: Int { unsafe Int(apns_transport_streams_free(handle)) }

    package var statistics: TransportStatistics {
        var record = TransportStatistics()
        unsafe apns_transport_statistics_get(handle, &record)
        return record
    }

    /// Lets other threads end this transport's wait, until it goes.
    package mutating func attach(_ waker: LaneWaker) {
        self.waker?.detach()
        self.waker = waker
        unsafe waker.attach(CoreHandle(pointer: handle))
    }

    /// Takes the requests; each one gets exactly one outcome.
    package mutating func submit(_ requests: UnsafeBufferPointer<RequestRecord>) throws(TransportError) {
        let status = unsafe apns_transport_submit(handle, requests.baseAddress, UInt32(requests.count))
        guard status == 0 else { throw TransportError(status: status, doing: "submitting \(requests.count) requests") }
    }

    /// One poll's harvest; both arrays are valid until the next poll, so it is not to be kept. There are no copies, and no
    /// checks of bounds at the thousands of outcomes that one poll may bring.
    @safe package struct Harvest: ~Copyable {
        package let outcomes: UnsafeBufferPointer<OutcomeRecord>
        package let events: UnsafeBufferPointer<EventRecord>
    }

    /// Drives the loop once.
    ///
    /// - Parameters:
    ///   - timeout: milliseconds to wait for a first thing to report; 0 does not wait.
    ///   - linger: microseconds to let answers gather; 0 while there are streams to fill.
    package mutating func poll(timeout: UInt32, linger: UInt32) throws(TransportError) -> Harvest {
        var io = unsafe apns_transport_poll_io()
        unsafe io.outcomes = unsafe outcomes.baseAddress
        unsafe io.outcome_capacity = unsafe UInt32(outcomes.count)
        unsafe io.events = unsafe events.baseAddress
        unsafe io.event_capacity = unsafe UInt32(events.count)
        unsafe io.timeout_ms = timeout
        unsafe io.linger_us = linger
        let status = unsafe apns_transport_poll(handle, &io)
        guard status == 0 else { throw unsafe TransportError(loop: loop, error: apns_transport_loop_error(handle)) }
        return unsafe Harvest(
            outcomes: UnsafeBufferPointer(start: outcomes.baseAddress, count: Int(io.outcome_count)),
            events: UnsafeBufferPointer(start: events.baseAddress, count: Int(io.event_count)))
    }
}
