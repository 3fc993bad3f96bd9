import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

extension RunStatus {
    /// Counts the rows that were not read, which takes as long as reading the rest of the input. Changes nothing if the file
    /// cannot be read or its size has changed.
    ///
    /// - Parameters:
    ///   - path: The path of the input.
    ///   - delimiter: The byte between its fields.
    public mutating func countUnread(in path: String, delimiter: UInt8 = UInt8(ascii: ",")) {
        countUnread(in: path, delimiter: delimiter, escape: .automatic)
    }

    /// Counts the rows that were not read, like ``countUnread(in:delimiter:)``, of an input that may have backslashes as escapes.
    ///
    /// - Parameters:
    ///   - path: The path of the input.
    ///   - delimiter: The byte between its fields.
    ///   - escape: How it writes quotes inside quoted fields.
    public mutating func countUnread(in path: String, delimiter: UInt8, escape: Campaign.Escape) {
        if OpenFile.kind(of: path) == .file,
            let format = try? FormatChoice(ofFile: path, delimiter: delimiter, escape)
        {
            countUnread(in: path, format)
        }
    }

    mutating func countUnread(in path: String, _ format: FormatChoice) {
        // A FIFO that has taken the place of the input would be waited for.
        guard !isInputRead, inputBytes != nil, OpenFile.kind(of: path) == .file,
            let rows = UnreadRows.count(in: path, format, from: readUpTo, bytes: inputBytes)
        else { return }
        unread = .counted(rows)
    }
}

extension UnreadRows {
    /// Counts the records of a file from an offset on. Returns nil if the file cannot be read or has another size.
    ///
    /// - Parameters:
    ///   - offset: The beginning of the first record to count; nil for the first of the file.
    ///   - bytes: The size that the file must have, as it is stored.
    static func count(
        in path: String, _ format: FormatChoice, from offset: UInt64?, bytes: UInt64?, limits: RowLimits = .standard
    ) -> UInt64? {
        guard let reader = try? ChunkReader(input: .file(path), format: format, limits: limits, buffers: 2),
            reader.storedBytes == bytes
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
