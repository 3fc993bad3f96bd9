import APNSBatchNotification

/// One row's end, in fixed layout; its token and reason stand in the batch's bytes.
@usableFromInline package struct OutcomeEntry {
    @usableFromInline package var row: UInt64
    /// Milliseconds since the epoch, of a 410, or `noTimestamp`.
    @usableFromInline package var timestamp: UInt64
    @usableFromInline package var tokenOffset: UInt32
    @usableFromInline package var reasonOffset: UInt32
    @usableFromInline package var tokenLength: UInt16
    @usableFromInline package var reasonLength: UInt16
    /// HTTP status; of an invalid row the code of the rule that it breaks; 0 when APNs did not answer.
    @usableFromInline package var status: UInt16
    /// Of all sessions; see `Attempts`.
    @usableFromInline package var attempts: UInt16
    @usableFromInline package var outcome: Outcome
    /// Of the texts that go into the line as they are; they stand behind the reason.
    @usableFromInline package var carriedLength: UInt16
    /// The row brought its own apns-id, which stands before its token.
    @usableFromInline package var hasOwnID: Bool
    /// The token is known to be lower-case hexadecimal digits.
    @usableFromInline package var isHex: Bool

    @inlinable
    package init(
        row: UInt64, timestamp: UInt64, token: (offset: UInt32, length: UInt16),
        reason: (offset: UInt32, length: UInt16),
        status: UInt16, attempts: UInt16, outcome: Outcome, hasOwnID: Bool, isHex: Bool
    ) {
        (self.row, self.timestamp, self.status, self.attempts) = (row, timestamp, status, attempts)
        (tokenOffset, tokenLength) = token
        (reasonOffset, reasonLength) = reason
        (self.outcome, self.hasOwnID, self.isHex) = (outcome, hasOwnID, isHex)
        carriedLength = 0
    }

    @inlinable package static var noTimestamp: UInt64 { .max }
}

/// Outcomes on their way from a lane to the writer: some thousand entries and the bytes they refer to.
///
/// Owned by one thread at a time: the lane fills it, the queue hands it over, the writer empties and returns it.
@usableFromInline package final class OutcomeBatch: @unchecked Sendable {
    /// Entries that a batch holds unless it is made for fewer.
    package static let entryCapacity = 2048
    package static let byteCapacity = 256 * 1024
    /// Longer texts are cut; a device token or a reason never is.
    @inlinable package static var textLimit: Int { 1024 }

    // What changes stands behind a pointer: the lane fills the batch in another module, where every access to a variable of a
    // class is checked for exclusivity, which costs some 250 instructions for each row.
    @usableFromInline let used: UnsafeMutablePointer<(entries: Int, bytes: Int)>
    @usableFromInline let entryStorage: UnsafeMutablePointer<OutcomeEntry>
    @usableFromInline let entryLimit: Int
    @usableFromInline let byteStorage: UnsafeMutableRawPointer
    @usableFromInline let byteLimit: Int

    package init(entries: Int = entryCapacity) {
        used = .allocate(capacity: 1)
        used.initialize(to: (0, 0))
        entryLimit = entries
        byteLimit = min(Self.byteCapacity, entries * Self.textsLimit)
        entryStorage = .allocate(capacity: entries)
        byteStorage = .allocate(byteCount: byteLimit, alignment: 16)
    }

    /// Entries that it holds.
    @inlinable package var count: Int { used.pointee.entries }

    deinit {
        used.deallocate()
        entryStorage.deallocate()
        byteStorage.deallocate()
    }

    @inlinable package var isEmpty: Bool { count == 0 }

    /// Whether another entry with texts of any length fits.
    @inlinable
    package var hasRoom: Bool { count < entryLimit && used.pointee.bytes + Self.textsLimit <= byteLimit }

    @inlinable static var textsLimit: Int { 3 * textLimit + CarriedFields.bytesMax }

    @inlinable
    package var entries: UnsafeBufferPointer<OutcomeEntry> { UnsafeBufferPointer(start: entryStorage, count: count) }

    @inlinable
    package func token(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: byteStorage + Int(entry.tokenOffset), count: Int(entry.tokenLength))
    }

    /// Only where the entry has one.
    @inlinable
    package func ownID(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: byteStorage + Int(entry.tokenOffset) - MessageID.length, count: MessageID.length)
    }

    @inlinable
    package func reason(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: byteStorage + Int(entry.reasonOffset), count: Int(entry.reasonLength))
    }

    /// See `CarriedFields`.
    @inlinable
    package func carried(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: byteStorage + Int(entry.reasonOffset) + Int(entry.reasonLength), count: Int(entry.carriedLength))
    }

    /// Adds to what is carried of the last entry. Only right after it was appended.
    package func carry(_ fields: UnsafeRawBufferPointer) {
        precondition(count > 0)
        let entry = entryStorage + (count - 1)
        guard let base = fields.baseAddress, Int(entry.pointee.carriedLength) + fields.count <= CarriedFields.bytesMax
        else { return }
        (byteStorage + used.pointee.bytes).copyMemory(from: base, byteCount: fields.count)
        used.pointee.bytes += fields.count
        entry.pointee.carriedLength += UInt16(fields.count)
    }

    /// Adds one text to it.
    package func carry(text: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(byteCount: 1 + CarriedFields.textMax, alignment: 1) { room in
            let length = CarriedFields.write(text, to: room.baseAddress!)
            carry(UnsafeRawBufferPointer(rebasing: room[..<length]))
        }
    }

    /// Only while `hasRoom`; traps otherwise.
    ///
    /// - Parameter isHex: the token was checked, and is written in lower case.
    @inlinable
    package func append(
        row: UInt64, outcome: Outcome, status: UInt16, attempts: UInt16, timestamp: UInt64,
        token: UnsafeRawBufferPointer, isHex: Bool = false, reason: UnsafeRawBufferPointer,
        ownID: UnsafeRawPointer? = nil
    ) {
        precondition(hasRoom)
        if let ownID { _ = keep(UnsafeRawBufferPointer(start: ownID, count: MessageID.length)) }
        let entry = OutcomeEntry(
            row: row, timestamp: timestamp, token: keep(token), reason: keep(reason), status: status,
            attempts: attempts,
            outcome: outcome, hasOwnID: ownID != nil, isHex: isHex)
        (entryStorage + count).initialize(to: entry)
        used.pointee.entries += 1
    }

    @inlinable @inline(__always)
    func keep(_ text: UnsafeRawBufferPointer) -> (offset: UInt32, length: UInt16) {
        let offset = used.pointee.bytes
        let length = Self.cut(text, to: Self.textLimit)
        if length > 0 { (byteStorage + offset).copyMemory(from: text.baseAddress!, byteCount: length) }
        used.pointee.bytes = offset &+ length
        // Both fit: a batch is far smaller than 4 GiB, and a text is cut.
        return (UInt32(truncatingIfNeeded: offset), UInt16(truncatingIfNeeded: length))
    }

    /// The length to keep: never in the middle of a UTF-8 sequence.
    @inlinable static func cut(_ text: UnsafeRawBufferPointer, to limit: Int) -> Int {
        guard text.count > limit else { return text.count }
        var length = limit
        while length > 0 && text[length] & 0xC0 == 0x80 { length -= 1 }
        return length
    }

    package func removeAll() {
        used.pointee = (0, 0)
    }
}
