/// The encoding of texts that are copied into a row's line of `results.csv`: the columns that the campaign carries there,
/// then the `apns-unique-id`, if the server sent one. Each text is one byte for its length, followed by that many bytes.
@usableFromInline package enum CarriedFields {
    @inlinable package static var textMax: Int { 255 }
    /// The maximum number of input columns that may be carried.
    @inlinable package static var columnsMax: Int { 8 }
    /// The maximum number of bytes of all texts of a row.
    @inlinable package static var bytesMax: Int { (columnsMax + 1) * (1 + textMax) }

    /// Writes one text and returns the number of bytes written. A longer text is cut, never in the middle of a UTF-8
    /// sequence.
    ///
    /// - Parameter room: Memory for at least `1 + textMax` bytes.
    package static func write(_ text: UnsafeRawBufferPointer, to room: UnsafeMutableRawPointer) -> Int {
        let length = unsafe OutcomeBatch.cut(text, to: textMax)
        unsafe room.storeBytes(of: UInt8(length), as: UInt8.self)
        if length > 0 { unsafe (room + 1).copyMemory(from: text.baseAddress!, byteCount: length) }
        return 1 + length
    }

    /// Removes and returns the first text, without its length; returns an empty buffer if there is none.
    package static func takeFirst(_ fields: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let length = unsafe fields.first, fields.count > length else {
            unsafe fields = UnsafeRawBufferPointer(start: nil, count: 0)
            return unsafe fields
        }
        defer { unsafe fields = UnsafeRawBufferPointer(rebasing: fields.dropFirst(1 + Int(length))) }
        return unsafe UnsafeRawBufferPointer(rebasing: fields[1..<(1 + Int(length))])
    }
}
