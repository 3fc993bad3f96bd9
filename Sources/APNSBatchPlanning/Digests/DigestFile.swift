import APNSBatchBasics

/// The file to which rows go that have no room in memory. Only this process reads it, and it has no name any more.
///
/// It is a sequence of blocks of rows of one partition, in the order of writing, with the byte order of the machine:
///
///     offset of the partition's block before (8), number of rows (4), CRC-32C of the rows (4) │ rows (32 each)
///
/// and of sorted runs, which are rows only.
struct DigestFile: ~Copyable {
    /// Rows that lie one behind the other.
    struct Run {
        var offset: UInt64
        var rows: Int
    }

    private let storage: any AppendFile
    /// The offset of the last block of each partition; ``none`` if it has none.
    private var last: [UInt64]
    /// The number of rows of each partition.
    private(set) var counts: [Int]

    private static let none = UInt64.max
    private static let headBytes = 16

    init(_ storage: any AppendFile, partitions: Int) {
        self.storage = storage
        last = Array(repeating: Self.none, count: partitions)
        counts = Array(repeating: 0, count: partitions)
    }

    /// Appends a block to a partition.
    mutating func append(_ rows: UnsafeRawBufferPointer, to partition: Int) throws(StorageError) {
        let count = rows.count / KeyedRow.bytes
        guard count > 0 else { return }
        let offset = storage.length
        let head = Head(before: last[partition], rows: UInt32(count), sum: unsafe CRC32C.of(rows))
        try unsafe withUnsafeBytes(of: head) { (head) throws(StorageError) in unsafe try storage.append(head) }
        unsafe try storage.append(rows)
        last[partition] = offset
        counts[partition] += count
    }

    /// Appends rows to a sorted run, which is the last one in the file; nil for a new one. Returns the run.
    mutating func append(run rows: UnsafeRawBufferPointer, to run: Run?) throws(StorageError) -> Run {
        var run = run ?? Run(offset: storage.length, rows: 0)
        run.rows += rows.count / KeyedRow.bytes
        unsafe try storage.append(rows)
        return run
    }

    /// The blocks of a partition, the last one first.
    func blocks(of partition: Int) -> Blocks { Blocks(next: last[partition]) }

    struct Blocks {
        fileprivate var next: UInt64
    }

    struct Block {
        fileprivate var rows: UInt64
        fileprivate var sum: UInt32
        var count: Int
    }

    /// Returns the next block; nil if there is none any more.
    func next(_ blocks: inout Blocks) throws(StorageError) -> Block? {
        guard blocks.next != Self.none else { return nil }
        var head = Head(before: 0, rows: 0, sum: 0)
        let offset = blocks.next
        let count = try unsafe withUnsafeMutableBytes(of: &head) { (head) throws(StorageError) in
            unsafe try storage.read(at: offset, into: head)
        }
        // A block is followed back, so that damage cannot lead around in a circle.
        guard count == Self.headBytes, head.before == Self.none || head.before < offset, head.rows > 0 else {
            throw Self.changed
        }
        blocks.next = head.before
        return Block(rows: offset + UInt64(Self.headBytes), sum: head.sum, count: Int(head.rows))
    }

    /// Reads the rows of a block, and returns their number.
    func read(_ block: Block, into room: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        try unsafe read(block.rows, into: room)
        guard unsafe CRC32C.of(UnsafeRawBufferPointer(room)) == block.sum else { throw Self.changed }
        return block.count
    }

    /// Reads as many rows of a run as there is room for, and takes them from it. Returns their number.
    func read(_ run: inout Run, into room: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        let rows = min(run.rows, room.count / KeyedRow.bytes)
        unsafe try read(run.offset, into: UnsafeMutableRawBufferPointer(rebasing: room[..<(rows * KeyedRow.bytes)]))
        run.offset += UInt64(rows * KeyedRow.bytes)
        run.rows -= rows
        return rows
    }

    private func read(_ offset: UInt64, into room: UnsafeMutableRawBufferPointer) throws(StorageError) {
        guard unsafe try storage.read(at: offset, into: room) == room.count else { throw Self.changed }
    }

    private struct Head {
        var before: UInt64
        var rows: UInt32
        var sum: UInt32
    }

    static let changed = StorageError("read", "digests of rows", code: StorageError.changed)
}
