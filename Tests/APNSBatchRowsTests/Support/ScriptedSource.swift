@testable import APNSBatchRows

/// A source that hands out given bytes in given pieces.
final class ScriptedSource: ByteSource, @unchecked Sendable {
    let byteCount: UInt64?

    private let bytes: [UInt8]
    /// How many bytes each read returns; the last entry goes on for ever.
    private let pieces: [Int]
    private let failure: CSVError?
    private var at = 0
    private var reads = 0

    /// - Parameter failure: thrown where the end would be.
    init(_ bytes: [UInt8], pieces: [Int] = [.max], byteCount: UInt64? = nil, failure: CSVError? = nil) {
        self.bytes = bytes
        self.pieces = pieces
        self.byteCount = byteCount
        self.failure = failure
    }

    func read(into buffer: UnsafeMutableRawPointer, count: Int) throws(CSVError) -> Int {
        let piece = pieces[min(reads, pieces.count - 1)]
        let taken = min(piece, count, bytes.count - at)
        if taken == 0, let failure { throw failure }
        bytes.withUnsafeBytes { buffer.copyMemory(from: $0.baseAddress! + at, byteCount: taken) }
        at += taken
        reads += 1
        return taken
    }

    func seek(to offset: UInt64) throws(CSVError) { throw .cannotRead(errno: 29) }

    func cancel() {}
}

extension CSVLimits {
    /// Limits small enough that small inputs hit them.
    static func small(chunk: Int = 1, field: Int = 40, record: Int = 60) -> CSVLimits {
        CSVLimits(chunkBytes: chunk, fieldBytes: field, recordBytes: record)
    }
}

extension Reading {
    /// What the module makes of the source.
    init(
        source: any ByteSource, dialect: CSVDialect = .comma, limits: CSVLimits = .standard, buffers: Int = 1
    ) {
        self.init(CSVChunkReader(source: source, dialect: dialect, limits: limits, buffers: buffers))
    }

    init(_ reader: CSVChunkReader) {
        do throws(CSVError) {
            columns = try reader.readHeader().map { Array($0.utf8) }
            var cursor = reader.makeCursor()
            while let chunk = try reader.next() {
                Self.append(chunk, &cursor, to: &rows)
                chunk.recycle()
            }
        } catch {
            failure = error
        }
    }

    static func append(_ chunk: CSVChunk, _ cursor: inout CSVRowCursor, to rows: inout [ReadRow]) {
        var row = CSVRow()
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

/// Numbers that look random and are the same on every run (SplitMix64).
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
