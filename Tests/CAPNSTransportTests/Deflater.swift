import CAPNSNGHTTP2
import CAPNSTransport

/// The HPACK encoder of a third-party library, which encodes header blocks as a server would.
final class Deflater {
    private var deflater: OpaquePointer?

    init() {
        nghttp2_hd_deflate_new(&deflater, 4096)
    }

    deinit {
        nghttp2_hd_deflate_del(deflater)
    }

    /// Changes the size of the dynamic table; the next block says so.
    func resize(_ bytes: Int) {
        nghttp2_hd_deflate_change_table_size(deflater, bytes)
    }

    func encode(_ fields: [Field]) -> [UInt8] {
        var bytes = fields.map { (Array($0.name.utf8), Array($0.value.utf8)) }
        var vectors: [nghttp2_nv] = []
        for index in bytes.indices {
            let flags =
                fields[index].indexing == APNS_TRANSPORT_LITERAL ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
            vectors.append(
                nghttp2_nv(
                    name: pointer(&bytes[index].0), value: pointer(&bytes[index].1), namelen: bytes[index].0.count,
                    valuelen: bytes[index].1.count, flags: UInt8(flags.rawValue)))
        }
        defer {
            for vector in vectors {
                vector.name.deallocate()
                vector.value.deallocate()
            }
        }
        var block = [UInt8](repeating: 0, count: nghttp2_hd_deflate_bound(deflater, vectors, vectors.count))
        let length = nghttp2_hd_deflate_hd(deflater, &block, block.count, vectors, vectors.count)
        return Array(block.prefix(max(0, length)))
    }

    private func pointer(_ bytes: inout [UInt8]) -> UnsafeMutablePointer<UInt8> {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count + 1)
        copy.initialize(from: bytes, count: bytes.count)
        return copy
    }
}
