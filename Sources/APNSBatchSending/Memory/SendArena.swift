/// The memory of a lane for its requests: blocks that are filled from the front and reused when all their records are done.
///
/// A record is written into space reserved at the end of the current block and then committed with its true length, so
/// nothing is measured before and nothing is copied afterwards. The number of blocks is fixed. While all of them hold
/// records that wait for answers, `reserve` returns nil and the lane takes no further row; this bounds the memory of
/// requests in flight.
package struct SendArena: ~Copyable {
    /// The size of a block in bytes. It is much larger than the largest record, so that little is wasted at the end of a
    /// block.
    static let blockBytes = 64 * 1024

    @safe struct Block {
        let base = UnsafeMutableRawPointer.allocate(byteCount: SendArena.blockBytes, alignment: 64)
        var used = 0
        /// The number of its records that wait for their outcomes.
        var live = 0
        var nextFree: Int?
    }

    private var blocks: Slab<Block>
    private var firstFree: Int?
    private var current: Int?

    package init(blocks count: Int) { blocks = Slab(capacity: count) }

    deinit {
        for index in blocks.indices { unsafe blocks[index].base.deallocate() }
    }

    /// Reserves a record with room for `length` bytes (at most `blockBytes`). Returns nil while every block is in use.
    @inline(__always)
    mutating func reserve(_ length: Int) -> RowRecord? {
        precondition(length <= Self.blockBytes)
        if let current {
            let block = unsafe blocks.address(of: current)
            let used = unsafe block.pointee.used
            if used + length <= Self.blockBytes {
                return unsafe RowRecord(at: block.pointee.base + used, capacity: length, block: current)
            }
        }
        return reserveInNext(length)
    }

    @inline(never)
    private mutating func reserveInNext(_ length: Int) -> RowRecord? {
        takeBlock().map { unsafe RowRecord(at: blocks[$0].base, capacity: length, block: $0) }
    }

    /// Keeps the record that was reserved last, with its length so far.
    @inline(__always)
    mutating func commit(_ record: RowRecord) {
        guard let current, record.block == current else { preconditionFailure("the record that was reserved last") }
        let block = unsafe blocks.address(of: current)
        assert(unsafe block.pointee.used + record.length <= Self.blockBytes, "a record ends in its block")
        // Records start at multiples of 8 bytes, which keeps vector writes off the ends of each other's cache lines.
        unsafe block.pointee.used = unsafe min(Self.blockBytes, (block.pointee.used + record.length + 7) & ~7)
        unsafe block.pointee.live += 1
    }

    /// Frees a record that is done, whether it is in a block or was moved out of one.
    @inline(__always)
    mutating func release(_ record: RowRecord) {
        guard let number = record.block else { return record.deallocate() }
        let block = unsafe blocks.address(of: number)
        assert(unsafe block.pointee.live > 0, "a record of a block is released once")
        unsafe block.pointee.live -= 1
        if unsafe block.pointee.live == 0 { empty(number) }
    }

    @inline(never)
    private mutating func empty(_ block: Int) {
        blocks[block].used = 0
        if block != current { free(block) }
    }

    /// Moves a record to an allocation of its own, so that it keeps no block in use while its row waits.
    mutating func moveOut(_ record: inout RowRecord) {
        guard record.block != nil else { return }
        let own = record.copied()
        assert(own.length == record.length && own.block == nil, "a record that waits is outside of the blocks")
        release(record)
        record = own
    }

    private mutating func takeBlock() -> Int? {
        let taken: Int
        if let free = firstFree {
            taken = free
            firstFree = blocks[free].nextFree
        } else {
            guard blocks.count < blocks.capacity else { return nil }
            taken = blocks.count
            blocks.append(Block())
        }
        // If all records of the current block ended while it was filled, it is free again.
        if let current, blocks[current].live == 0 {
            blocks[current].used = 0
            free(current)
        }
        assert(blocks[taken].used == 0 && blocks[taken].live == 0, "a block that is taken holds no records")
        assert(taken != current, "the current block is not free")
        current = taken
        return taken
    }

    private mutating func free(_ block: Int) {
        blocks[block].nextFree = firstFree
        firstFree = block
    }
}
