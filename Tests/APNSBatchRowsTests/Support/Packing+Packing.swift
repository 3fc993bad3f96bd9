import CAPNSZlib
import CAPNSZstd

@testable import APNSBatchRows

extension Packing {
    /// Returns one member or frame with a checksum that holds the bytes.
    func pack(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .gzip: gzip(bytes)
        case .zstd: zstd(bytes)
        }
    }

    private func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        let isReady = deflateInit2_(
            &stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(isReady == Z_OK)
        defer { deflateEnd(&stream) }
        var (input, output) = (bytes, [UInt8](repeating: 0, count: bytes.count + 100))
        let room = output.count
        let count = input.withUnsafeMutableBufferPointer { from in
            output.withUnsafeMutableBufferPointer { to in
                (stream.next_in, stream.avail_in) = (from.baseAddress, UInt32(from.count))
                (stream.next_out, stream.avail_out) = (to.baseAddress, UInt32(to.count))
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                return room - Int(stream.avail_out)
            }
        }
        return Array(output[..<count])
    }

    private func zstd(_ bytes: [UInt8]) -> [UInt8] {
        let context = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        let count = ZSTD_compress2(context, &output, output.count, bytes, bytes.count)
        precondition(ZSTD_isError(count) == 0)
        return Array(output[..<count])
    }
}
