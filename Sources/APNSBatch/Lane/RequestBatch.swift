import APNSProtocol
import LaneTransport

/// Requests gathered between two polls, as the records that cross to the core. Fixed arrays, filled and emptied.
struct RequestBatch: ~Copyable {
    /// Requests that cross at once; a window of 1,000 streams takes one crossing.
    static let capacity = 1024
    /// Header fields of a request that are its own: id, collapse id, channel id, expiration.
    private static let fieldsMax = 4

    private var requests = Slab<RequestRecord>(capacity: capacity)
    private var fields = Slab<FieldRecord>(capacity: capacity * fieldsMax)
    // The fields without their values. Kept here, for a global is asked each time whether it is there yet.
    private let id = RowFieldName.id.field
    private let requestID = RowFieldName.requestID.field
    private let channelID = RowFieldName.channelID.field
    private let collapseID = RowFieldName.collapseID.field
    private let expiration = RowFieldName.expiration.field

    var count: Int { requests.count }
    var isEmpty: Bool { count == 0 }

    var records: UnsafeBufferPointer<RequestRecord> { requests.elements }

    mutating func removeAll() {
        requests.removeAll()
        fields.removeAll()
    }

    /// Adds the request of a flight, whose record stays where it is until the outcome. Traps when the batch is full.
    mutating func add(_ flight: Flight, ticket: Int, connection: ConnectionID) {
        let record = flight.record
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
        request.header_set = flight.headerSet
        requests.append(request)
    }

    @inline(__always)
    private mutating func add(_ field: FieldRecord, _ value: UnsafeRawBufferPointer) {
        var field = field
        field.value = value.baseAddress?.assumingMemoryBound(to: UInt8.self)
        field.value_length = UInt32(truncatingIfNeeded: value.count)
        fields.append(field)
    }
}

/// The header fields that differ from row to row, as the core takes them. Names live as long as the program.
struct RowFieldName {
    let name: StaticString
    let indexing: UInt32

    static let id = RowFieldName("apns-id", RequestHeader.id)
    static let collapseID = RowFieldName("apns-collapse-id", RequestHeader.collapseID)
    static let requestID = RowFieldName("apns-request-id", RequestHeader.requestID)
    static let channelID = RowFieldName("apns-channel-id", RequestHeader.channelID)
    static let expiration = RowFieldName("apns-expiration", RequestHeader.expiration)

    /// As the core takes it, without a value.
    var field: FieldRecord {
        var record = FieldRecord()
        record.name = name.utf8Start
        record.name_length = UInt32(name.utf8CodeUnitCount)
        record.indexing = indexing
        return record
    }

    private init(_ name: StaticString, _ header: RequestHeader) {
        precondition(name.description == header.name, "one name for one header")
        self.name = name
        indexing = UInt32(header.indexing.rawValue)
    }
}
