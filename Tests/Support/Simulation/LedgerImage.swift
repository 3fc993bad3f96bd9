/// The contents of a ledger, read by its specification and not by the product's own code.
struct LedgerImage {
    struct Row: Equatable {
        var outcome: UInt8
        var status: UInt16
        var attempts: UInt16
        /// The row was sent again when it may have arrived before.
        var isResent = false
    }

    /// First row and rows, by first row.
    private(set) var ranges: [UInt64: Int] = [:]
    private(set) var rows: [UInt64: Row] = [:]
    /// First row and how many rows from there may have been sent, by what the ledger says itself.
    private(set) var handed: [UInt64: UInt64] = [:]
    private(set) var sessions = 0
    /// Rows that were reopened, and how often that was done.
    private(set) var reopened: Set<UInt64> = []
    private(set) var reopenings = 0
    /// The last session ended in order.
    private(set) var isEnded = false
    /// Something that cannot be.
    private(set) var faults: [String] = []
    private var starts: [UInt64] = []

    init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while let length = take(UnsafeRawBufferPointer(rebasing: bytes[offset...])) { offset += length }
        }
        starts = ranges.keys.sorted()
    }

    /// First row of the range that a row is in.
    func range(of row: UInt64) -> UInt64? {
        guard let first = starts.last(where: { $0 <= row }), row < first + UInt64(ranges[first] ?? 0) else {
            return nil
        }
        return first
    }

    /// It may have been sent, by what the ledger says itself.
    func isHanded(_ row: UInt64) -> Bool {
        guard let first = range(of: row), let rows = handed[first] else { return false }
        return row - first < rows
    }

    /// The first record, if it is whole: its length.
    private mutating func take(_ bytes: UnsafeRawBufferPointer) -> Int? {
        func word(_ at: Int) -> Int {
            Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
        }
        guard bytes.count >= 24, word(0) & ~0xFF == 0x4C41_0100 else { return nil }
        let (fixed, texts) = (word(4), word(8))
        let length = (24 + fixed + texts + 7) & ~7
        // Nothing that happened to rows hangs on the text of figures: where the power took it, the record stays.
        let isFigures = word(0) & 0xFF == 9
        guard length <= bytes.count, word(20) == 0,
            word(16) == Checksum.of(bytes[0..<16], then: bytes[24..<24 + fixed]),
            isFigures || word(12) == Checksum.of(bytes[24 + fixed..<24 + fixed + texts])
        else { return nil }
        take(kind: word(0) & 0xFF, UnsafeRawBufferPointer(rebasing: bytes[24..<24 + fixed]))
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
                // Of an invalid row it is the code of a rule.
                let (outcome, status) = (UInt8(first >> 56), UInt16(truncatingIfNeeded: second))
                let isInvalid = outcome == 2
                if isInvalid, status == 0 { faults.append("row \(first & (1 << 40 - 1)) breaks no rule") }
                let row = Row(
                    outcome: outcome, status: isInvalid ? 0 : status,
                    attempts: UInt16(truncatingIfNeeded: first >> 40) & 0x7FFF, isResent: first >> 55 & 1 != 0)
                let number = first & (1 << 40 - 1)
                if rows.updateValue(row, forKey: number) != nil { faults.append("row \(number) has two outcomes") }
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

/// CRC-32C, a byte at a time.
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
