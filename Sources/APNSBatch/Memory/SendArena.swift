/// Where a lane writes requests: blocks that are filled from the front and used again once every record in them is done.
///
/// A record is written into space reserved at the end of the current block and then committed at its true length, so
/// nothing is measured first and nothing is copied afterwards. The number of blocks is fixed; when all of them hold
/// records that wait for answers, `reserve` gives nil and the lane takes no further row: the memory of a lane is bounded
/// by this and by nothing else.
struct SendArena: ~Copyable {
    /// Block sizes well above the largest record keep the waste at a block's end small.
    static let blockBytes = 64 * 1024

    private struct Block {
        var base: UnsafeMutableRawPointer?
        var used = 0
        /// Records in it that wait for their outcome.
        var live = 0
        var nextFree: Int32 = -1
    }

    private let blocks: UnsafeMutablePointer<Block>
    private let count: Int
    private var fresh = 0
    private var firstFree: Int32 = -1
    private(set) var current: Int32 = -1

    init(blocks count: Int) {
        self.count = count
        blocks = .allocate(capacity: count)
        blocks.initialize(repeating: Block(), count: count)
    }

    deinit {
        for index in 0..<count { blocks[index].base?.deallocate() }
        blocks.deallocate()
    }

    /// Room for `length` bytes (at most `blockBytes`), or nil while every block is in use.
    mutating func reserve(_ length: Int) -> UnsafeMutableRawPointer? {
        if current < 0 || blocks[Int(current)].used + length > Self.blockBytes {
            guard takeBlock() else { return nil }
        }
        let block = blocks[Int(current)]
        return block.base! + block.used
    }

    /// Keeps the first `length` bytes of what was reserved; gives the block to release later.
    mutating func commit(_ length: Int) -> Int32 {
        let index = Int(current)
        // Records start at multiples of eight, which keeps vector writes off each other's cache lines' ends.
        blocks[index].used = min(Self.blockBytes, (blocks[index].used + length + 7) & ~7)
        blocks[index].live += 1
        return current
    }

    /// A record of this block is done.
    mutating func release(_ block: Int32) {
        let index = Int(block)
        blocks[index].live -= 1
        guard blocks[index].live == 0 else { return }
        blocks[index].used = 0
        if block != current {
            blocks[index].nextFree = firstFree
            firstFree = block
        }
    }

    private mutating func takeBlock() -> Bool {
        if firstFree >= 0 {
            let taken = firstFree
            firstFree = blocks[Int(taken)].nextFree
            leaveCurrent()
            current = taken
            return true
        }
        guard fresh < count else { return false }
        blocks[fresh].base = .allocate(byteCount: Self.blockBytes, alignment: 64)
        leaveCurrent()
        current = Int32(fresh)
        fresh += 1
        return true
    }

    /// A current block whose records all ended while it was filled goes straight back.
    private mutating func leaveCurrent() {
        guard current >= 0, blocks[Int(current)].live == 0 else { return }
        blocks[Int(current)].used = 0
        blocks[Int(current)].nextFree = firstFree
        firstFree = current
    }
}
