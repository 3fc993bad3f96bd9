/// A `Localizable.strings` file: the texts of an app in one language, by key.
///
///     /* A friend asks for a match. */
///     "GAME_PLAY_REQUEST_FORMAT" = "%@ and %@ have invited you to play";
///
/// Source: Apple, "Strings Files" in the Resource Programming Guide. UTF-8, or UTF-16 with its byte order mark. Property
/// lists, which Xcode makes of these files when it builds an app, are told apart and refused.
package struct StringsFile: Sendable {
    package private(set) var texts: [String: String] = [:]

    /// What is wrong with a file, with its place: `de.lproj/Localizable.strings:3:12: expected "=" after the key`.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let file: String
        /// Counted from 1; the column in characters (Unicode scalars).
        package let line: Int
        package let column: Int
        package let message: String

        package var description: String { "\(file):\(line):\(column): \(message)" }
    }

    /// The largest file in bytes.
    package static let sizeLimit = 64 << 20

    /// - Parameter name: what errors call the file.
    package init(_ bytes: [UInt8], name: String) throws(Fault) {
        let text = try Self.decode(bytes, name: name)
        var parser = StringsParser(text)
        do throws(StringsParser.Fault) {
            while let (key, value) = try parser.next() { texts[key] = value }
        } catch {
            throw Fault(file: name, line: parser.line, column: parser.column, message: error.message)
        }
    }

    private static func decode(_ bytes: [UInt8], name: String) throws(Fault) -> String.UnicodeScalarView {
        func fault(_ message: String) -> Fault { Fault(file: name, line: 1, column: 1, message: message) }
        if bytes.count > sizeLimit { throw fault("larger than \(sizeLimit) bytes") }
        if bytes.starts(with: Array("bplist".utf8)) || bytes.starts(with: Array("<?xml".utf8)) {
            throw fault("a property list, as in a built app; give the source file that it was made of")
        }
        let text: String? =
            switch (bytes.first, bytes.dropFirst().first) {
            case (0xFF, 0xFE): utf16(bytes) { low, high in UInt16(low) | UInt16(high) << 8 }
            case (0xFE, 0xFF): utf16(bytes) { high, low in UInt16(low) | UInt16(high) << 8 }
            default:
                String(
                    validating: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
            }
        guard let text else { throw fault("neither UTF-8 nor UTF-16 with a byte order mark") }
        return text.unicodeScalars
    }

    private static func utf16(_ bytes: [UInt8], _ unit: (UInt8, UInt8) -> UInt16) -> String? {
        guard bytes.count % 2 == 0 else { return nil }
        let units = stride(from: 2, to: bytes.count, by: 2).map { unit(bytes[$0], bytes[$0 + 1]) }
        return String(validating: units, as: UTF16.self)
    }
}
