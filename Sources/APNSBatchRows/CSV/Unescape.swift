/// Replaces doubled quotes by single ones in the field's own bytes. This is unsafe, because fields are read-only views.
enum Unescape {
    /// Unescapes a field.
    ///
    /// - Parameter content: the bytes between the quotes of a well-formed field, in a buffer that the caller may write to;
    ///   `ByteBlock.slack` more bytes after it must be readable.
    /// - Returns: the same memory, shorter by one byte for each doubled quote.
    static func inPlace(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let base = content.baseAddress else { return unsafe content }
        let bytes = unsafe UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
        let start = unsafe firstQuote(bytes, count: content.count)
        var target = start
        var source = start
        while source < content.count {
            let byte = unsafe bytes[source]
            unsafe bytes[target] = byte
            target &+= 1
            // In a well-formed field, every quote is followed by another one.
            source &+= byte == Byte.quote ? 2 : 1
        }
        return unsafe UnsafeRawBufferPointer(start: base, count: target)
    }

    /// Unescapes a field of a dialect whose escapes are backslashes. `\N`, which only an unquoted field can be, is an empty field.
    ///
    /// - Parameter content: as above.
    /// - Returns: the same memory, shorter by one byte for each backslash that escapes and for each doubled quote.
    static func backslashesInPlace(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let base = content.baseAddress else { return unsafe content }
        let bytes = unsafe UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
        if unsafe isNull(content) { return unsafe UnsafeRawBufferPointer(start: base, count: 0) }
        var (target, source) = (0, 0)
        while source < content.count {
            let byte = unsafe bytes[source]
            let isPair = byte == Byte.backslash || byte == Byte.quote && source &+ 1 < content.count
            unsafe bytes[target] = bytes[isPair ? source &+ 1 : source]
            target &+= 1
            source &+= isPair ? 2 : 1
        }
        return unsafe UnsafeRawBufferPointer(start: base, count: target)
    }

    /// Whether an unquoted field is NULL.
    private static func isNull(_ content: UnsafeRawBufferPointer) -> Bool {
        unsafe content.count == 2 && content[0] == Byte.backslash && content[1] == UInt8(ascii: "N")
    }

    private static func firstQuote(_ bytes: UnsafePointer<UInt8>, count: Int) -> Int {
        var at = 0
        while at < count {
            let quotes = unsafe ByteBlock(bytes + at).equal(to: Byte.quote)
            if quotes != 0 { return min(at &+ quotes.trailingZeroBitCount, count) }
            at &+= 64
        }
        return count
    }
}
