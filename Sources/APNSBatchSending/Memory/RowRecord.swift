import APNSBatchNotification

/// The bytes to which the request for a row points, and those of the row that its outcome needs, in one piece:
///
///     path │ apns-id │ collapse id │ channel id │ expiration │ payload │ fields carried into the results
///
/// Only this type contains that order. Parts are written in this order, each into ``room(_:)``, and read by name. A push to a
/// device has the device token in its path and no channel id; a broadcast has a channel id and no collapse id.
///
/// The bytes are in a block of the send arena, or in an allocation of their own while the row waits to be sent again. C
/// points to them from the submission of the request to its outcome, so only the arena may free them.
@safe package struct RowRecord {
    package enum Part: Int { case path, id, collapseID, channelID, expiration, payload, carried }

    private var start: UnsafeMutableRawPointer?
    private let capacity: Int32
    private var used: Int32 = 0
    private var lengths = InlineArray<7, UInt16>(repeating: 0)
    /// The index of the arena's block; -1 outside of the arena.
    private let blockIndex: Int32

    /// Creates the value for no record; see ``isNone``.
    @inline(__always)
    init() { (capacity, blockIndex) = (0, -1) }

    /// Creates an empty record with room for `capacity` bytes.
    ///
    /// - Parameter block: The index of the arena's block; nil for an allocation of its own.
    @inline(__always)
    init(at start: UnsafeMutableRawPointer, capacity: Int, block: Int?) {
        unsafe self.start = unsafe start
        self.capacity = Int32(truncatingIfNeeded: capacity)
        blockIndex = Int32(truncatingIfNeeded: block ?? -1)
    }

    /// Makes this the value for no record. Does not free the bytes; the arena does.
    @inline(__always)
    mutating func forget() { unsafe start = nil }

    var isNone: Bool { unsafe start == nil }
    var length: Int { Int(used) }
    var block: Int? { blockIndex >= 0 ? Int(blockIndex) : nil }

    /// Returns the memory for the next part. Traps if there is no room for `most` bytes.
    @inline(__always)
    func room(_ most: Int) -> UnsafeMutableRawBufferPointer {
        precondition(length + most <= Int(capacity), "a record is made for its largest parts")
        return unsafe UnsafeMutableRawBufferPointer(start: start! + length, count: most)
    }

    /// Adds the part that was written to ``room(_:)``.
    @inline(__always)
    mutating func add(_ part: Part, length added: Int) {
        precondition(length + added <= Int(capacity), "a part fits its room")
        lengths[part.rawValue] = UInt16(truncatingIfNeeded: added)
        used += Int32(truncatingIfNeeded: added)
    }

    mutating func add(_ part: Part, copying bytes: UnsafeRawBufferPointer) {
        unsafe room(bytes.count).copyMemory(from: bytes)
        add(part, length: bytes.count)
    }

    @inline(__always)
    package func has(_ part: Part) -> Bool { lengths[part.rawValue] > 0 }

    package subscript(part: Part) -> UnsafeRawBufferPointer {
        @inline(__always) get {
            var offset = 0
            for before in 0..<part.rawValue { offset += Int(lengths[before]) }
            return unsafe UnsafeRawBufferPointer(start: start! + offset, count: Int(lengths[part.rawValue]))
        }
    }

    package var isBroadcast: Bool { has(.channelID) }

    /// The device token, or the channel id of a broadcast.
    package var recipient: UnsafeRawBufferPointer {
        @inline(__always) get {
            if isBroadcast { return unsafe self[.channelID] }
            let path = unsafe self[.path]
            let prefix = DeviceToken.pathPrefixLength
            return unsafe UnsafeRawBufferPointer(start: path.baseAddress! + prefix, count: path.count - prefix)
        }
    }

    /// Returns the same record in an allocation of its own.
    func copied() -> RowRecord {
        let own = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 8)
        unsafe own.copyMemory(from: start!, byteCount: length)
        var copy = unsafe RowRecord(at: own, capacity: length, block: nil)
        (copy.used, copy.lengths) = (used, lengths)
        return copy
    }

    /// Frees the allocation of the record, if it has one. Traps for a record in a block of the arena.
    func deallocate() {
        precondition(block == nil, "the arena frees its blocks")
        unsafe start?.deallocate()
    }
}
