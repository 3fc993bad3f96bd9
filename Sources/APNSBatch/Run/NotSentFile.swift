import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// The file of a run directory that has the lines of rows which were not sent because of themselves: `not-sent.csv`, or `not-sent.ndjson`. Only
/// its owner can read it.
struct NotSentFile {
    /// Where the rows can be read once more.
    struct Source {
        var location: InputLocation
        var format: RowFormat
        var columns: [String]
        var limits: RowLimits
        /// How much of a file belongs to the input; nil for all of it.
        var extent: InputExtent?
        /// The length and the CRC-32C of what was sent; nil if the file cannot have changed, or if they are not known.
        var content: (bytes: UInt64, sum: UInt32)?
        /// For each row the number that it has in the file; nil for its own number. A correction gives rows the numbers of the corrected run.
        var numbers: [UInt64]?
    }

    /// Why there is no file, or not every row in it.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let directory: String
    private let source: Source

    init(in directory: String, _ source: Source) { (self.directory, self.source) = (directory, source) }

    /// The name of the file.
    static func name(_ format: RowFormat) -> String { "not-sent.\(ReturnedLines(format).fileExtension)" }

    private static let kind = OutputFile.Kind("the rows of a run that were not sent", at: .own) { start in
        start.count >= ReturnedLines.rowColumn.utf8.count
            && String(decoding: start.prefix(256), as: UTF8.self).contains(ReturnedLines.rowColumn)
    }

    private var path: String { "\(directory)/\(Self.name(source.format))" }

    /// Writes the file, which is replaced as a whole.
    ///
    /// - Returns: The number of rows whose lines are too long to be in it.
    func write() throws -> UInt64 {
        let reader = try ChunkReader(
            input: source.location, format: FormatChoice(source.format), limits: source.limits, buffers: 2,
            extent: source.extent)
        _ = try reader.readColumns()
        if let content = source.content, try reader.checksum(of: 0..<content.bytes) != content.sum {
            throw Failure(description: "the input has changed since it was sent")
        }
        let file = try OutputFile(path, Self.kind, readers: .owner)
        var writing = Writing(
            file: file, lines: ReturnedLines(source.format), limits: source.limits, numbers: source.numbers)
        try writing.begin(source.columns)
        var rows = NotSentRows(ofRunIn: directory)
        var wanted: ArraySlice<NotSentRows.Row> = []
        while let chunk = try reader.next() {
            defer { chunk.recycle() }
            let end = chunk.start.row + UInt64(chunk.rowCount)
            while true {
                if wanted.isEmpty {
                    guard let next = try rows.next() else { return try writing.finish() }
                    wanted = next[...]
                    continue
                }
                guard let row = wanted.first, row.row < end else { break }
                guard row.row >= chunk.start.row else {
                    throw Failure(description: "row \(row.row) is not where it was")
                }
                try unsafe writing.add(row, unsafe chunk.record(Int(row.row - chunk.start.row)))
                wanted.removeFirst()
            }
        }
        while wanted.isEmpty, let next = try rows.next() { wanted = next[...] }
        guard wanted.isEmpty else {
            throw Failure(description: "the input ends before row \(wanted[wanted.startIndex].row)")
        }
        return try writing.finish()
    }

    /// Removes the file of a run directory, if there is one.
    static func remove(from directory: String, _ format: RowFormat) {
        let path = "\(directory)/\(name(format))"
        guard (try? OutputFile.check(path, kind)) != nil else { return }
        RunDirectory.removeFile(path)
    }

    private struct Writing {
        let file: OutputFile
        let lines: ReturnedLines
        let limits: RowLimits
        let numbers: [UInt64]?
        var buffer: [UInt8] = []
        var tooLong: UInt64 = 0

        mutating func begin(_ columns: [String]) throws { buffer = lines.header(columns) }

        mutating func add(_ row: NotSentRows.Row, _ record: UnsafeRawBufferPointer) throws {
            guard record.count <= limits.recordBytes else {
                tooLong += 1
                return
            }
            let number =
                numbers.flatMap { $0.indices.contains(Int(row.row - 1)) ? $0[Int(row.row - 1)] : nil } ?? row.row
            unsafe lines.append(record, row: number, reason: row.reason, to: &buffer)
            if buffer.count >= Self.bufferBytes { try flush() }
        }

        mutating func finish() throws -> UInt64 {
            try flush()
            try file.finish()
            return tooLong
        }

        private mutating func flush() throws {
            try file.write(buffer)
            buffer.removeAll(keepingCapacity: true)
        }

        private static let bufferBytes = 256 << 10
    }
}
