extension RowChunk {
    /// Returns the bytes of a record as they were read, with its line end, but without blank lines before it. They are valid until the chunk
    /// is recycled, and changed once a cursor has passed them. Of a line that does not fit into a chunk they are the beginning.
    ///
    /// - Parameter index: The number of the record in the chunk, from 0.
    package func record(_ index: Int) -> UnsafeRawBufferPointer {
        let before = index == 0 ? 0 : unsafe ends[index - 1].offset
        let start = unsafe RowCursor.recordStart(bytes, from: before).offset
        return unsafe UnsafeRawBufferPointer(start: bytes + start, count: ends[index].offset - start)
    }
}
