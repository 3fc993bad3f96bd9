import APNSProtocol
import LaneTransport

/// Requests gathered between two polls, as the records that cross to the core. Fixed arrays, filled and emptied.
struct RequestBatch: ~Copyable {
    /// Requests that cross at once; a window of 1,000 streams takes one crossing.
    static let capacity = 1024
    private static let fieldsPerRequest = 3

    private let requests: UnsafeMutablePointer<RequestRecord>
    private let fields: UnsafeMutablePointer<FieldRecord>
    private(set) var count = 0
    // Kept here, for a global is asked each time whether it is there yet.
    private let id = RowFieldName.id
    private let requestID = RowFieldName.requestID
    private let channelID = RowFieldName.channelID
    private let collapseID = RowFieldName.collapseID
    private let expiration = RowFieldName.expiration

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
        var used: UInt16 = 0
        own[0] = Self.field(flight.isBroadcast ? requestID : id, record + flight.pathLength, MessageID.length)
        used += 1
        if flight.isBroadcast {
            own[1] = Self.field(channelID, record + flight.channelOffset, Int(flight.channelLength))
            used += 1
        }
        if flight.collapseLength > 0 {
            own[Int(used)] = Self.field(collapseID, record + flight.collapseOffset, Int(flight.collapseLength))
            used += 1
        }
        if flight.expirationLength > 0 {
            own[Int(used)] = Self.field(expiration, record + flight.expirationOffset, Int(flight.expirationLength))
            used += 1
        }
        var request = RequestRecord()
        request.ticket = UInt64(ticket)
        request.connection = connection
        request.path = record.assumingMemoryBound(to: UInt8.self)
        request.path_length = UInt32(flight.pathLength)
        request.body = (record + flight.bodyOffset).assumingMemoryBound(to: UInt8.self)
        request.body_length = flight.bodyLength
        request.fields = UnsafePointer(own)
        request.field_count = used
        request.header_set = flight.headerSet
        (requests + count).initialize(to: request)
        count += 1
    }

    private static func field(_ name: RowFieldName, _ value: UnsafeRawPointer, _ length: Int) -> FieldRecord {
        var record = FieldRecord()
        record.name = name.name.utf8Start
        record.name_length = UInt32(name.name.utf8CodeUnitCount)
        record.value = value.assumingMemoryBound(to: UInt8.self)
        record.value_length = UInt32(length)
        record.indexing = name.indexing
        return record
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

    private init(_ name: StaticString, _ header: RequestHeader) {
        precondition(name.description == header.name, "one name for one header")
        self.name = name
        indexing = UInt32(header.indexing.rawValue)
    }
}
