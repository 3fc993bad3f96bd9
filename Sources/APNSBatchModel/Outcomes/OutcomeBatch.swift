import APNSBatchNotification

/// A batch of outcomes that a lane passes to the writer: up to 2,048 entries and the bytes that they refer to.
///
/// One thread at a time owns it: the lane fills it, the queue passes it on, and the writer empties and returns it.
@safe @usableFromInline package final class OutcomeBatch: @unchecked Sendable {
    /// The default capacity of a batch, in entries.
    package static let entryCapacity = 2048
    package static let byteCapacity = 256 * 1024
    /// The maximum length of a text, in bytes; longer ones are cut. Device tokens and APNs's reasons are always shorter.
    @inlinable package static var textLimit: Int { 1024 }

    // The counters are behind a pointer: the lane fills the batch in another module, where every access to a variable of a
    // class is checked for exclusivity, which costs some 250 instructions for each row.
    @usableFromInline let used: UnsafeMutablePointer<(entries: Int, bytes: Int)>
    @usableFromInline let entryStorage: UnsafeMutablePointer<OutcomeEntry>
    @usableFromInline let entryLimit: Int
    @usableFromInline let byteStorage: UnsafeMutableRawPointer
    @usableFromInline let byteLimit: Int

    package init(entries: Int = entryCapacity) {
        unsafe used = .allocate(capacity: 1)
        unsafe used.initialize(to: (0, 0))
        entryLimit = entries
        byteLimit = min(Self.byteCapacity, entries * Self.textsLimit)
        unsafe entryStorage = .allocate(capacity: entries)
        unsafe byteStorage = .allocate(byteCount: byteLimit, alignment: 16)
    }

    /// The number of entries.
    @inlinable package var count: Int { unsafe used.pointee.entries }

    deinit {
        unsafe used.deallocate()
        unsafe entryStorage.deallocate()
        unsafe byteStorage.deallocate()
    }

    @inlinable package var isEmpty: Bool { count == 0 }

    /// Whether another entry fits, whatever the length of its texts.
    @inlinable
    package var hasRoom: Bool { unsafe count < entryLimit && used.pointee.bytes + Self.textsLimit <= byteLimit }

    /// The number of further entries that fit, unless their texts are long.
    @inlinable package var room: Int { entryLimit - count }

    @inlinable static var textsLimit: Int { 3 * textLimit + CarriedFields.bytesMax }

    @inlinable
    package var entries: UnsafeBufferPointer<OutcomeEntry> {
        unsafe UnsafeBufferPointer(start: entryStorage, count: count)
    }

    @inlinable
    package func token(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: byteStorage + Int(entry.tokenOffset), count: Int(entry.tokenLength))
    }

    /// The row's own apns-id. Only valid if the entry's `hasOwnID` is set.
    @inlinable
    package func ownID(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: byteStorage + Int(entry.tokenOffset) - MessageID.length, count: MessageID.length)
    }

    @inlinable
    package func reason(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: byteStorage + Int(entry.reasonOffset), count: Int(entry.reasonLength))
    }

    /// The encoded `CarriedFields` of an entry.
    @inlinable
    package func carried(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: byteStorage + Int(entry.reasonOffset) + Int(entry.reasonLength), count: Int(entry.carriedLength))
    }

    /// Appends to the carried fields of the last entry. Call it only directly after that entry was appended. Fields that
    /// exceed the limit are dropped.
    package func carry(_ fields: UnsafeRawBufferPointer) {
        precondition(count > 0)
        let entry = unsafe entryStorage + (count - 1)
        guard let base = fields.baseAddress,
            unsafe Int(entry.pointee.carriedLength) + fields.count <= CarriedFields.bytesMax
        else { return }
        unsafe (byteStorage + used.pointee.bytes).copyMemory(from: base, byteCount: fields.count)
        unsafe used.pointee.bytes += fields.count
        unsafe entry.pointee.carriedLength += UInt16(fields.count)
    }

    /// Encodes one text and appends it to the carried fields of the last entry.
    package func carry(text: UnsafeRawBufferPointer) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 1 + CarriedFields.textMax, alignment: 1) { room in
            let length = unsafe CarriedFields.write(text, to: room.baseAddress!)
            unsafe carry(UnsafeRawBufferPointer(rebasing: room[..<length]))
        }
    }

    /// Appends an entry, and copies its texts. Traps unless `hasRoom`.
    ///
    /// - Parameter isHex: Whether the token was checked and is in lower case.
    @inlinable
    package func append(
        row: UInt64, outcome: Outcome, code: UInt16, attempts: Attempts, answerTime: UInt32 = 0, timestamp: UInt64,
        token: UnsafeRawBufferPointer, isHex: Bool = false, reason: UnsafeRawBufferPointer,
        ownID: UnsafeRawPointer? = nil
    ) {
        precondition(hasRoom)
        if let ownID = unsafe ownID { _ = unsafe keep(UnsafeRawBufferPointer(start: ownID, count: MessageID.length)) }
        let entry = unsafe OutcomeEntry(
            row: row, timestamp: timestamp, token: keep(token), reason: keep(reason), code: code, attempts: attempts,
            answerTime: answerTime, outcome: outcome, hasOwnID: ownID != nil, isHex: isHex)
        unsafe (entryStorage + count).initialize(to: entry)
        unsafe used.pointee.entries += 1
    }

    @inlinable @inline(__always)
    func keep(_ text: UnsafeRawBufferPointer) -> (offset: UInt32, length: UInt16) {
        let offset = unsafe used.pointee.bytes
        let length = unsafe Self.cut(text, to: Self.textLimit)
        if length > 0 { unsafe (byteStorage + offset).copyMemory(from: text.baseAddress!, byteCount: length) }
        unsafe used.pointee.bytes = offset &+ length
        // Both fit: a batch is far smaller than 4 GiB, and a text is cut.
        return (UInt32(truncatingIfNeeded: offset), UInt16(truncatingIfNeeded: length))
    }

    /// The number of bytes to keep so that no UTF-8 sequence is cut.
    @inlinable static func cut(_ text: UnsafeRawBufferPointer, to limit: Int) -> Int {
        guard text.count > limit else { return text.count }
        var length = limit
        while unsafe length > 0 && text[length] & 0xC0 == 0x80 { length -= 1 }
        return length
    }

    /// The texts of all entries, to which the offsets in them refer.
    var texts: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: byteStorage, count: used.pointee.bytes)
    }

    package func removeAll() {
        unsafe used.pointee = (0, 0)
    }
}
