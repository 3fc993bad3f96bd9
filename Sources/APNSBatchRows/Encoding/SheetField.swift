import APNSBatchBasics

/// A field of a CSV file that is read by programs and opened by people, in a terminal or a spreadsheet: it is no formula, and has no
/// character that a terminal obeys.
///
/// Nearly every field stays as it is. One is *altered* if it begins with `=`, `+`, `-` or `@` and is no number, or if it holds a control
/// character (`Unicode.Scalar.isHarmful`) or a byte of 0x80 to 0x9F that is not UTF-8: an apostrophe precedes it, its backslashes are
/// doubled, and those characters become escapes of JSON (`\n`, `\u001b`), those bytes `\x80`. So that a reader does not take another field for
/// an altered one, a field is altered, too, if it begins with an apostrophe and has a backslash, or one of `= + - @ '` after the
/// apostrophe. ``plain(_:)`` gives back what was altered.
package enum SheetField {
    /// The maximum number of bytes that a field of this many bytes takes. A field that would take more, for nearly every character of it is
    /// altered, is cut; one of 80 characters never is.
    package static func most(_ bytes: Int) -> Int { contentMost(bytes) + 2 }

    private static func contentMost(_ bytes: Int) -> Int { 2 * max(bytes, 255) + 1 }

    /// Writes a field, with quotes if it needs them, and returns the number of bytes.
    ///
    /// - Parameters:
    ///   - isKey: Whether the field is a token, and stays as it is if it may be the id of a channel, which may begin with `+`.
    ///   - out: Room for ``most(_:)`` bytes.
    package static func write(
        _ field: UnsafeRawBufferPointer, isKey: Bool = false, to out: UnsafeMutablePointer<UInt8>
    ) -> Int {
        guard unsafe isAltered(field), !(unsafe isKey && isChannelID(field)) else {
            return unsafe CSVField.write(field, delimiter: Byte.comma, to: out)
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: contentMost(field.count)) { room in
            var content = unsafe Content(room)
            unsafe content.append(Byte.apostrophe)
            unsafe forEachPart(of: field) { unsafe content.append($0) }
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(room)[..<content.count])
            return unsafe CSVField.write(bytes, delimiter: Byte.comma, to: out)
        }
    }

    /// Appends a field, with quotes if it needs them.
    package static func append(_ field: UnsafeRawBufferPointer, isKey: Bool = false, to bytes: inout [UInt8]) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most(field.count)) { room in
            let count = unsafe write(field, isKey: isKey, to: room.baseAddress!)
            unsafe bytes.append(contentsOf: room[..<count])
        }
    }

    /// Appends a text likewise.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { unsafe append(UnsafeRawBufferPointer($0), to: &bytes) }
    }
}
