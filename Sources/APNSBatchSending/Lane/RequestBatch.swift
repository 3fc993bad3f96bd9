import APNSBatchNotification
import APNSBatchTransport

/// The requests that are gathered between two polls, as records for the core, in fixed arrays.
struct RequestBatch: ~Copyable {
    /// The largest number of requests in one submission; enough to fill 1,000 streams at once.
    static let capacity = 1024
    /// The largest number of header fields that a request has of its own: id, collapse id, channel id, expiration.
    private static let fieldsMax = 4

    private var requests = Slab<RequestRecord>(capacity: capacity)
    private var fields = Slab<FieldRecord>(capacity: capacity * fieldsMax)
    // The fields without their values. Stored, because each access to a global checks whether it is initialized.
    private let id = Self.field("apns-id", .id)
    private let requestID = Self.field("apns-request-id", .requestID)
    private let channelID = Self.field("apns-channel-id", .channelID)
    private let collapseID = Self.field("apns-collapse-id", .collapseID)
    private let expiration = Self.field("apns-expiration", .expiration)

    var count: Int { requests.count }
    var isEmpty: Bool { count == 0 }

    var records: UnsafeBufferPointer<RequestRecord> { requests.elements }

    mutating func removeAll() {
        requests.removeAll()
        fields.removeAll()
    }

    /// Adds the request of a flight, whose record must stay in its place until the outcome. Traps when the batch is full.
    mutating func add(_ flight: UnsafePointer<Flight>, ticket: Int, connection: ConnectionID) {
        let record = flight.pointee.record
        let (path, body, first) = (record[.path], record[.payload], fields.end)
        add(record.isBroadcast ? requestID : id, record[.id])
        if record.has(.channelID) { add(channelID, record[.channelID]) }
        if record.has(.collapseID) { add(collapseID, record[.collapseID]) }
        if record.has(.expiration) { add(expiration, record[.expiration]) }
        var request = RequestRecord()
        request.ticket = UInt64(ticket)
        request.connection = connection
        request.path = path.baseAddress?.assumingMemoryBound(to: UInt8.self)
        request.path_length = UInt32(truncatingIfNeeded: path.count)
        request.body = body.baseAddress?.assumingMemoryBound(to: UInt8.self)
        request.body_length = UInt32(truncatingIfNeeded: body.count)
        request.fields = UnsafePointer(first)
        request.field_count = UInt16(truncatingIfNeeded: fields.end - first)
        request.header_set = flight.pointee.headerSet
        requests.append(request)
    }

    @inline(__always)
    private mutating func add(_ field: FieldRecord, _ value: UnsafeRawBufferPointer) {
        var field = field
        field.value = value.baseAddress?.assumingMemoryBound(to: UInt8.self)
        field.value_length = UInt32(truncatingIfNeeded: value.count)
        fields.append(field)
    }

    /// - Parameter name: The name of the header field, in memory that lives as long as the program.
    private static func field(_ name: StaticString, _ header: RequestHeader) -> FieldRecord {
        precondition(name.description == header.name, "one name for one header")
        var record = FieldRecord()
        record.name = name.utf8Start
        record.name_length = UInt32(name.utf8CodeUnitCount)
        record.indexing = UInt32(header.indexing.rawValue)
        return record
    }
}
