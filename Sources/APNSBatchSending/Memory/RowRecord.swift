import APNSBatchNotification

/// What the request for one row points at, and what its outcome needs of the row: bytes in one piece.
///
///     path │ apns-id │ collapse id │ channel id │ expiration │ payload │ fields carried into the results
///
/// Only this type knows that order. Parts are written in it, each into ``room(_:)``, and read by their names. A push to a
/// device has its token in the path and no channel id; a broadcast has a channel id and no collapse id.
///
/// The bytes lie in a block of the send arena, or in an allocation of their own while the row waits to be sent again. They
/// are C's, too, from the submission of the request to its outcome, so that nothing but the arena frees them.
package struct RowRecord {
    package enum Part: Int { case path, id, collapseID, channelID, expiration, payload, carried }

    private var start: UnsafeMutableRawPointer?
    private let capacity: Int32
    private var used: Int32 = 0
    private var lengths = InlineArray<7, UInt16>(repeating: 0)
    /// The arena's block, or -1.
    private let place: Int32

    /// No record.
    @inline(__always)
    init() { (capacity, place) = (0, -1) }

    /// An empty record with room for so many bytes.
    ///
    /// - Parameter block: of the arena; nil for an allocation of its own.
    @inline(__always)
    init(at start: UnsafeMutableRawPointer, capacity: Int, block: Int?) {
        self.start = start
        self.capacity = Int32(truncatingIfNeeded: capacity)
        place = Int32(truncatingIfNeeded: block ?? -1)
    }

    /// Becomes no record. Its bytes are the arena's to free.
    @inline(__always)
    mutating func forget() { start = nil }

    var isNone: Bool { start == nil }
    var length: Int { Int(used) }
    var block: Int? { place >= 0 ? Int(place) : nil }

    /// Where the next part is written. Traps when there is not that much room.
    @inline(__always)
    func room(_ most: Int) -> UnsafeMutableRawBufferPointer {
        precondition(length + most <= Int(capacity), "a record is made for its largest parts")
        return UnsafeMutableRawBufferPointer(start: start! + length, count: most)
    }

    /// Adds the part that was written to ``room(_:)``.
    @inline(__always)
    mutating func add(_ part: Part, length added: Int) {
        precondition(length + added <= Int(capacity), "a part fits its room")
        lengths[part.rawValue] = UInt16(truncatingIfNeeded: added)
        used += Int32(truncatingIfNeeded: added)
    }

    mutating func add(_ part: Part, copying bytes: UnsafeRawBufferPointer) {
        room(bytes.count).copyMemory(from: bytes)
        add(part, length: bytes.count)
    }

    @inline(__always)
    package func has(_ part: Part) -> Bool { lengths[part.rawValue] > 0 }

    package subscript(part: Part) -> UnsafeRawBufferPointer {
        @inline(__always) get {
            var offset = 0
            for before in 0..<part.rawValue { offset += Int(lengths[before]) }
            return UnsafeRawBufferPointer(start: start! + offset, count: Int(lengths[part.rawValue]))
        }
    }

    package var isBroadcast: Bool { has(.channelID) }

    /// The device token, or the channel id of a broadcast.
    package var recipient: UnsafeRawBufferPointer {
        @inline(__always) get {
            if isBroadcast { return self[.channelID] }
            let path = self[.path]
            let prefix = DeviceToken.pathPrefixLength
            return UnsafeRawBufferPointer(start: path.baseAddress! + prefix, count: path.count - prefix)
        }
    }

    /// The same record in an allocation of its own.
    func copied() -> RowRecord {
        let own = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 8)
        own.copyMemory(from: start!, byteCount: length)
        var copy = RowRecord(at: own, capacity: length, block: nil)
        (copy.used, copy.lengths) = (used, lengths)
        return copy
    }

    /// Only for a record in an allocation of its own, or none.
    func deallocate() {
        precondition(block == nil, "the arena frees its blocks")
        start?.deallocate()
    }
}
