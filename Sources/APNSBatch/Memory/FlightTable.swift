import APNSBatchNotification

/// One row between its rendering and its outcome.
///
/// The record holds everything that a request points at, in this order:
///
///     path │ apns-id (36) │ collapse id │ channel id │ expiration │ payload │ fields carried into the results
///
/// A push to a device has its token in the path and no channel id; a broadcast has a channel id and no collapse id.
struct Flight {
    var row: UInt64 = 0
    var record: UnsafeMutableRawPointer?
    var bodyLength: UInt32 = 0
    /// The arena's block, or -1 when the record is an allocation of its own (a row that waits to be sent again).
    var block: Int32 = -1
    private var pathBytes: UInt16 = 0
    var collapseLength: UInt8 = 0
    var channelLength: UInt8 = 0
    var expirationLength: UInt8 = 0
    var headerSet: UInt16 = 0
    /// How often it was handed to a connection.
    var attempts: UInt16 = 0
    /// What earlier sessions did for it, and whether it went again when it may have arrived: see `Attempts`.
    var past: UInt16 = 0
    var member: UInt16 = 0
    /// How often the server refused its stream.
    var refusals: UInt8 = 0
    /// Tries that an answer allowed only a few times, such as a new connection after UnrelatedKeyIdInToken.
    var limitedTries: UInt8 = 0
    /// The last answer that let it be sent again; 0 before there was one.
    var lastStatus: UInt16 = 0
    var lastReason: KnownReason?
    /// Whose topic it has.
    var provider: UInt8 = 0
    /// A request for it had no answer, in this process or an earlier one: it may have arrived, whatever follows.
    var mayHaveArrived = false
    /// Its index in its range of the ledger.
    var place: UInt32 = 0
    /// The next free place, or the next row set aside.
    var next: Int32 = -1
    var carriedLength: UInt16 = 0
    /// Attempts that do not count, because APNs was in trouble.
    var excused: UInt16 = 0

    init() {}

    var pathLength: Int {
        get { Int(pathBytes) }
        set { pathBytes = UInt16(newValue) }
    }
    var collapseOffset: Int { pathLength + MessageID.length }
    var channelOffset: Int { collapseOffset + Int(collapseLength) }
    var expirationOffset: Int { channelOffset + Int(channelLength) }
    var bodyOffset: Int { expirationOffset + Int(expirationLength) }
    var carriedOffset: Int { bodyOffset + Int(bodyLength) }
    var recordLength: Int { carriedOffset + Int(carriedLength) }

    var isBroadcast: Bool { channelLength > 0 }

    /// The device token, or the channel id of a broadcast.
    var token: UnsafeRawBufferPointer {
        let prefix = DeviceToken.pathPrefixLength
        return isBroadcast
            ? UnsafeRawBufferPointer(start: record! + channelOffset, count: Int(channelLength))
            : UnsafeRawBufferPointer(start: record! + prefix, count: pathLength - prefix)
    }
}

/// The rows of a lane that are on their way: a fixed slab; the index is the ticket that crosses to the core and back.
struct FlightTable: ~Copyable {
    private let flights: UnsafeMutablePointer<Flight>
    let capacity: Int
    private var fresh = 0
    private var firstFree: Int32 = -1
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        flights = .allocate(capacity: capacity)
    }

    deinit {
        for index in 0..<fresh where flights[index].block < 0 { flights[index].record?.deallocate() }
        flights.deallocate()
    }

    var isFull: Bool { count == capacity }

    /// A free place, cleared. Only while the table is not full.
    mutating func take() -> Int {
        precondition(count < capacity)
        count += 1
        let index: Int
        if firstFree >= 0 {
            index = Int(firstFree)
            firstFree = flights[index].next
        } else {
            index = fresh
            fresh += 1
        }
        (flights + index).initialize(to: Flight())
        return index
    }

    /// Frees the place, and the record where it is an allocation of its own.
    mutating func release(_ index: Int) {
        if flights[index].block < 0 { flights[index].record?.deallocate() }
        flights[index].record = nil
        flights[index].next = firstFree
        firstFree = Int32(index)
        count -= 1
    }

    /// The places in use. Looks at the whole table: for the end of a run.
    func taken() -> [Int] { (0..<fresh).filter { flights[$0].record != nil } }

    subscript(index: Int) -> Flight {
        unsafeAddress { UnsafePointer(flights + index) }
        nonmutating unsafeMutableAddress { flights + index }
    }
}
