import APNSBatchBasics

/// Writes the fields of one row, in the order of the columns. It is lent to a closure for one row, and cannot be kept.
///
/// A row with too few or too many fields is an invalid row, like one in a file.
@safe public struct RowEncoder: ~Copyable {
    private let delimiter: UInt8
    /// The memory that the reader will read.
    private let window: UnsafeMutableRawBufferPointer
    /// The number of bytes in it.
    private(set) var filled: Int
    /// The bytes that did not fit.
    private(set) var overflow: [UInt8]
    private var fields = 0

    init(_ window: UnsafeMutableRawBufferPointer, filled: Int, overflow: consuming [UInt8], delimiter: UInt8) {
        unsafe self.window = window
        (self.filled, self.overflow, self.delimiter) = (filled, overflow, delimiter)
    }

    /// Writes a text.
    public mutating func append(_ text: borrowing String) {
        var text = copy text
        text.withUTF8 { utf8 in unsafe append(field: UnsafeRawBufferPointer(utf8)) }
    }

    /// Writes a number in decimal.
    public mutating func append(_ number: some BinaryInteger) { append(String(number)) }

    /// Writes a text of UTF-8 bytes. A row with other bytes is invalid.
    public mutating func append(bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { bytes in unsafe append(field: bytes) }
    }

    /// Writes an empty field.
    public mutating func appendEmpty() { unsafe append(field: UnsafeRawBufferPointer(start: nil, count: 0)) }

    private mutating func append(field: UnsafeRawBufferPointer) {
        let most = CSVField.most(field.count) + 1
        if overflow.isEmpty, unsafe filled + most <= window.count {
            let start = unsafe window.baseAddress!.assumingMemoryBound(to: UInt8.self)
            if fields > 0 {
                unsafe start[filled] = delimiter
                filled += 1
            }
            filled += unsafe CSVField.write(field, delimiter: delimiter, to: start + filled)
        } else {
            if fields > 0 { put(delimiter) }
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: most) { room, count in
                count = unsafe CSVField.write(field, delimiter: delimiter, to: room.baseAddress!)
            }
            for byte in bytes { put(byte) }
        }
        fields += 1
    }

    private mutating func put(_ byte: UInt8) {
        if overflow.isEmpty, unsafe filled < window.count {
            unsafe window[filled] = byte
            filled += 1
        } else {
            overflow.append(byte)
        }
    }

    /// Ends the row. A row without text, which would be a blank line, gets an empty field in quotes.
    ///
    /// - Parameter isBlank: Whether nothing was written since the beginning of the row.
    mutating func endRow(isBlank: Bool) {
        if isBlank { for _ in 0..<2 { put(Byte.quote) } }
        put(Byte.lineFeed)
    }

    /// Ends the header row: with CR LF, so that it has the three bytes which the reader needs before it looks for a byte
    /// order mark.
    mutating func endHeader() {
        put(Byte.carriageReturn)
        put(Byte.lineFeed)
    }
}
