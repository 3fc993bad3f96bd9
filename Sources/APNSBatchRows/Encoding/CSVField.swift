/// How a field is written in CSV (RFC 4180).
package enum CSVField {
    /// Whether a field must be quoted: it contains the delimiter, a quote or a line end. Checks 16 bytes at a time.
    package static func needsQuotes(_ field: UnsafeRawBufferPointer, delimiter: UInt8) -> Bool {
        guard let start = field.baseAddress else { return false }
        var offset = 0
        var found = SIMD16<UInt8>.zero .!= .zero
        while offset &+ 16 <= field.count {
            found .|= isSpecial(unsafe start.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self), delimiter)
            offset &+= 16
        }
        var rest = SIMD16<UInt8>.zero
        unsafe withUnsafeMutableBytes(of: &rest) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: field[offset...]))
        }
        found .|= isSpecial(rest, delimiter)
        let halves = unsafe unsafeBitCast(found, to: SIMD2<UInt64>.self)
        return halves[0] | halves[1] != 0
    }

    @inline(__always)
    private static func isSpecial(_ bytes: SIMD16<UInt8>, _ delimiter: UInt8) -> SIMDMask<SIMD16<Int8>> {
        func isEqual(_ byte: UInt8) -> SIMDMask<SIMD16<Int8>> { bytes .== SIMD16(repeating: byte) }
        return isEqual(delimiter) .| isEqual(Byte.quote) .| isEqual(Byte.lineFeed) .| isEqual(Byte.carriageReturn)
    }

    /// The maximum number of bytes that a field of this many bytes takes: each byte may be a quote, which is doubled, and there
    /// is one before and one after it.
    package static func most(_ bytes: Int) -> Int { 2 * bytes + 2 }

    /// Writes a field, with quotes if it needs them, and returns the number of bytes.
    ///
    /// - Parameter out: Room for ``most(_:)`` bytes.
    package static func write(
        _ field: UnsafeRawBufferPointer, delimiter: UInt8, to out: UnsafeMutablePointer<UInt8>
    ) -> Int {
        guard unsafe needsQuotes(field, delimiter: delimiter) else {
            if let start = field.baseAddress {
                unsafe UnsafeMutableRawPointer(out).copyMemory(from: start, byteCount: field.count)
            }
            return field.count
        }
        unsafe out[0] = Byte.quote
        var count = 1
        for index in 0..<field.count {
            let byte = unsafe field[index]
            if byte == Byte.quote {
                unsafe out[count] = byte
                count += 1
            }
            unsafe out[count] = byte
            count += 1
        }
        unsafe out[count] = Byte.quote
        return count + 1
    }
}
