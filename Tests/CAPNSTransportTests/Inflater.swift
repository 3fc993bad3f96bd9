import CAPNSNGHTTP2

/// The HPACK decoder of a third-party library, which decodes our header blocks as a server would.
final class Inflater {
    struct Decoded: Equatable {
        var name: String
        var value: String
        var neverIndexed: Bool
    }

    private var inflater: OpaquePointer?

    init() {
        nghttp2_hd_inflate_new(&inflater)
    }

    deinit {
        nghttp2_hd_inflate_del(inflater)
    }

    /// Returns nil when the block is not valid.
    func decode(_ block: [UInt8]) -> [Decoded]? {
        var fields: [Decoded] = []
        var rest = block[...]
        while true {
            var nv = nghttp2_nv()
            var flags: Int32 = 0
            let used = Array(rest).withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &nv, &flags, $0.baseAddress, $0.count, 1)
            }
            guard used >= 0 else { return nil }
            rest = rest.dropFirst(used)
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                fields.append(
                    Decoded(
                        name: text(nv.name, nv.namelen), value: text(nv.value, nv.valuelen),
                        neverIndexed: nv.flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return fields
            }
        }
    }

    func allow(_ bytes: Int) {
        nghttp2_hd_inflate_change_table_size(inflater, bytes)
    }

    /// The names in the dynamic table.
    var table: [String] {
        let count = nghttp2_hd_inflate_get_num_table_entries(inflater)
        return (62..<max(62, count + 1)).compactMap { index in
            nghttp2_hd_inflate_get_table_entry(inflater, index).map { text($0.pointee.name, $0.pointee.namelen) }
        }
    }

    private func text(_ bytes: UnsafeMutablePointer<UInt8>?, _ length: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: bytes, count: length), as: UTF8.self)
    }
}
