import APNSBatchNotification

/// One row between its rendering and its outcome.
package struct Flight {
    package var row: UInt64 = 0
    package var record = RowRecord()
    package var headerSet: UInt16 = 0
    /// How often it was handed to a connection.
    var attempts: UInt16 = 0
    /// What earlier sessions did for it, and whether it went again when it may have arrived: see `Attempts`.
    var past: UInt16 = 0
    /// The provider whose topic it has, and the pool's member that was sent it last.
    package var provider: UInt8 = 0
    var member: UInt16 = 0
    /// How often the server refused its stream.
    var refusals: UInt8 = 0
    /// Tries that an answer allowed only a few times, such as a new connection after UnrelatedKeyIdInToken.
    var limitedTries: UInt8 = 0
    /// Attempts that do not count, because APNs was in trouble.
    var excused: UInt16 = 0
    /// The last answer that let it be sent again; 0 before there was one.
    var lastStatus: UInt16 = 0
    var lastReason: KnownReason?
    /// A request for it had no answer, in this process or an earlier one: it may have arrived, whatever follows.
    var mayHaveArrived = false
    /// Its index in its range of the ledger.
    var place: UInt32 = 0
    /// The next free place, or the next row set aside.
    var next: Int32 = -1

    /// Attempts that count.
    var countedAttempts: Int { Int(attempts) - Int(excused) }

    /// When APNs is to give up on it; nil for never, and where it is to try once.
    var expiration: Expiration? {
        record.has(.expiration) ? try? Expiration.parse(record[.expiration]).get() : nil
    }

    /// What is known of a row when it will not be sent again.
    enum LastWord: Equatable {
        /// Every request for it surely did not arrive, or there was none.
        case neverSent
        /// APNs answered the last request, and asked for another one later.
        case refused(status: UInt16, KnownReason?)
        /// A request may have arrived, this process's or an earlier one's.
        case noAnswer
    }

    var lastWord: LastWord {
        if mayHaveArrived { return .noAnswer }
        if attempts == 0 { return .neverSent }
        return lastStatus > 0 ? .refused(status: lastStatus, lastReason) : .noAnswer
    }
}

/// The rows of a lane that are on their way, in fixed places; the index is the ticket that crosses to the core and back.
package struct FlightTable: ~Copyable {
    private var places: Slab<Flight>
    private var firstFree: Int32 = -1
    private(set) var count = 0

    package init(capacity: Int) { places = Slab(capacity: capacity) }

    deinit {
        for index in places.indices where places[index].record.block == nil { places[index].record.deallocate() }
    }

    var isFull: Bool { count == places.capacity }

    /// A free place, cleared. Traps when the table is full.
    mutating func take() -> Int {
        count += 1
        guard firstFree >= 0 else {
            places.append(Flight())
            return places.count - 1
        }
        let index = Int(firstFree)
        let flight = places.address(of: index)
        firstFree = flight.pointee.next
        flight.pointee = Flight()
        return index
    }

    /// Frees the place and its record.
    @inline(__always)
    package mutating func release(_ index: Int, in arena: inout SendArena) {
        let flight = places.address(of: index)
        arena.release(flight.pointee.record)
        flight.pointee.record.forget()
        flight.pointee.next = firstFree
        firstFree = Int32(index)
        count -= 1
    }

    /// The places in use. Looks at the whole table: for the end of a run.
    func taken() -> [Int] { places.indices.filter { !places[$0].record.isNone } }

    /// Traps for an index that was never taken: tickets come back from C.
    @inline(__always)
    func address(of index: Int) -> UnsafeMutablePointer<Flight> { places.address(of: index) }

    package subscript(index: Int) -> Flight {
        @inline(__always) unsafeAddress { UnsafePointer(address(of: index)) }
        @inline(__always) unsafeMutableAddress { address(of: index) }
    }
}
