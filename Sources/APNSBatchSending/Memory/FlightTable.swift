import APNSBatchModel
import APNSBatchNotification

/// The state of a row from its rendering to its outcome.
package struct Flight {
    package var row: UInt64 = 0
    package var record = RowRecord()
    package var headerSet: UInt16 = 0
    /// The number of requests for the row in this session, without those that certainly were not sent.
    var attempts: UInt16 = 0
    /// The attempts of earlier sessions, and whether the row was sent again although it may have arrived.
    var past: Attempts = 0
    /// How many of these count toward the limit, too.
    var pastCounted: UInt16 = 0
    /// The provider that covers its topic; `member` is the member of the provider's pool to which it was sent last.
    package var provider: UInt8 = 0
    var member: UInt16 = 0
    /// The number of times the server refused its stream.
    var refusals: UInt8 = 0
    /// The number of retries after answers that allow only a few, such as a new connection after UnrelatedKeyIdInToken.
    var limitedTries: UInt8 = 0
    /// The number of attempts that do not count, because APNs was in trouble.
    var excused: UInt16 = 0
    /// The status of the last answer after which the row is sent again; 0 if there was none.
    var lastStatus: UInt16 = 0
    var lastReason: KnownReason?
    /// Whether a request for the row was not answered, in this session or an earlier one. Then it may have arrived, whatever
    /// follows.
    var mayHaveArrived = false
    /// Whether the sender of the notification awaits no result any more, so that it is not sent again.
    var isInterrupted = false
    /// The index of the row in its range of the ledger, from 0.
    var indexInRange: UInt32 = 0
    /// The index of the next free slot, or of the next row set aside; -1 for none.
    var next: Int32 = -1

    /// The number of attempts, in all sessions, that count toward the limit.
    var countedAttempts: Int { Int(pastCounted) + Int(attempts) - Int(excused) }

    /// When APNs gives up delivery: the value of the `apns-expiration` field, or nil if the request has none.
    var expiration: Expiration? {
        unsafe record.has(.expiration) ? try? Expiration.parse(record[.expiration]).get() : nil
    }

    /// What is known of a row that will not be sent again.
    enum LastWord: Equatable {
        /// No request was sent, or certainly none arrived.
        case neverSent
        /// APNs answered the last request, and the row was to be sent again later.
        case refused(status: UInt16, KnownReason?)
        /// A request of this session or an earlier one may have arrived.
        case noAnswer

        var arrival: Arrival {
            switch self {
            case .neverSent: .notSent
            case .refused: .answered
            case .noAnswer: .maybeSent
            }
        }
    }

    var lastWord: LastWord {
        if mayHaveArrived { return .noAnswer }
        if attempts == 0 { return .neverSent }
        return lastStatus > 0 ? .refused(status: lastStatus, lastReason) : .noAnswer
    }
}

/// The flights of a lane, in fixed slots. The index of a slot is the ticket of its request in the core.
package struct FlightTable: ~Copyable {
    private var slots: Slab<Flight>
    private var firstFree: Int32 = -1
    private(set) var count = 0

    package init(capacity: Int) { slots = Slab(capacity: capacity) }

    deinit {
        for index in slots.indices where slots[index].record.block == nil { slots[index].record.deallocate() }
    }

    var isFull: Bool { count == slots.capacity }

    /// Takes a free slot and clears it. Traps when the table is full.
    mutating func take() -> Int {
        assert((firstFree < 0) == (count == slots.count), "a slot is in use or in the list of free ones")
        count += 1
        guard firstFree >= 0 else {
            slots.append(Flight())
            return slots.count - 1
        }
        let index = Int(firstFree)
        let flight = unsafe slots.address(of: index)
        assert(unsafe flight.pointee.record.isNone, "a free slot has no record")
        firstFree = unsafe flight.pointee.next
        unsafe flight.pointee = Flight()
        return index
    }

    /// Frees the slot and its record.
    @inline(__always)
    package mutating func release(_ index: Int, in arena: inout SendArena) {
        let flight = unsafe slots.address(of: index)
        unsafe arena.release(flight.pointee.record)
        unsafe flight.pointee.record.forget()
        unsafe flight.pointee.next = firstFree
        assert(Int(firstFree) != index, "a slot is freed once")
        firstFree = Int32(index)
        count -= 1
        assert(count >= 0, "a slot that is freed was in use")
    }

    /// Returns the slots in use. Searches the whole table, so it is only for the end of a run.
    func taken() -> [Int] { slots.indices.filter { !slots[$0].record.isNone } }

    /// Returns the address of a flight. Traps for an index that was never taken, because tickets come back from C.
    @inline(__always)
    func address(of index: Int) -> UnsafeMutablePointer<Flight> { unsafe slots.address(of: index) }

    package subscript(index: Int) -> Flight {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(address(of: index)) }
        @inline(__always) unsafeMutableAddress { unsafe address(of: index) }
    }
}
