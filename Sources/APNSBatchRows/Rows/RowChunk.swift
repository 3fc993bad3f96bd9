/// The position of a row in the input, from which it can be read again.
package struct RowPosition: Sendable, Equatable {
    /// The 1-based number of the row. Header and blank lines do not count, bad rows do.
    package var row: UInt64
    /// The 1-based physical line.
    package var line: UInt64
    /// The offset in bytes from the first byte that was read.
    package var offset: UInt64

    package init(row: UInt64, line: UInt64, offset: UInt64) {
        self.row = row
        self.line = line
        self.offset = offset
    }
}

/// A part of the input, of about 256 KiB, that begins and ends at a record boundary. Any thread can parse it.
///
/// There is one chunk for each buffer of the pool, which is reused. The holder of a chunk owns its bytes until `recycle()`,
/// and only one thread at a time may hold it. The compiler cannot check this rule, so its memory is unsafe.
@safe package final class RowChunk: @unchecked Sendable {
    /// The position of its first byte and first row.
    package internal(set) var start = RowPosition(row: 0, line: 0, offset: 0)

    /// The number of rows, including bad ones; at least 1.
    package internal(set) var rowCount = 0

    /// The number of bytes, including blank lines.
    package internal(set) var byteCount = 0

    let bytes: UnsafeMutablePointer<UInt8>
    let ends: UnsafeMutablePointer<RecordEnd>

    /// The index of the reader's buffer, from 0.
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

    /// Returns the number of rows that end within the first `count` bytes.
    func rows(endingBy count: Int) -> Int { (0..<rowCount).prefix { unsafe ends[$0].offset <= count }.count }

    /// Returns a copy of the first `count` bytes.
    func first(_ count: Int) -> [UInt8] { unsafe Array(UnsafeBufferPointer(start: bytes, count: count)) }

    /// Calls `body`, which may parse the rows, and puts the bytes back as they were read: a cursor unescapes fields in place, so that
    /// rows can be parsed once only.
    package func parsedBefore(_ body: () -> Void) {
        let read = first(byteCount)
        body()
        unsafe read.withUnsafeBufferPointer { read in
            if let start = read.baseAddress { unsafe bytes.update(from: start, count: read.count) }
        }
    }

    /// Returns the buffer to its reader. Any thread may call it, once; the chunk may not be used afterwards.
    package func recycle() { pool.release(index) }
}
