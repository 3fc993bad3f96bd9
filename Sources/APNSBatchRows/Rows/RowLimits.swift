/// The limits of the reader's memory, which is allocated once and does not grow.
///
/// The rows and errors of an input depend on `fieldBytes` and `recordBytes` only, not on `chunkBytes` or on how the bytes
/// arrive.
package struct RowLimits: Sendable, Equatable {
    /// The number of bytes that are read before a chunk is passed on.
    package let chunkBytes: Int

    /// The maximum length of a field, in bytes of the input between the delimiters or, for a quoted field, between the
    /// quotes. A doubled quote counts as two bytes.
    package let fieldBytes: Int

    /// The maximum length of a record in bytes, without its line end. Such a record fits into a chunk's buffer.
    package let recordBytes: Int

    /// The binary logarithm of the largest window, in bytes, that a zstd frame of the input may need. Its memory comes on top.
    package var zstdWindowLog = 25

    /// The maximum number of objects and arrays around a value of a field that is JSON, within the row's own object.
    static let jsonDepthMax = 63

    /// Chunks and records of 256 KiB, fields of 64 KiB.
    package static let standard = RowLimits(chunkBytes: 256 << 10, fieldBytes: 64 << 10, recordBytes: 256 << 10)

    /// - Precondition: all limits are from 1 byte to 64 MiB, and a field's is not greater than a record's. Limits are
    ///   chosen by the program and never come from the input.
    package init(chunkBytes: Int, fieldBytes: Int, recordBytes: Int) {
        let allowed = 1...(64 << 20)
        precondition(allowed.contains(chunkBytes) && allowed.contains(fieldBytes) && allowed.contains(recordBytes))
        precondition(fieldBytes <= recordBytes)
        self.chunkBytes = chunkBytes
        self.fieldBytes = fieldBytes
        self.recordBytes = recordBytes
    }

    /// The size of a buffer in bytes: a chunk, or the longest record with its CRLF.
    var bufferBytes: Int {
        max(chunkBytes, recordBytes + 2)
    }

    /// The maximum number of records in a chunk: enough for records of at least 8 bytes. With shorter ones chunks become
    /// smaller.
    var chunkRecords: Int {
        max(bufferBytes / 8, 16)
    }
}
