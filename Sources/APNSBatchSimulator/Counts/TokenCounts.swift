import APNSBatchBasics
import Glibc

/// Counts per device token, for millions of tokens. A token of 32 bytes needs 64 to 80 bytes.
///
/// The bytes and counts of the tokens are stored in one block in order of first arrival, and found by a hash table with
/// open addressing. A slot of the table contains the upper half of the hash, which alone determines the slot. So the
/// table can grow without access to the block.
@safe struct TokenCounts: ~Copyable {
    /// The offset of a token's record in the block, in units of 4 bytes; 0 for none.
    typealias Place = UInt32

    private struct Slot {
        var tag: UInt32
        var place: Place
    }

    /// The counts of a token, which precede its bytes.
    private struct Record {
        var received: UInt32
        var accepted: UInt32
        var passed: UInt32
        var byteCount: UInt32
    }

    private var slots: UnsafeMutablePointer<Slot>
    /// The table has 2 to the power of this many slots.
    private var slotBits: UInt32
    private var block: UnsafeMutableRawPointer
    private var blockUsed: Int
    private var blockCapacity: Int
    /// The number of different tokens.
    private(set) var distinct = 0
    /// The number of tokens that were received more than once.
    private(set) var receivedAgain = 0

    /// The alignment of records, with which 32 bits can address 16 GiB.
    private static let unit = 4

    init() {
        slotBits = 12
        unsafe slots = .allocate(capacity: 1 << 12)
        unsafe slots.initialize(repeating: Slot(tag: 0, place: 0), count: 1 << 12)
        blockCapacity = 1 << 16
        unsafe block = .allocate(byteCount: blockCapacity, alignment: 16)
        blockUsed = Self.unit
    }

    deinit {
        unsafe slots.deallocate()
        unsafe free(block)
    }

    /// Counts a token as received once more, and returns its offset. Returns 0 if it is new and the block of 16 GiB is
    /// full.
    ///
    /// - Parameter digits: an even number of lower-case hexadecimal digits.
    mutating func receive(_ digits: Bytes) -> Place {
        let byteCount = digits.count / 2
        guard reserve(byteCount) else { return 0 }
        let header = MemoryLayout<Record>.size
        let fresh = unsafe block + blockUsed
        unsafe Hex.pack(digits, to: fresh + header)
        let tag = unsafe Self.tag(fresh + header, byteCount)
        var index = Int(tag >> (32 - slotBits))
        let last = 1 << Int(slotBits) - 1
        while unsafe slots[index].place != 0 {
            if unsafe slots[index].tag == tag, let place = unsafe match(slots[index].place, fresh + header, byteCount) {
                return again(place)
            }
            index = (index + 1) & last
        }
        unsafe fresh.storeBytes(
            of: Record(received: 1, accepted: 0, passed: 0, byteCount: UInt32(byteCount)), as: Record.self)
        let place = Place(blockUsed / Self.unit)
        unsafe slots[index] = Slot(tag: tag, place: place)
        blockUsed += (header + byteCount + Self.unit - 1) / Self.unit * Self.unit
        distinct += 1
        growTable()
        return place
    }

    /// Counts a request for the token that passed every check. Returns the number of earlier ones.
    mutating func pass(_ place: Place) -> UInt32 {
        guard place != 0 else { return 0 }
        let record = unsafe record(place)
        defer { unsafe record.pointee.passed &+= 1 }
        return unsafe record.pointee.passed
    }

    /// Counts a request for the token that was answered 200.
    mutating func accept(_ place: Place) {
        guard place != 0 else { return }
        unsafe record(place).pointee.accepted &+= 1
    }

    /// Calls `body` with the bytes and counts of each token, in order of first arrival.
    func forEach(_ body: (_ token: Bytes, _ received: UInt32, _ accepted: UInt32) -> Void) {
        var at = Self.unit
        while at < blockUsed {
            let record = unsafe (block + at).load(as: Record.self)
            let bytes = unsafe Bytes(start: block + at + MemoryLayout<Record>.size, count: Int(record.byteCount))
            unsafe body(bytes, record.received, record.accepted)
            at += (MemoryLayout<Record>.size + bytes.count + Self.unit - 1) / Self.unit * Self.unit
        }
    }

    private func record(_ place: Place) -> UnsafeMutablePointer<Record> {
        unsafe (block + Int(place) * Self.unit).assumingMemoryBound(to: Record.self)
    }

    private func match(_ place: Place, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Place? {
        let record = unsafe record(place)
        guard unsafe record.pointee.byteCount == UInt32(count),
            unsafe memcmp(UnsafeRawPointer(record) + MemoryLayout<Record>.size, bytes, count) == 0
        else { return nil }
        return place
    }

    private mutating func again(_ place: Place) -> Place {
        let record = unsafe record(place)
        if unsafe record.pointee.received == 1 {
            receivedAgain += 1
        }
        unsafe record.pointee.received &+= 1
        return place
    }

    /// Makes room for a record of this size. Returns false if the block has reached its maximum of 16 GiB.
    @inline(__always)
    private mutating func reserve(_ byteCount: Int) -> Bool {
        let needed = blockUsed + MemoryLayout<Record>.size + byteCount + Self.unit + 8
        return needed <= blockCapacity || growBlock(needed)
    }

    @inline(never)
    private mutating func growBlock(_ needed: Int) -> Bool {
        let capacity = max(blockCapacity * 2, needed * 2)
        guard needed < Int(Place.max) * Self.unit, let larger = unsafe realloc(block, capacity) else { return false }
        unsafe block = unsafe larger
        blockCapacity = capacity
        return true
    }

    /// Doubles the table when it is half full. The upper bits of the tag determine the slot. So the new order is nearly
    /// the old one, and memory is accessed in ascending order.
    @inline(__always)
    private mutating func growTable() {
        guard distinct * 2 > 1 << Int(slotBits), slotBits < 32 else { return }
        doubleTable()
    }

    @inline(never)
    private mutating func doubleTable() {
        let (old, oldCount) = unsafe (slots, 1 << Int(slotBits))
        slotBits += 1
        let count = 1 << Int(slotBits)
        unsafe slots = .allocate(capacity: count)
        unsafe slots.initialize(repeating: Slot(tag: 0, place: 0), count: count)
        for number in 0..<oldCount where unsafe old[number].place != 0 {
            let slot = unsafe old[number]
            var index = Int(slot.tag >> (32 - slotBits))
            while unsafe slots[index].place != 0 {
                index = (index + 1) & (count - 1)
            }
            unsafe slots[index] = slot
        }
        unsafe old.deallocate()
    }

    /// Hashes the bytes eight at a time by multiplication. Reads beyond the last byte stay within the slack of the
    /// block.
    private static func tag(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> UInt32 {
        var hash = UInt64(count) &* 0x9E37_79B9_7F4A_7C15
        var at = 0
        while at < count {
            var word = unsafe (bytes + at).loadUnaligned(as: UInt64.self).littleEndian
            if count - at < 8 {
                word &= (1 << UInt64((count - at) * 8)) - 1
            }
            let product = (hash ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
            hash = product.high ^ product.low &+ 0xE703_7ED1_A0B4_28DB
            at += 8
        }
        return UInt32(truncatingIfNeeded: (hash &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }
}
