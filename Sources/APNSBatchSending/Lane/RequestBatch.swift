import APNSBatchNotification
import APNSBatchTransport

/// The requests that are gathered between two polls, as records for the core, in fixed arrays.
@safe struct RequestBatch: ~Copyable {
    /// The largest number of requests in one submission; enough to fill 1,000 streams at once.
    static let capacity = 1024
    /// The largest number of header fields that a request has of its own: id, collapse id, channel id, expiration.
    private static let fieldsMax = 4

    private var requests = unsafe Slab<RequestRecord>(capacity: capacity)
    private var fields = unsafe Slab<FieldRecord>(capacity: capacity * fieldsMax)
    // The fields without their values. Stored, because each access to a global checks whether it is initialized.
    private let id = unsafe Self.field("apns-id", .id)
    private let requestID = unsafe Self.field("apns-request-id", .requestID)
    private let channelID = unsafe Self.field("apns-channel-id", .channelID)
    private let collapseID = unsafe Self.field("apns-collapse-id", .collapseID)
    private let expiration = unsafe Self.field("apns-expiration", .expiration)

    var count: Int { unsafe requests.count }
    var isEmpty: Bool { count == 0 }

    var records: UnsafeBufferPointer<RequestRecord> { unsafe requests.elements }

    mutating func removeAll() {
        unsafe requests.removeAll()
        unsafe fields.removeAll()
    }

    /// Adds the request of a flight, whose record must stay in its place until the outcome. Traps when the batch is full.
    mutating func add(_ flight: UnsafePointer<Flight>, ticket: Int, connection: ConnectionID) {
        let record = unsafe flight.pointee.record
        let (path, body, first) = unsafe (record[.path], record[.payload], fields.end)
        unsafe add(record.isBroadcast ? requestID : id, record[.id])
        if record.has(.channelID) { unsafe add(channelID, record[.channelID]) }
        if record.has(.collapseID) { unsafe add(collapseID, record[.collapseID]) }
        if record.has(.expiration) { unsafe add(expiration, record[.expiration]) }
        var request = unsafe RequestRecord()
        unsafe request.ticket = UInt64(ticket)
        unsafe request.connection = connection
        unsafe request.path = unsafe path.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe request.path_length = UInt32(truncatingIfNeeded: path.count)
        unsafe request.body = unsafe body.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe request.body_length = UInt32(truncatingIfNeeded: body.count)
        unsafe request.fields = unsafe UnsafePointer(first)
        unsafe request.field_count = unsafe UInt16(truncatingIfNeeded: fields.end - first)
        unsafe request.header_set = unsafe flight.pointee.headerSet
        unsafe requests.append(request)
    }

    @inline(__always)
    private mutating func add(_ field: FieldRecord, _ value: UnsafeRawBufferPointer) {
        var field = unsafe field
        unsafe field.value = unsafe value.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe field.value_length = UInt32(truncatingIfNeeded: value.count)
        unsafe fields.append(field)
    }

    /// - Parameter name: The name of the header field, in memory that lives as long as the program.
    private static func field(_ name: StaticString, _ header: RequestHeader) -> FieldRecord {
        precondition(name.description == header.name, "one name for one header")
        var record = unsafe FieldRecord()
        unsafe record.name = unsafe name.utf8Start
        unsafe record.name_length = UInt32(name.utf8CodeUnitCount)
        unsafe record.indexing = UInt32(header.indexing.rawValue)
        return unsafe record
    }
}
