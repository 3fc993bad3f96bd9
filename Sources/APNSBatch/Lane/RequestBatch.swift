import APNSBatchNotification
import LaneTransport

/// Requests gathered between two polls, as the records that cross to the core. Fixed arrays, filled and emptied.
struct RequestBatch: ~Copyable {
    /// Requests that cross at once; a window of 1,000 streams takes one crossing.
    static let capacity = 1024
    private static let fieldsPerRequest = 3

    private let requests: UnsafeMutablePointer<RequestRecord>
    private let fields: UnsafeMutablePointer<FieldRecord>
    private(set) var count = 0
    // The fields without their values. Kept here, for a global is asked each time whether it is there yet.
    private let id = RowFieldName.id.field
    private let requestID = RowFieldName.requestID.field
    private let channelID = RowFieldName.channelID.field
    private let collapseID = RowFieldName.collapseID.field
    private let expiration = RowFieldName.expiration.field

    init() {
        requests = .allocate(capacity: Self.capacity)
        fields = .allocate(capacity: Self.capacity * Self.fieldsPerRequest)
    }

    deinit {
        requests.deallocate()
        fields.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    var records: UnsafeBufferPointer<RequestRecord> { UnsafeBufferPointer(start: requests, count: count) }

    mutating func removeAll() { count = 0 }

    /// Adds the request of a flight. Only while `count` is below `capacity`. The flight's record stays where it is until the outcome.
    mutating func add(_ flight: Flight, ticket: Int, connection: ConnectionID) {
        let record = UnsafeRawPointer(flight.record!)
        let own = fields + count * Self.fieldsPerRequest
        var used = 0
        @inline(__always)
        func add(_ field: FieldRecord, _ offset: Int, _ length: Int) {
            own[used] = field
            own[used].value = (record + offset).assumingMemoryBound(to: UInt8.self)
            own[used].value_length = UInt32(truncatingIfNeeded: length)
            used += 1
        }
        add(flight.isBroadcast ? requestID : id, flight.pathLength, MessageID.length)
        if flight.isBroadcast { add(channelID, flight.channelOffset, Int(flight.channelLength)) }
        if flight.collapseLength > 0 { add(collapseID, flight.collapseOffset, Int(flight.collapseLength)) }
        if flight.expirationLength > 0 { add(expiration, flight.expirationOffset, Int(flight.expirationLength)) }
        var request = RequestRecord()
        request.ticket = UInt64(ticket)
        request.connection = connection
        request.path = record.assumingMemoryBound(to: UInt8.self)
        request.path_length = UInt32(flight.pathLength)
        request.body = (record + flight.bodyOffset).assumingMemoryBound(to: UInt8.self)
        request.body_length = flight.bodyLength
        request.fields = UnsafePointer(own)
        request.field_count = UInt16(truncatingIfNeeded: used)
        request.header_set = flight.headerSet
        (requests + count).initialize(to: request)
        count += 1
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
