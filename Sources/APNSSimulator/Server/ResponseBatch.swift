import CTransport

/// Responses gathered for one call of the transport.
struct ResponseBatch: ~Copyable {
    private let responses: UnsafeMutablePointer<transport_response>
    private let fields: UnsafeMutablePointer<transport_field>
    private let ids: UnsafeMutableRawPointer
    private let capacity: Int
    private(set) var count = 0

    private static let idName: StaticString = "apns-id"

    init(capacity: Int) {
        self.capacity = capacity
        responses = .allocate(capacity: capacity)
        fields = .allocate(capacity: capacity)
        ids = .allocate(byteCount: capacity * MessageID.length, alignment: 8)
    }

    deinit {
        responses.deallocate()
        fields.deallocate()
        ids.deallocate()
    }

    var isFull: Bool { count == capacity }

    /// Adds a response; there must be room.
    ///
    /// - Parameters:
    ///   - body: borrowed until `send`.
    ///   - id: copied.
    ///   - isFirst: the first response on this connection, which puts the field's name into the table of HPACK; the
    ///     later ones refer to it there and leave the table alone.
    @inline(__always)
    mutating func add(
        connection: UInt64, stream: UInt32, status: UInt16, body: Bytes, id: MessageID, isFirst: Bool
    ) {
        precondition(count < capacity)
        let place = ids + count * MessageID.length
        id.write(to: place)
        var field = transport_field()
        field.name = Self.idName.utf8Start
        field.name_length = UInt32(Self.idName.utf8CodeUnitCount)
        field.value = UnsafePointer(place.assumingMemoryBound(to: UInt8.self))
        field.value_length = UInt32(MessageID.length)
        field.indexing = isFirst ? TRANSPORT_INDEXED.rawValue : TRANSPORT_LITERAL.rawValue
        (fields + count).initialize(to: field)
        var response = transport_response()
        response.connection = connection
        response.stream = stream
        response.status = status
        response.fields = UnsafePointer(fields + count)
        response.field_count = 1
        if body.count > 0 {
            response.body = body.baseAddress?.assumingMemoryBound(to: UInt8.self)
            response.body_length = UInt32(body.count)
        }
        (responses + count).initialize(to: response)
        count += 1
    }

    /// Hands all over and begins anew. Returns the transport's status.
    mutating func send(to transport: OpaquePointer) -> Int32 {
        guard count > 0 else { return 0 }
        defer { count = 0 }
        return transport_respond(transport, responses, UInt32(count))
    }
}
