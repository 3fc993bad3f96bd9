/// Texts that go into a row's line as they are: the columns that the campaign carries there, then the `apns-unique-id`, if
/// the server gave one. Each is a byte for its length, and so many bytes.
@usableFromInline package enum CarriedFields {
    @inlinable package static var textMax: Int { 255 }
    /// Columns of the input that may be carried.
    @inlinable package static var columnsMax: Int { 8 }
    /// Of all texts of a row.
    @inlinable package static var bytesMax: Int { (columnsMax + 1) * (1 + textMax) }

    /// Writes one; gives how many bytes that takes. A longer text is cut, never in the middle of a UTF-8 sequence.
    package static func write(_ text: UnsafeRawBufferPointer, to room: UnsafeMutableRawPointer) -> Int {
        let length = OutcomeBatch.cut(text, to: textMax)
        room.storeBytes(of: UInt8(length), as: UInt8.self)
        if length > 0 { (room + 1).copyMemory(from: text.baseAddress!, byteCount: length) }
        return 1 + length
    }

    /// Takes the first one off; empty where there is none.
    package static func takeFirst(_ fields: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let length = fields.first, fields.count > length else {
            fields = UnsafeRawBufferPointer(start: nil, count: 0)
            return fields
        }
        defer { fields = UnsafeRawBufferPointer(rebasing: fields.dropFirst(1 + Int(length))) }
        return UnsafeRawBufferPointer(rebasing: fields[1..<(1 + Int(length))])
    }
}
