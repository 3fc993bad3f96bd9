/// What bounds the reader's memory. Decided once; nothing grows afterwards.
///
/// The rows and errors of an input depend on `fieldBytes` and `recordBytes` alone, never on `chunkBytes` or on how the
/// bytes arrived.
package struct RowLimits: Sendable, Equatable {
    /// How much is read before a chunk is handed on.
    package let chunkBytes: Int

    /// The longest field, in bytes as they stand in the input between the delimiters or, for a quoted field, between
    /// the quotes (a doubled quote counts as two).
    package let fieldBytes: Int

    /// The longest record, in bytes without its line end. It always fits a buffer of a chunk.
    package let recordBytes: Int

    /// Chunks and records of 256 KiB, fields of 64 KiB.
    package static let standard = RowLimits(chunkBytes: 256 << 10, fieldBytes: 64 << 10, recordBytes: 256 << 10)

    /// - Precondition: all at least 1 and at most 64 MiB, a field no longer than a record. Limits are the program's
    ///   choice, not the input's.
    package init(chunkBytes: Int, fieldBytes: Int, recordBytes: Int) {
        let allowed = 1...(64 << 20)
        precondition(allowed.contains(chunkBytes) && allowed.contains(fieldBytes) && allowed.contains(recordBytes))
        precondition(fieldBytes <= recordBytes)
        self.chunkBytes = chunkBytes
        self.fieldBytes = fieldBytes
        self.recordBytes = recordBytes
    }

    /// Bytes of one buffer: a chunk, or the longest record with its CRLF.
    var bufferBytes: Int {
        max(chunkBytes, recordBytes + 2)
    }

    /// Records of one chunk: enough for records of 8 bytes and more; shorter ones just make smaller chunks.
    var chunkRecords: Int {
        max(bufferBytes / 8, 16)
    }
}
