import APNSBatchRows
import CAPNSZlib
import CAPNSZstd
import Foundation

/// Reading rows from a file as it is, packed with gzip and packed with zstd, beside what the libraries take to unpack it alone, and the
/// same rows as lines of JSON.
enum InputsBenchmark {
    static func figures(_ inputs: Inputs) throws -> [Figure] {
        let plain = try row(inputs.plain, inputs.rows)
        var figures = [Figure("inputs.plain.row", plain, "ns")]
        for packing in [Packing.gzip, .zstd] {
            let file = try pack(inputs.plain, packing)
            let packed = Array(try Data(contentsOf: URL(filePath: file.path)))
            let alone = try Repetitions.median {
                let made = packing == .gzip ? inflateAll(packed) : decompressAll(packed)
                guard made == inputs.plain.byteCount else { throw BenchmarkFailure("\(packing): made \(made) bytes") }
            }
            let name = "inputs.\(packing.rawValue)"
            figures.append(Figure("\(name).row", try row(file, inputs.rows), "ns"))
            figures.append(Figure("\(name).library", alone / Double(inputs.rows), "ns"))
        }
        for (name, file) in [("plain", inputs.plain), ("quoted", inputs.quoted)] {
            let columns = try ChunkReader(input: .file(file.path), buffers: 1).readColumns()
            let lines = RowFile(
                path: "\(inputs.directory)/\(name).ndjson", format: FormatChoice(.ndjson, columns: columns))
            figures.append(Figure("inputs.ndjson.\(name).row", try row(lines, inputs.rows), "ns"))
            figures.append(
                Figure("inputs.ndjson.\(name).bytes", Double(lines.byteCount) / Double(inputs.rows), "bytes"))
        }
        figures.append(Figure("inputs.quoted.row", try row(inputs.quoted, inputs.rows), "ns"))
        return figures + [Figure("inputs.row.bytes", Double(inputs.plain.byteCount) / Double(inputs.rows), "bytes")]
    }

    /// Nanoseconds for a row.
    private static func row(_ file: RowFile, _ expected: Int) throws -> Double {
        var rows = 0
        let nanoseconds = try Repetitions.median(preparation: { rows = 0 }) { try file.forEachRow { _ in rows += 1 } }
        guard rows == expected else { throw BenchmarkFailure("\(file.path): \(rows) of \(expected) rows") }
        return nanoseconds / Double(rows)
    }

    private static func pack(_ file: RowFile, _ packing: Packing) throws -> RowFile {
        let packed = "\(file.path).\(packing == .gzip ? "gz" : "zst")"
        try Inputs.run(["/bin/sh", "-c", "\(packing.rawValue) -c '\(file.path)' > '\(packed)'"])
        return RowFile(path: packed)
    }

    private static let room = 256 << 10

    /// Unpacks with zlib alone. Returns the number of bytes.
    private static func inflateAll(_ packed: [UInt8]) -> Int {
        var stream = z_stream()
        inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { inflateEnd(&stream) }
        let output = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
        defer { output.deallocate() }
        return packed.withUnsafeBufferPointer { input in
            (stream.next_in, stream.avail_in) = (UnsafeMutablePointer(mutating: input.baseAddress), UInt32(input.count))
            var code = Z_OK
            while code == Z_OK {
                (stream.next_out, stream.avail_out) = (output, UInt32(room))
                code = inflate(&stream, Z_NO_FLUSH)
            }
            return code == Z_STREAM_END ? Int(stream.total_out) : 0
        }
    }

    /// Unpacks with libzstd alone. Returns the number of bytes.
    private static func decompressAll(_ packed: [UInt8]) -> Int {
        let context = ZSTD_createDCtx()
        defer { ZSTD_freeDCtx(context) }
        let output = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
        defer { output.deallocate() }
        return packed.withUnsafeBytes { input in
            var (from, made) = (ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0), 0)
            while from.pos < from.size {
                var to = ZSTD_outBuffer(dst: output, size: room, pos: 0)
                guard ZSTD_isError(ZSTD_decompressStream(context, &to, &from)) == 0 else { return 0 }
                made += to.pos
            }
            return made
        }
    }
}
