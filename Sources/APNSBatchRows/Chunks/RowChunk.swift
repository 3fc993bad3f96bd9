/// A piece of the input that begins and ends with a record: some 256 KiB, ready to be parsed by any thread.
///
/// Made once for each buffer of the pool and used again and again. Whoever holds a chunk owns its bytes, one thread at
/// a time, until `recycle()`.
package final class CSVChunk: @unchecked Sendable {
    /// 1-based number of the chunk's first data row.
    package internal(set) var firstRow: UInt64 = 0

    /// 1-based physical line of the chunk's first byte.
    package internal(set) var firstLine: UInt64 = 0

    /// How many rows the chunk has, bad ones included; at least 1.
    package internal(set) var rowCount = 0

    /// Where the chunk begins, in bytes from where reading began.
    package internal(set) var byteOffset: UInt64 = 0

    /// How many bytes the chunk has: its records and blank lines.
    package internal(set) var byteCount = 0

    let bytes: UnsafeMutablePointer<UInt8>
    let ends: UnsafeMutablePointer<RecordEnd>

    /// Which of the reader's buffers it is, from 0.
    package let index: Int
    private let pool: ChunkPool

    init(index: Int, pool: ChunkPool, limits: CSVLimits) {
        self.index = index
        self.pool = pool
        let capacity = limits.bufferBytes + ByteBlock.slack
        bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
            .bindMemory(to: UInt8.self, capacity: capacity)
        ends = .allocate(capacity: limits.chunkRecords)
    }

    deinit {
        bytes.deallocate()
        ends.deallocate()
    }

    /// The chunk's bytes, valid until it is recycled. Fields that a cursor has passed are unescaped in place.
    package var contents: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes, count: byteCount)
    }

    /// Gives the buffer back to its reader. From any thread, once; nothing of the chunk may be used afterwards.
    package func recycle() {
        pool.release(index)
    }
}
