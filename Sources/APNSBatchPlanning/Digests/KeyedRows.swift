/// Room for a fixed number of keyed rows, which is sorted in place.
///
/// It takes 64 bytes for each row: one half holds the rows, and sorting moves them to the other. Pages cost nothing until
/// they are first used.
@safe struct KeyedRows: ~Copyable {
    let capacity: Int
    private(set) var count = 0
    /// Both owned.
    private var rows: UnsafeMutablePointer<KeyedRow>
    private var others: UnsafeMutablePointer<KeyedRow>
    /// Where each part begins in the last sorting by parts, and the end of the last part.
    private var starts = [Int](repeating: 0, count: (1 << partBitsMost) + 1)

    /// A part of a sorted half has some two rows.
    private static let partBitsMost = 16
    /// Up to this number of rows, moving each to its place costs less than a general sort.
    private static let fewRows = 24

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
        unsafe rows = .allocate(capacity: capacity)
        unsafe others = .allocate(capacity: capacity)
    }

    deinit {
        unsafe rows.deallocate()
        unsafe others.deallocate()
    }

    var room: Int { capacity - count }

    subscript(index: Int) -> KeyedRow {
        precondition(index >= 0 && index < count)
        return unsafe rows[index]
    }

    mutating func removeAll() { count = 0 }

    /// Appends rows, which must have room.
    mutating func append(_ more: Span<KeyedRow>) {
        precondition(more.count <= room)
        for index in more.indices { unsafe rows[count + index] = more[index] }
        count += more.count
    }

    /// Appends a row, which must have room.
    mutating func append(_ row: KeyedRow) {
        precondition(room > 0)
        unsafe rows[count] = row
        count += 1
    }

    /// Calls `fill` with room for `wanted` rows behind the last one; it returns how many it has written there.
    mutating func append<Failure: Error>(
        _ wanted: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        precondition(wanted <= room)
        let room = unsafe UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(start: rows + count, count: wanted))
        let written = unsafe try fill(room)
        precondition(written >= 0 && written <= wanted)
        count += written
    }

    /// The bytes of some rows, valid until the rows change.
    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe UnsafeRawBufferPointer(UnsafeBufferPointer(start: rows + range.lowerBound, count: range.count))
    }

    /// Puts the rows in the order of some bits of their digests, without changing the order of those with the same bits.
    ///
    /// - Parameters:
    ///   - skip: The number of first bits that are the same in all rows, or do not matter.
    ///   - bits: The number of bits, from 1 to 16.
    /// - Returns: Where each part begins, and the end of the last one.
    @discardableResult
    mutating func part(skipping skip: Int, bits: Int) -> ArraySlice<Int> {
        precondition(bits >= 1 && bits <= Self.partBitsMost && skip + bits < UInt64.bitWidth)
        let parts = 1 << bits
        for part in 0...parts { starts[part] = 0 }
        for index in 0..<count { unsafe starts[Self.part(rows[index], skip, bits) + 1] += 1 }
        for part in 0..<parts { starts[part + 1] += starts[part] }
        for index in 0..<count {
            let row = unsafe rows[index]
            let part = Self.part(row, skip, bits)
            unsafe others[starts[part]] = row
            starts[part] += 1
        }
        // Each start has moved to the next one.
        for part in (0..<parts).reversed() { starts[part + 1] = starts[part] }
        starts[0] = 0
        unsafe swap(&rows, &others)
        return starts[0...parts]
    }

    @inline(__always)
    private static func part(_ row: KeyedRow, _ skip: Int, _ bits: Int) -> Int {
        Int(truncatingIfNeeded: (row.high &<< UInt64(skip)) &>> UInt64(64 &- bits))
    }

    /// Sorts the rows by digest, and by number among those with the same one.
    ///
    /// - Parameter skip: The number of first bits of the digests that are the same in all rows.
    mutating func sort(skipping skip: Int) {
        let bits = min(Self.partBitsMost, max(1, Int.bitWidth - count.leadingZeroBitCount - 1))
        let parts = part(skipping: skip, bits: bits)
        var start = 0
        for end in parts.dropFirst() where end > start {
            sort(start..<end)
            start = end
        }
    }

    private mutating func sort(_ part: Range<Int>) {
        guard part.count > Self.fewRows else { return insert(part) }
        var rows = unsafe UnsafeMutableBufferPointer(start: rows + part.lowerBound, count: part.count)
        unsafe rows.sort { $0 < $1 }
    }

    private mutating func insert(_ part: Range<Int>) {
        for index in part.dropFirst() {
            let row = unsafe rows[index]
            var place = index
            while unsafe place > part.lowerBound && row < rows[place - 1] {
                unsafe rows[place] = rows[place - 1]
                place -= 1
            }
            unsafe rows[place] = row
        }
    }
}
