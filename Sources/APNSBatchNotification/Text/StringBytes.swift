import Glibc

extension String {
    /// Whether the text's UTF-8 is exactly these bytes. No allocation; lengths are compared first.
    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard utf8.count == bytes.count else { return false }
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
        return utf8.withContiguousStorageIfAvailable { memcmp($0.baseAddress!, start, bytes.count) == 0 } ?? false
    }
}
