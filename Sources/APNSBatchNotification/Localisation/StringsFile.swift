import APNSBatchBasics

/// A `Localizable.strings` file: the texts of an app in one language, by key.
///
///     /* A friend asks for a match. */
///     "GAME_PLAY_REQUEST_FORMAT" = "%@ and %@ have invited you to play";
///
/// Source: Apple, "Strings Files" in the Resource Programming Guide. The encoding is UTF-8, or UTF-16 with a byte order
/// mark. Property lists, to which Xcode converts these files when it builds an app, are recognised and rejected.
package struct StringsFile: Sendable {
    package private(set) var texts: [String: String] = [:]

    /// The fault of a file, with its position: `de.lproj/Localizable.strings:3:12: expected "=" after the key`.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let file: String
        /// Counted from 1; the column in characters (Unicode scalars).
        package let line: Int
        package let column: Int
        package let message: String

        package var description: String { "\(file):\(line):\(column): \(message)" }
    }

    package static let sizeLimit = 64 << 20

    /// - Parameter name: the name of the file in messages.
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

/// Parses the `key = value;` pairs of a strings file. Keys and values are quoted strings, or words of letters, digits and
/// `_ . - $ / :`. A key without a value is its own value.
struct StringsParser {
    struct Fault: Error {
        let message: String
    }

    private let text: String.UnicodeScalarView
    private var index: String.UnicodeScalarView.Index
    /// The position of the parser, or of a fault, counted from 1.
    private(set) var line = 1
    private(set) var column = 1

    init(_ text: String.UnicodeScalarView) {
        self.text = text
        index = text.startIndex
    }

    /// Returns the next pair; nil at the end.
    mutating func next() throws(Fault) -> (key: String, value: String)? {
        try skipBlanks()
        guard peek != nil else { return nil }
        let key = try word("a key")
        try skipBlanks()
        var value = key
        if peek == "=" {
            advance()
            try skipBlanks()
            value = try word("a text")
            try skipBlanks()
        } else if peek != ";" {
            throw Fault(message: "expected \"=\" after the key")
        }
        guard peek == ";" else { throw Fault(message: "expected \";\" after the text") }
        advance()
        return (key, value)
    }

    private var peek: Unicode.Scalar? { index < text.endIndex ? text[index] : nil }

    private var peekSecond: Unicode.Scalar? {
        guard index < text.endIndex else { return nil }
        let second = text.index(after: index)
        return second < text.endIndex ? text[second] : nil
    }

    private mutating func advance() {
        if text[index] == "\n" {
            line += 1
            column = 1
        } else {
            column += 1
        }
        index = text.index(after: index)
    }

    private mutating func skipBlanks() throws(Fault) {
        while let scalar = peek {
            if scalar.properties.isWhitespace {
                advance()
            } else if scalar == "/" && peekSecond == "/" {
                while let scalar = peek, scalar != "\n" { advance() }
            } else if scalar == "/" && peekSecond == "*" {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(Fault) {
        let (startLine, startColumn) = (line, column)
        advance()
        advance()
        while let scalar = peek {
            let ends = scalar == "*" && peekSecond == "/"
            advance()
            if ends {
                advance()
                return
            }
        }
        (line, column) = (startLine, startColumn)
        throw Fault(message: "this comment is never closed")
    }

    private mutating func word(_ what: String) throws(Fault) -> String {
        if peek == "\"" { return try quoted() }
        var word = String.UnicodeScalarView()
        while let scalar = peek, Self.isWordScalar(scalar) {
            word.append(scalar)
            advance()
        }
        if word.isEmpty {
            let found = peek.map { String($0).quoted } ?? "the end"
            throw Fault(message: "expected \(what) in quotes, found \(found)")
        }
        return String(word)
    }

    private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "-", "$", "/", ":": true
        default: false
        }
    }

    private mutating func quoted() throws(Fault) -> String {
        let (startLine, startColumn) = (line, column)
        advance()
        var units: [UInt16] = []
        while let scalar = peek {
            advance()
            switch scalar {
            case "\"": return String(decoding: units, as: UTF16.self)
            case "\\": units += try escape()
            default: units += Array(String(scalar).utf16)
            }
        }
        (line, column) = (startLine, startColumn)
        throw Fault(message: "this text is never closed")
    }

    /// Reads an escape after its backslash. `\U` and four hex digits are a UTF-16 code unit; two of them may form a
    /// character.
    private mutating func escape() throws(Fault) -> [UInt16] {
        guard let scalar = peek else { throw Fault(message: "this text is never closed") }
        advance()
        switch scalar {
        case "n": return [0x0A]
        case "r": return [0x0D]
        case "t": return [0x09]
        case "U", "u": return [try hexUnit()]
        default: return Array(String(scalar).utf16)
        }
    }

    private mutating func hexUnit() throws(Fault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap({ Character($0).hexDigitValue }) else {
                throw Fault(message: "expected four hex digits after \\U")
            }
            unit = unit << 4 | UInt16(digit)
            advance()
        }
        return unit
    }
}
