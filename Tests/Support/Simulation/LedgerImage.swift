/// The contents of a ledger, read according to its specification and without the code under test.
struct LedgerImage {
    struct Row: Equatable {
        var outcome: UInt8
        var status: UInt16
        var attempts: UInt16
        /// Whether the row was sent again after it may have arrived.
        var isResent = false
    }

    /// The number of rows of each range, by first row.
    private(set) var ranges: [UInt64: Int] = [:]
    private(set) var rows: [UInt64: Row] = [:]
    /// The number of rows from the beginning of each range that may have been sent according to the ledger, by first
    /// row.
    private(set) var handed: [UInt64: UInt64] = [:]
    private(set) var sessions = 0
    /// The rows that were reopened. The number of times that rows were reopened is in `reopenings`.
    private(set) var reopened: Set<UInt64> = []
    private(set) var reopenings = 0
    /// Whether the last session ended in order.
    private(set) var isEnded = false
    /// Contents that must not occur.
    private(set) var faults: [String] = []
    /// The requests for rows without an outcome, as sessions that ended in order have noted them.
    private(set) var tried: [UInt64: UInt16] = [:]
    private var starts: [UInt64] = []

    init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while let length = take(UnsafeRawBufferPointer(rebasing: bytes[offset...])) { offset += length }
        }
        starts = ranges.keys.sorted()
    }

    /// Returns the first row of the range that contains a row.
    func range(of row: UInt64) -> UInt64? {
        guard let first = starts.last(where: { $0 <= row }), row < first + UInt64(ranges[first] ?? 0) else {
            return nil
        }
        return first
    }

    /// Returns whether a row may have been sent according to the ledger.
    func isHanded(_ row: UInt64) -> Bool {
        guard let first = range(of: row), let rows = handed[first] else { return false }
        return row - first < rows
    }

    /// Reads the first record and returns its length, or nil if it is incomplete or damaged.
    private mutating func take(_ bytes: UnsafeRawBufferPointer) -> Int? {
        func word(_ at: Int) -> Int {
            Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
        }
        guard bytes.count >= 24, word(0) & ~0xFF == 0x4C41_0100 else { return nil }
        let (fixed, texts) = (word(4), word(8))
        let length = (24 + fixed + texts + 7) & ~7
        // The texts of figures, of changes and of what was handed over are not needed for any row. If the power loss destroyed one,
        // the record is still valid.
        let isOptional = [6, 9, 10].contains(word(0) & 0xFF)
        guard length <= bytes.count, word(20) == 0,
            word(16) == Checksum.of(bytes[0..<16], then: bytes[24..<24 + fixed])
        else { return nil }
        let isWhole = word(12) == Checksum.of(bytes[24 + fixed..<24 + fixed + texts])
        guard isWhole || isOptional else { return nil }
        take(kind: word(0) & 0xFF, UnsafeRawBufferPointer(rebasing: bytes[24..<24 + fixed]))
        if isWhole, word(0) & 0xFF == 6 {
            let first = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
            for at in stride(from: 24 + fixed, to: 24 + fixed + texts, by: 8) {
                tried[first + UInt64(word(at))] = UInt16(truncatingIfNeeded: word(at + 4))
            }
        }
        return length
    }

    private mutating func take(kind: Int, _ fixed: UnsafeRawBufferPointer) {
        func number(_ at: Int) -> UInt64 {
            UInt64(littleEndian: fixed.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        }
        switch kind {
        case 2: (sessions, isEnded) = (sessions + 1, false)
        case 3: ranges[number(0)] = Int(number(8) & 0xFFFF_FFFF)
        case 4:
            for index in 0..<Int(number(0)) {
                let (first, second) = (number(8 + 16 * index), number(16 + 16 * index))
                // For an invalid row, this is the code of a rule.
                let (outcome, status) = (UInt8(first >> 56), UInt16(truncatingIfNeeded: second))
                let isInvalid = outcome == 2
                if isInvalid, status == 0 { faults.append("row \(first & (1 << 40 - 1)) breaks no rule") }
                let row = Row(
                    outcome: outcome, status: isInvalid ? 0 : status,
                    attempts: UInt16(truncatingIfNeeded: first >> 40) & 0x7FFF, isResent: first >> 55 & 1 != 0)
                let number = first & (1 << 40 - 1)
                if rows.updateValue(row, forKey: number) != nil { faults.append("row \(number) has two outcomes") }
                if row.attempts < tried[number] ?? 0, !isInvalid {
                    faults.append("row \(number) lost attempts: \(row.attempts) after \(tried[number] ?? 0)")
                }
            }
        case 6: handed[number(0)] = max(handed[number(0)] ?? 0, number(8))
        case 7: isEnded = true
        case 8:
            reopenings += 1
            reopened.formUnion(rows.filter { $0.value.outcome == number(0) }.keys)
            rows = rows.filter { $0.value.outcome != number(0) }
        default: break
        }
    }
}

/// Computes CRC-32C one byte at a time.
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value >> 1 ^ (value & 1) * 0x82F6_3B78 }
    }

    static func of(_ bytes: Slice<UnsafeRawBufferPointer>, then more: Slice<UnsafeRawBufferPointer>? = nil) -> Int {
        table.withUnsafeBufferPointer { table in
            var sum = ~UInt32(0)
            for byte in bytes { sum = sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xFF)] }
            for byte in more ?? bytes[bytes.startIndex..<bytes.startIndex] {
                sum = sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xFF)]
            }
            return Int(~sum)
        }
    }
}
