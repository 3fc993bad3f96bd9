import APNSBatchBasics
import Glibc

/// The combinations of header values that rows have had, each with a number in order of appearance. A look-up allocates
/// nothing, because it is done for every row that has such columns.
struct SeenValues {
    /// The values of a row; empty where it has none.
    typealias Values = (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer)

    private struct Key {
        var hash: UInt64
        var start: Int
        var lengths: (Int, Int, Int)
    }

    private var keys: [Key] = []
    private var bytes: [UInt8] = []
    /// Numbers by hash, with open addressing; -1 is free. There are twice as many slots as keys, so that runs stay short.
    private var slots: [Int32]
    private let limit: Int
    /// The number that was found last; most rows have the values of the row before.
    private var last = -1

    /// - Parameter limit: The largest number of combinations, a power of two.
    init(limit: Int) {
        precondition(limit > 0 && limit & (limit - 1) == 0)
        self.limit = limit
        slots = Array(repeating: -1, count: limit * 2)
    }

    var count: Int { keys.count }
    var isFull: Bool { keys.count == limit }

    /// Returns the number of these values, or nil if they were not added.
    mutating func find(_ values: Values) -> Int? {
        if last >= 0, unsafe matches(last, values) { return last }
        let number = unsafe Int(slots[slot(of: values, hash: Self.hash(values))])
        if number >= 0 { last = number }
        return number < 0 ? nil : number
    }

    /// Adds values that are not there yet. Traps when full.
    mutating func add(_ values: Values) {
        precondition(!isFull)
        let hash = unsafe Self.hash(values)
        unsafe slots[slot(of: values, hash: hash)] = Int32(keys.count)
        unsafe keys.append(
            Key(hash: hash, start: bytes.count, lengths: (values.0.count, values.1.count, values.2.count)))
        unsafe bytes.append(contentsOf: values.0)
        unsafe bytes.append(contentsOf: values.1)
        unsafe bytes.append(contentsOf: values.2)
    }

    /// Returns the slot of the values, or the free slot where they belong.
    private func slot(of values: Values, hash: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0, unsafe !matches(Int(slots[slot]), values, hash) {
            slot = (slot &+ 1) & (slots.count - 1)
        }
        return slot
    }

    private func matches(_ number: Int, _ values: Values, _ hash: UInt64) -> Bool {
        unsafe keys[number].hash == hash && matches(number, values)
    }

    private func matches(_ number: Int, _ values: Values) -> Bool {
        let key = keys[number]
        guard unsafe key.lengths == (values.0.count, values.1.count, values.2.count) else { return false }
        return unsafe bytes.withUnsafeBytes { bytes in
            let known = unsafe UnsafeRawBufferPointer(rebasing: bytes[key.start...])
            return unsafe Self.begins(known, 0, with: values.0)
                && Self.begins(known, values.0.count, with: values.1)
                && Self.begins(known, values.0.count + values.1.count, with: values.2)
        }
    }

    private static func begins(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int, with value: UnsafeRawBufferPointer
    ) -> Bool {
        guard let wanted = value.baseAddress, let known = bytes.baseAddress, value.count > 0 else {
            return unsafe value.isEmpty
        }
        return unsafe memcmp(known + offset, wanted, value.count) == 0
    }

    /// Returns the FNV-1a hash of the values, each followed by its length.
    private static func hash(_ values: Values) -> UInt64 {
        unsafe hash(values.2, hash(values.1, hash(values.0, FNV1a.basis)))
    }

    private static func hash(_ value: UnsafeRawBufferPointer, _ start: UInt64) -> UInt64 {
        let hash = unsafe FNV1a.hash(value, from: start)
        let mixed = (hash ^ UInt64(value.count)) &* FNV1a.prime
        return mixed ^ mixed >> 32
    }
}
