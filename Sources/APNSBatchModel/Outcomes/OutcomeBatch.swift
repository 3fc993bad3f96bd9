import APNSBatchNotification

/// One row's end, in fixed layout; its token and reason stand in the batch's bytes.
package struct OutcomeEntry {
    package var row: UInt64
    /// Milliseconds since the epoch, of a 410, or `noTimestamp`.
    package var timestamp: UInt64
    var tokenOffset: UInt32
    var reasonOffset: UInt32
    var tokenLength: UInt16
    package var reasonLength: UInt16
    /// HTTP status; of an invalid row the code of the rule that it breaks; 0 when APNs did not answer.
    package var status: UInt16
    /// Of all sessions; see `Attempts`.
    package var attempts: UInt16
    package var outcome: Outcome
    /// Of the texts that go into the line as they are; they stand behind the reason.
    package var carriedLength: UInt16 = 0
    /// The row brought its own apns-id, which stands before its token.
    package var hasOwnID = false
    /// The token is known to be lower-case hexadecimal digits.
    package var isHex = false

    package static let noTimestamp = UInt64.max
}

/// Outcomes on their way from a lane to the writer: some thousand entries and the bytes they refer to.
///
/// Owned by one thread at a time: the lane fills it, the queue hands it over, the writer empties and returns it.
package final class OutcomeBatch: @unchecked Sendable {
    /// Entries that a batch holds unless it is made for fewer.
    package static let entryCapacity = 2048
    package static let byteCapacity = 256 * 1024
    /// Longer texts are cut; a device token or a reason never is.
    package static let textLimit = 1024

    private let entryStorage: UnsafeMutablePointer<OutcomeEntry>
    private let entryLimit: Int
    private let byteStorage: UnsafeMutableRawPointer
    private let byteLimit: Int
    // Private, so that the optimizer sees every access and leaves out the checks of exclusive access.
    private var used = 0
    private var bytesUsed = 0

    package init(entries: Int = entryCapacity) {
        entryLimit = entries
        byteLimit = min(Self.byteCapacity, entries * Self.textsLimit)
        entryStorage = .allocate(capacity: entries)
        byteStorage = .allocate(byteCount: byteLimit, alignment: 16)
    }

    /// Entries that it holds.
    package var count: Int { used }

    deinit {
        entryStorage.deallocate()
        byteStorage.deallocate()
    }

    package var isEmpty: Bool { used == 0 }

    /// Whether another entry with texts of any length fits.
    package var hasRoom: Bool { used < entryLimit && bytesUsed + Self.textsLimit <= byteLimit }

    private static let textsLimit = 3 * textLimit + CarriedFields.bytesMax

    package var entries: UnsafeBufferPointer<OutcomeEntry> { UnsafeBufferPointer(start: entryStorage, count: used) }

    package func token(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: byteStorage + Int(entry.tokenOffset), count: Int(entry.tokenLength))
    }

    /// Only where the entry has one.
    package func ownID(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: byteStorage + Int(entry.tokenOffset) - MessageID.length, count: MessageID.length)
    }

    package func reason(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: byteStorage + Int(entry.reasonOffset), count: Int(entry.reasonLength))
    }

    /// See `CarriedFields`.
    package func carried(of entry: OutcomeEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: byteStorage + Int(entry.reasonOffset) + Int(entry.reasonLength), count: Int(entry.carriedLength))
    }

    /// Adds to what is carried of the last entry. Only right after it was appended.
    package func carry(_ fields: UnsafeRawBufferPointer) {
        precondition(used > 0)
        let entry = entryStorage + (used - 1)
        guard let base = fields.baseAddress, Int(entry.pointee.carriedLength) + fields.count <= CarriedFields.bytesMax
        else { return }
        (byteStorage + bytesUsed).copyMemory(from: base, byteCount: fields.count)
        bytesUsed += fields.count
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
    package func append(
        row: UInt64, outcome: Outcome, status: UInt16, attempts: UInt16, timestamp: UInt64,
        token: UnsafeRawBufferPointer, isHex: Bool = false, reason: UnsafeRawBufferPointer,
        ownID: UnsafeRawPointer? = nil
    ) {
        precondition(hasRoom)
        if let ownID { _ = keep(UnsafeRawBufferPointer(start: ownID, count: MessageID.length)) }
        let (tokenOffset, tokenLength) = keep(token)
        let (reasonOffset, reasonLength) = keep(reason)
        (entryStorage + used).initialize(
            to: OutcomeEntry(
                row: row, timestamp: timestamp, tokenOffset: tokenOffset, reasonOffset: reasonOffset,
                tokenLength: tokenLength, reasonLength: reasonLength, status: status, attempts: attempts,
                outcome: outcome, hasOwnID: ownID != nil, isHex: isHex))
        used += 1
    }

    private func keep(_ text: UnsafeRawBufferPointer) -> (offset: UInt32, length: UInt16) {
        let offset = bytesUsed
        let length = Self.cut(text, to: Self.textLimit)
        if length > 0 { (byteStorage + offset).copyMemory(from: text.baseAddress!, byteCount: length) }
        bytesUsed += length
        return (UInt32(offset), UInt16(length))
    }

    /// The length to keep: never in the middle of a UTF-8 sequence.
    static func cut(_ text: UnsafeRawBufferPointer, to limit: Int) -> Int {
        guard text.count > limit else { return text.count }
        var length = limit
        while length > 0 && text[length] & 0xC0 == 0x80 { length -= 1 }
        return length
    }

    package func removeAll() {
        used = 0
        bytesUsed = 0
    }
}
