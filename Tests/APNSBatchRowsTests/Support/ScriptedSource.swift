@testable import APNSBatchRows

/// A source that returns given bytes in pieces of given sizes.
final class ScriptedSource: ByteSource, @unchecked Sendable {
    let size: UInt64?
    var canReadAgain: Bool { size != nil }

    private let bytes: [UInt8]
    /// The number of bytes that each read returns. The last entry applies to all further reads.
    private let pieces: [Int]
    private let failure: InputError?
    private var at = 0
    private var reads = 0

    /// - Parameter failure: the error that is thrown instead of the end of the input.
    init(_ bytes: [UInt8], pieces: [Int] = [.max], size: UInt64? = nil, failure: InputError? = nil) {
        self.bytes = bytes
        self.pieces = pieces
        self.size = size
        self.failure = failure
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        let piece = pieces[min(reads, pieces.count - 1)]
        let taken = min(piece, buffer.count, bytes.count - at)
        if taken == 0, let failure { throw failure }
        buffer.copyBytes(from: bytes[at..<at + taken])
        at += taken
        reads += 1
        return taken
    }
}

extension RowLimits {
    /// Returns limits that are small enough for small inputs to reach them.
    static func small(chunk: Int = 1, field: Int = 40, record: Int = 60) -> RowLimits {
        RowLimits(chunkBytes: chunk, fieldBytes: field, recordBytes: record)
    }
}

extension Reading {
    /// Reads the source with the module under test.
    init(
        source: any ByteSource, dialect: CSVDialect = .comma, limits: RowLimits = .standard, buffers: Int = 1
    ) {
        self.init(ChunkReader(source: source, format: .csv(dialect), limits: limits, buffers: buffers))
    }

    /// Reads lines of JSON.
    init(ndjson source: any ByteSource, columns: [String], limits: RowLimits = .standard) {
        self.init(
            ChunkReader(source: source, format: FormatChoice(.ndjson, columns: columns), limits: limits, buffers: 1))
    }

    init(_ reader: ChunkReader) {
        do throws(InputError) {
            columns = try reader.readColumns().map { Array($0.utf8) }
            var cursor = reader.makeCursor()
            while let chunk = try reader.next() {
                Self.append(chunk, &cursor, to: &rows)
                chunk.recycle()
            }
        } catch {
            failure = error
        }
    }

    static func append(_ chunk: RowChunk, _ cursor: inout RowCursor, to rows: inout [ReadRow]) {
        var row = Row()
        cursor.open(chunk)
        while cursor.next(into: &row) {
            var read = ReadRow(
                row: row.row, line: row.line, fields: row.fields.map { Array($0) }, error: row.error)
            if row.error == nil {
                read.places = row.fields.indices.map { field in
                    let place = row.place(of: field)
                    return [Int(place.line), place.column]
                }
            }
            rows.append(read)
        }
    }
}

/// A SplitMix64 generator, which returns the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z &>> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z &>> 31)
    }
}
