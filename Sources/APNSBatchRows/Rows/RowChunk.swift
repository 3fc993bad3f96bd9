/// The place of a row in the input: what it takes to find it again.
package struct RowPosition: Sendable, Equatable {
    /// 1-based number among the data rows: header and blank lines do not count, bad rows do.
    package var row: UInt64
    /// 1-based physical line.
    package var line: UInt64
    /// Bytes from where reading began.
    package var offset: UInt64

    package init(row: UInt64, line: UInt64, offset: UInt64) {
        self.row = row
        self.line = line
        self.offset = offset
    }
}

/// A piece of the input that begins and ends with a record: some 256 KiB, ready to be parsed by any thread.
///
/// Made once for each buffer of the pool and used again and again. Whoever holds a chunk owns its bytes, one thread at
/// a time, until `recycle()`. That is a rule of the pool which the compiler cannot see, so its memory is unsafe.
@safe package final class RowChunk: @unchecked Sendable {
    /// Of its first byte and its first row.
    package internal(set) var start = RowPosition(row: 0, line: 0, offset: 0)

    /// How many rows the chunk has, bad ones included; at least 1.
    package internal(set) var rowCount = 0

    /// How many bytes the chunk has: its records and blank lines.
    package internal(set) var byteCount = 0

    let bytes: UnsafeMutablePointer<UInt8>
    let ends: UnsafeMutablePointer<RecordEnd>

    /// Which of the reader's buffers it is, from 0.
    package let index: Int
    private let pool: ChunkPool

    init(index: Int, pool: ChunkPool, limits: RowLimits) {
        self.index = index
        self.pool = pool
        let capacity = limits.bufferBytes + ByteBlock.slack
        unsafe bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
            .bindMemory(to: UInt8.self, capacity: capacity)
        unsafe ends = .allocate(capacity: limits.chunkRecords)
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe ends.deallocate()
    }

    /// The chunk's bytes, valid until it is recycled. Fields that a cursor has passed are unescaped in place.
    package var contents: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: bytes, count: byteCount)
    }

    /// A copy of the first of its bytes.
    func first(_ count: Int) -> [UInt8] { unsafe Array(UnsafeBufferPointer(start: bytes, count: count)) }

    /// Gives the buffer back to its reader. From any thread, once; nothing of the chunk may be used afterwards.
    package func recycle() { pool.release(index) }
}
