import APNSBatchRows

/// Rows of the input that no session has read so far.
public enum UnreadRows: Sendable, Equatable {
    /// So many: the input was read to its end, or its records were counted.
    case counted(UInt64)
    /// About so many, by the bytes that are left.
    case estimated(UInt64)
    /// The input's size is not known, or nothing of it was read.
    case unknown

    /// The number, counted or estimated.
    public var rows: UInt64? {
        switch self {
        case .counted(let rows), .estimated(let rows): rows
        case .unknown: nil
        }
    }

    public var isEstimate: Bool { if case .estimated = self { true } else { false } }

    /// What was read tells how long a row is.
    static func estimate(rowsRead: UInt64, bytesRead: UInt64, bytesTotal: UInt64?) -> UnreadRows {
        guard let bytesTotal else { return .unknown }
        if bytesRead >= bytesTotal { return .counted(0) }
        guard rowsRead > 0, bytesRead > 0 else { return .unknown }
        let rowsPerByte = Double(rowsRead) / Double(bytesRead)
        return .estimated(UInt64((Double(bytesTotal - bytesRead) * rowsPerByte).rounded()))
    }

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
