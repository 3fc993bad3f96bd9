import APNSBatchBasics
import CAPNSTransport
import CAPNSTransportServer

/// A batch of responses that is passed to the transport in one call.
@safe struct ResponseBatch: ~Copyable {
    private let responses: UnsafeMutablePointer<apns_transport_response>
    private let fields: UnsafeMutablePointer<apns_transport_field>
    private let ids: UnsafeMutableRawPointer
    private let capacity: Int
    private(set) var count = 0
    private var fieldCount = 0
    private var idCount = 0
    /// The memory that was allocated for single responses, which `send` frees.
    private var owned: [UnsafeMutableRawBufferPointer] = unsafe []

    /// The maximum number of fields of one response: an id, the unique id, a channel id, `retry-after` and `date`.
    private static let fieldsEach = 5
    private static let idsEach = 2

    init(capacity: Int) {
        self.capacity = capacity
        unsafe responses = .allocate(capacity: capacity)
        unsafe fields = .allocate(capacity: capacity * Self.fieldsEach)
        unsafe ids = .allocate(byteCount: capacity * Self.idsEach * MessageID.length, alignment: 8)
    }

    deinit {
        unsafe responses.deallocate()
        unsafe fields.deallocate()
        unsafe ids.deallocate()
        unsafe owned.forEach { unsafe $0.deallocate() }
    }

    var isFull: Bool { count == capacity }

    /// Adds a response without fields. The batch must not be full.
    ///
    /// - Parameter body: borrowed until `send`.
    @inline(__always)
    mutating func add(connection: UInt64, stream: UInt32, status: UInt16, body: Bytes) {
        precondition(count < capacity)
        var response = unsafe apns_transport_response()
        unsafe response.connection = connection
        unsafe response.stream = stream
        unsafe response.status = status
        unsafe response.fields = unsafe UnsafePointer(fields + fieldCount)
        if body.count > 0 {
            unsafe response.body = unsafe body.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe response.body_length = UInt32(body.count)
        }
        unsafe (responses + count).initialize(to: response)
        count += 1
    }

    /// Adds a reset instead of a response. The batch must not be full.
    mutating func addReset(connection: UInt64, stream: UInt32, code: UInt32) {
        unsafe add(connection: connection, stream: stream, status: 0, body: Bytes(start: nil, count: 0))
        unsafe responses[count - 1].reset = 1
        unsafe responses[count - 1].reset_code = code
    }

    /// Adds a field to the response added last.
    ///
    /// - Parameters:
    ///   - value: borrowed until `send`.
    ///   - isFirst: whether this is the first such field on the connection, which adds the name to the dynamic table.
    ///     Later ones refer to it and do not change the table.
    @inline(__always)
    mutating func add(_ name: StaticString, _ value: Bytes, isFirst: Bool) {
        precondition(fieldCount < capacity * Self.fieldsEach)
        var field = unsafe apns_transport_field()
        unsafe field.name = unsafe name.utf8Start
        unsafe field.name_length = UInt32(name.utf8CodeUnitCount)
        unsafe field.value = unsafe value.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe field.value_length = UInt32(value.count)
        unsafe field.indexing = isFirst ? APNS_TRANSPORT_INDEXED.rawValue : APNS_TRANSPORT_LITERAL.rawValue
        unsafe (fields + fieldCount).initialize(to: field)
        fieldCount += 1
        unsafe responses[count - 1].field_count += 1
    }

    /// Adds a field with a copy of an id as its value.
    @inline(__always)
    mutating func add(_ name: StaticString, _ id: MessageID, isFirst: Bool) {
        precondition(idCount < capacity * Self.idsEach)
        let place = unsafe ids + idCount * MessageID.length
        idCount += 1
        unsafe id.write(to: place)
        unsafe add(name, Bytes(start: place, count: MessageID.length), isFirst: isFirst)
    }

    /// Adds copies of the fields and the body of an answer about channels.
    mutating func add(_ reply: ChannelReply, isFirst: Bool) {
        if !reply.channelID.isEmpty {
            unsafe add("apns-channel-id", keep(reply.channelID), isFirst: isFirst)
        }
        if !reply.body.isEmpty {
            unsafe responses[count - 1].body = unsafe keep(reply.body).baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe responses[count - 1].body_length = UInt32(reply.body.count)
        }
    }

    /// Passes all responses to the transport and empties the batch. Returns the transport's status.
    mutating func send(to transport: OpaquePointer) -> Int32 {
        guard count > 0 else { return 0 }
        let status = unsafe apns_transport_respond(transport, responses, UInt32(count))
        count = 0
        fieldCount = 0
        idCount = 0
        if unsafe !owned.isEmpty {
            unsafe owned.forEach { unsafe $0.deallocate() }
            unsafe owned.removeAll(keepingCapacity: true)
        }
        return status
    }

    private mutating func keep(_ bytes: [UInt8]) -> Bytes {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        unsafe copy.copyBytes(from: bytes)
        unsafe owned.append(copy)
        return Bytes(copy)
    }
}

/// An `apns-id` as text of 36 bytes.
struct MessageID {
    static let length = 36

    private var bytes: (UInt64, UInt64, UInt64, UInt64, UInt32) = (0, 0, 0, 0, 0)

    /// - Parameter text: 36 bytes.
    @inline(__always)
    init(_ text: UnsafeRawPointer) {
        unsafe withUnsafeMutableBytes(of: &bytes) { unsafe $0.copyMemory(from: Bytes(start: text, count: Self.length)) }
    }

    /// Creates a version 4 UUID (RFC 9562, section 5.4) from two random numbers, in lower case.
    init(high: UInt64, low: UInt64) {
        let high = high & ~0xF000 | 0x4000
        let low = low & ~(0xC << 60) | 0x8 << 60
        unsafe withUnsafeMutableBytes(of: &bytes) { out in
            var at = 0
            for digit in 0..<32 {
                let half = digit < 16 ? high : low
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    unsafe out[at] = UInt8(ascii: "-")
                    at += 1
                }
                unsafe out[at] = Hex.digit(UInt8(truncatingIfNeeded: half >> UInt64(60 - digit % 16 * 4)) & 15)
                at += 1
            }
        }
    }

    var text: String {
        unsafe withUnsafeBytes(of: bytes) { unsafe String(decoding: $0.prefix(Self.length), as: UTF8.self) }
    }

    @inline(__always)
    func write(to out: UnsafeMutableRawPointer) {
        unsafe withUnsafeBytes(of: bytes) { unsafe out.copyMemory(from: $0.baseAddress!, byteCount: Self.length) }
    }
}
