import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

extension RunStatus {
    /// Counts the rows that were not read, in the time that it takes to read the rest of the input. Changes nothing where
    /// the file is not there or has another size.
    ///
    /// - Parameters:
    ///   - path: of the input.
    ///   - delimiter: the byte between its fields.
    public mutating func countUnread(in path: String, delimiter: UInt8 = UInt8(ascii: ",")) {
        guard !isInputRead, inputBytes != nil,
            let rows = UnreadRows.count(in: path, delimiter: delimiter, from: readUpTo, bytes: inputBytes)
        else { return }
        unread = .counted(rows)
    }
}

extension UnreadRows {
    /// Counts the records of a file behind an offset; nil when the file cannot be read or has another size.
    ///
    /// - Parameters:
    ///   - offset: where the first of them begins; nil for the first of the file.
    ///   - bytes: the size that the file must have.
    static func count(
        in path: String, delimiter: UInt8, from offset: UInt64?, bytes: UInt64?, limits: RowLimits = .standard
    ) -> UInt64? {
        guard let format = try? RowFormat(delimiter: delimiter),
            let reader = try? ChunkReader(input: .file(path), format: format, limits: limits, buffers: 2),
            reader.bytesTotal == bytes
        else { return nil }
        do {
            _ = try reader.readColumns()
            if let offset { try reader.seek(to: RowPosition(row: 1, line: 1, offset: offset)) }
            var rows: UInt64 = 0
            while let chunk = try reader.next() {
                rows += UInt64(chunk.rowCount)
                chunk.recycle()
            }
            return rows
        } catch {
            return nil
        }
    }
}
