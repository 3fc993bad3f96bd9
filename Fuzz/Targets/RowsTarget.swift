import APNSBatchRows
import Glibc

/// The first byte chooses delimiter, escape and limits. The rows must not depend on how the input is cut into chunks.
@Sendable func fuzzCSV(_ bytes: UnsafeRawBufferPointer) {
    fuzzRows(bytes) { choice in
        let delimiter = UInt8(ascii: choice & 1 == 0 ? "," : ";")
        let escape = [CSVDialect.Escape.recognised, .none, .backslash][Int(choice >> 3) % 3]
        return .csv((try? CSVDialect(delimiter: delimiter, escape: escape)) ?? .comma)
    }
}

/// The first byte chooses limits, and whether the format is found or given.
@Sendable func fuzzNDJSON(_ bytes: UnsafeRawBufferPointer) {
    let columns = ["token", "a", "é", "\"\\", ""]
    fuzzRows(bytes) {
        $0 & 1 == 0
            ? FormatChoice(.ndjson, columns: columns) : FormatChoice(of: "rows", orCSV: .comma, columns: columns)
    }
}

private func fuzzRows(_ bytes: UnsafeRawBufferPointer, _ format: (UInt8) -> FormatChoice) {
    // What a pipe holds at once.
    guard let choice = bytes.first, bytes.count <= 60_000 else { return }
    let input = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    let format = format(choice)
    let (field, record) = [(40, 60), (5, 9), (100, 400), (65_536, 262_144)][Int(choice >> 1 & 3)]
    let small = Reading(
        input, format, RowLimits(chunkBytes: 1 + Int(choice >> 3), fieldBytes: field, recordBytes: record))
    let large = Reading(input, format, RowLimits(chunkBytes: 65_536, fieldBytes: field, recordBytes: record))
    precondition(small.agrees(with: large), "the rows depend on the size of the chunks")
}

/// All that a reader says of an input.
private struct Reading: Equatable {
    struct ReadRow: Equatable {
        let row: UInt64
        let line: UInt64
        let fields: [[UInt8]]
        let error: RowError?
    }

    private var columns: [String] = []
    private var rows: [ReadRow] = []
    private var failure: InputError?

    /// Whether both say the same. Where quoting is in dispute, the rows of the chunk before it are not delivered.
    func agrees(with other: Reading) -> Bool {
        guard case .quoting? = failure else { return self == other }
        let most = min(rows.count, other.rows.count)
        return failure == other.failure && columns == other.columns && rows.prefix(most) == other.rows.prefix(most)
    }

    init(_ input: UnsafeRawBufferPointer, _ format: FormatChoice, _ limits: RowLimits) {
        let descriptor = Self.pipe(holding: input)
        defer { close(descriptor) }
        do throws(InputError) {
            try read(ChunkReader(input: .descriptor(descriptor), format: format, limits: limits, buffers: 1))
        } catch {
            failure = error
        }
    }

    /// The end to read from of a pipe that holds the input, and nothing more will come.
    private static func pipe(holding input: UnsafeRawBufferPointer) -> Int32 {
        var ends: [Int32] = [-1, -1]
        precondition(Glibc.pipe(&ends) == 0 && write(ends[1], input.baseAddress, input.count) == input.count)
        close(ends[1])
        return ends[0]
    }

    private mutating func read(_ reader: ChunkReader) throws(InputError) {
        columns = try reader.readColumns()
        var cursor = reader.makeCursor()
        var row = Row()
        while let chunk = try reader.next() {
            cursor.open(chunk)
            while cursor.next(into: &row) {
                precondition(row.error != nil || row.fields.count == columns.count)
                for field in row.fields.indices where row.error == nil { precondition(row.place(of: field).column > 0) }
                rows.append(
                    ReadRow(row: row.row, line: row.line, fields: row.fields.map { Array($0) }, error: row.error))
            }
            chunk.recycle()
        }
    }
}
