/// A key as stored for lookup.
struct KeyEntry {
    /// The first eight bytes, eight in between, and the last eight, as far as the key has them.
    let first: UInt64
    let middle: UInt64
    let last: UInt64
    let count: Int
    let form: PayloadKeyForm
    /// Whether its value may be an array of strings, and whether it may be a string or an object, as for the alert and the
    /// sound.
    let isTexts: Bool
    let isTextOrObject: Bool
    let isEvent: Bool
    /// Whether only Live Activities have it.
    let isOfActivity: Bool
    let fact: PayloadFacts
}

/// A hash table of the keys of one parent, with one multiplication per lookup and keys compared as words. It is created
/// once and never freed, so that sharing it needs no reference counting, which would cost time for every key of every row.
@safe struct KeyTable: @unchecked Sendable {
    private static let slotBits = 6
    private static let none: UInt8 = 0xFF

    let entries: UnsafeMutablePointer<KeyEntry>
    private let slots: UnsafeMutablePointer<UInt8>
    private let factor: UInt64

    static let aps = KeyTable(.aps)
    static let alert = KeyTable(.alert)
    static let sound = KeyTable(.sound)

    private init(_ parent: PayloadKey.Parent) {
        let keys = PayloadKey.all(in: parent)
        unsafe entries = .allocate(capacity: keys.count)
        for (index, key) in keys.enumerated() { unsafe (entries + index).initialize(to: Self.entry(key)) }
        unsafe slots = .allocate(capacity: 1 << Self.slotBits)
        // Finds an odd factor without collisions. Keys differ in first word or length, so a few attempts suffice.
        var factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        while unsafe !Self.fill(slots, entries, keys.count, factor) { factor = factor &* 0x5851_F42D_4C95_7F2D | 1 }
        self.factor = factor
    }

    private static func entry(_ key: PayloadKey) -> KeyEntry {
        let name = Array(key.name.utf8)
        return unsafe name.withUnsafeBufferPointer { name in
            let start = unsafe name.baseAddress.unsafelyUnwrapped
            let words = unsafe Words(start, name.count, end: start + name.count)
            return KeyEntry(
                first: words.first, middle: words.middle, last: words.last, count: name.count, form: key.form,
                isTexts: key.form == .texts || key.form == .textsOrNull, isTextOrObject: key.form == .textOrObject,
                isEvent: key.form == .event, isOfActivity: key.pushType == .liveactivity, fact: PayloadFacts(key))
        }
    }

    private static func fill(
        _ slots: UnsafeMutablePointer<UInt8>, _ entries: UnsafePointer<KeyEntry>, _ count: Int, _ factor: UInt64
    ) -> Bool {
        unsafe slots.update(repeating: none, count: 1 << slotBits)
        for index in 0..<count {
            let slot = unsafe slot(entries[index].first, entries[index].count, factor)
            if unsafe slots[slot] != none { return false }
            unsafe slots[slot] = UInt8(index)
        }
        return true
    }

    @inline(__always)
    private static func slot(_ first: UInt64, _ count: Int, _ factor: UInt64) -> Int {
        Int(truncatingIfNeeded: ((first &+ UInt64(truncatingIfNeeded: count)) &* factor) >> UInt64(64 - slotBits))
    }

    /// Returns the index of a key in ``entries``; −1 for an unknown key.
    ///
    /// - Parameter end: no byte at or after it is read.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer, end: UnsafePointer<UInt8>) -> Int {
        guard let start = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self), unsafe !key.isEmpty else {
            return -1
        }
        let words = unsafe Words(start, key.count, end: end)
        let index = unsafe slots[Self.slot(words.first, key.count, factor)]
        if index == Self.none { return -1 }
        let entry = unsafe entries + Int(index)
        guard unsafe entry.pointee.count == key.count, unsafe entry.pointee.first == words.first,
            unsafe entry.pointee.middle == words.middle, unsafe entry.pointee.last == words.last
        else { return -1 }
        return Int(index)
    }

    /// A name of up to 24 bytes as words. Longer names differ from every key by their length.
    private struct Words {
        let first: UInt64
        let middle: UInt64
        let last: UInt64

        @inline(__always)
        init(_ start: UnsafePointer<UInt8>, _ count: Int, end: UnsafePointer<UInt8>) {
            if count >= 8 {
                first = unsafe start.word()
                last = unsafe (start + (count &- 8)).word()
                middle = unsafe count >= 16 ? (start + 8).word() : 0
            } else {
                first = unsafe Self.short(start, count, end: end)
                middle = 0
                last = 0
            }
        }

        @inline(__always)
        private static func short(
            _ start: UnsafePointer<UInt8>, _ count: Int, end: UnsafePointer<UInt8>
        ) -> UInt64 {
            if unsafe end - start >= 8 {
                return unsafe UInt64(littleEndian: start.word()) & ((1 << UInt64(count &* 8)) &- 1)
            }
            var word: UInt64 = 0
            for index in 0..<count { unsafe word |= UInt64(start[index]) << UInt64(index &* 8) }
            return word
        }
    }
}
