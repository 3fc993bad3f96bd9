/// A string in a template without its escapes, with the place of each byte in the template.
struct TemplateString {
    private(set) var bytes: [UInt8] = []
    /// For each byte, and for the end, its offset in the template.
    private(set) var offsets: [Int] = []

    /// - Parameter scanner: a scanner whose last token is a string or key.
    init(_ scanner: JSONScanner) {
        var index = scanner.tokenStart
        let end = index + scanner.tokenCount
        while index < end {
            let place = index
            if unsafe scanner.bytes[index] == UInt8(ascii: "\\"),
                case .scalar(let value, let length) = unsafe JSONEscape.read(
                    scanner.bytes + index, available: end - index),
                let scalar = Unicode.Scalar(value)
            {
                bytes += UTF8.encode(scalar)!
                index += length
            } else {
                unsafe bytes.append(scanner.bytes[index])
                index += 1
            }
            while offsets.count < bytes.count { offsets.append(place) }
        }
        offsets.append(end)
    }

    /// Creates a string from text that is not JSON, in which every byte stands for itself.
    init(text: String) {
        bytes = Array(text.utf8)
        offsets = Array(0...bytes.count)
    }
}

/// Splits a string into text and placeholders.
///
/// Placeholders are recognised in the string's value: an escaped brace is a brace, so that a template keeps its meaning
/// when another program reads and writes it as JSON.
struct TemplateStringParser {
    let string: TemplateString
    let columns: [String]
    private let isShown: Bool
    private var index = 0
    private var text: [UInt8] = []
    private var pieces: [TemplatePiece] = []

    /// A cause, and its offset in the template.
    struct Fault: Error {
        let cause: TemplateError.Cause
        let offset: Int
    }

    private init(_ string: TemplateString, columns: [String], isShown: Bool) {
        self.string = string
        self.columns = columns
        self.isShown = isShown
    }

    /// - Parameter isShown: Whether people read the text, so that marks of other template languages in it are a fault.
    static func pieces(
        of string: TemplateString, columns: [String], isShown: Bool
    ) throws(Fault) -> [TemplatePiece] {
        var parser = TemplateStringParser(string, columns: columns, isShown: isShown)
        if let find = ForeignScan(bytes: string.bytes, columns: columns, isShown: isShown).first(certain: true) {
            throw parser.fault(.foreign(find.syntax), at: find.offset)
        }
        return try parser.parse()
    }

    private mutating func parse() throws(Fault) -> [TemplatePiece] {
        while index < string.bytes.count {
            let byte = string.bytes[index]
            if byte == UInt8(ascii: "{"), run(of: byte) >= 2 {
                try openBraces()
            } else if byte == UInt8(ascii: "}"), run(of: byte) >= 2 {
                try closeBraces()
            } else {
                text.append(byte)
                index += 1
            }
        }
        flushText()
        return pieces
    }

    /// Four opening braces stand for two; two begin a placeholder.
    private mutating func openBraces() throws(Fault) {
        switch run(of: UInt8(ascii: "{")) {
        case 4...:
            text += [UInt8(ascii: "{"), UInt8(ascii: "{")]
            index += 4
        case 3: throw fault(.tripleBrace, at: index)
        default: try placeholder()
        }
    }

    private mutating func closeBraces() throws(Fault) {
        guard run(of: UInt8(ascii: "}")) >= 4 else { throw fault(.strayClose, at: index) }
        text += [UInt8(ascii: "}"), UInt8(ascii: "}")]
        index += 4
    }

    private mutating func placeholder() throws(Fault) {
        let start = index
        flushText()
        index = start + 2
        let content = try self.content(from: start)
        let text = byte(index) == UInt8(ascii: "|") ? try defaultText(from: start) : nil
        if let text, let foreign = foreign(content, default: text) { throw fault(.foreign(foreign), at: start) }
        do throws(TemplateError.Cause) {
            var placeholder = try Self.parseContent(content, columns: columns)
            try placeholder.take(text)
            pieces.append(.placeholder(placeholder))
        } catch {
            throw fault(foreign(content, for: error).map { .foreign($0) } ?? error, at: start)
        }
        index += 2
    }

    /// Returns what is certainly of another language after the bar of a placeholder.
    private func foreign(_ content: String, default text: [UInt8]) -> ForeignSyntax? {
        let found = ForeignFilters.find(
            name: ForeignSyntax.plainName(content), default: String(decoding: text, as: UTF8.self), isShown: isShown)
        if let found, found.certainty == .certain { return found.syntax }
        return ForeignScan(bytes: text, columns: columns, isShown: isShown).first(certain: true)?.syntax
    }

    /// Returns what is of another language in a placeholder that names no column or no type.
    private func foreign(_ content: String, for error: TemplateError.Cause) -> ForeignSyntax? {
        switch error {
        case .unknownColumn, .unknownType: ForeignSyntax.inPlaceholder(content, columns: columns)
        default: nil
        }
    }

    /// Reads name and type, up to the bar before a default or the closing braces. A doubled bar belongs to the name.
    private mutating func content(from start: Int) throws(Fault) -> String {
        var content: [UInt8] = []
        while !closes {
            guard let next = byte(index) else { throw fault(.unclosedPlaceholder, at: start) }
            if next == UInt8(ascii: "|") {
                guard byte(index + 1) == next else { break }
                index += 1
            }
            content.append(next)
            index += 1
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Reads the default between the bar and the closing braces, without blanks around it. Four braces stand for two.
    private mutating func defaultText(from start: Int) throws(Fault) -> [UInt8] {
        index += 1
        var text: [UInt8] = []
        while let next = byte(index) {
            let braces = next == UInt8(ascii: "{") || next == UInt8(ascii: "}") ? run(of: next) : 0
            if braces >= 4 {
                text += [next, next]
                index += 4
            } else if braces >= 2 {
                guard next == UInt8(ascii: "}") else { throw fault(.placeholderInDefault, at: index) }
                return Self.trimmed(text[...])
            } else {
                text.append(next)
                index += 1
            }
        }
        throw fault(.unclosedPlaceholder, at: start)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let blank = UInt8(ascii: " ")
        return Array(text.drop { $0 == blank }.reversed().drop { $0 == blank }.reversed())
    }

    private var closes: Bool { byte(index) == UInt8(ascii: "}") && byte(index + 1) == UInt8(ascii: "}") }

    /// Parses `name`, `name:type`, `name?` or `name:type?`. The type follows the last colon, so that `{{a:b:text}}` reads
    /// column `a:b` and `{{really?:text}}` column `really?`. Blanks around name and type are ignored.
    static func parseContent(
        _ content: String, columns: [String]
    ) throws(TemplateError.Cause) -> TemplatePlaceholder {
        var rest = trimmed(content[...])
        let isOptional = rest.last == "?"
        if isOptional { rest = trimmed(rest.dropLast()) }
        var type = FieldType.text
        if let colon = rest.lastIndex(of: ":") {
            let name = trimmed(rest[rest.index(after: colon)...])
            guard let known = FieldType(rawValue: String(name)) else { throw .unknownType(String(name)) }
            type = known
            rest = trimmed(rest[..<colon])
        }
        if rest.isEmpty { throw .missingName }
        // By bytes, because the names in the input's header are also compared byte by byte.
        guard let column = columns.firstIndex(where: { $0.utf8.elementsEqual(rest.utf8) }) else {
            throw .unknownColumn(String(rest), known: columns)
        }
        return TemplatePlaceholder(column: column, type: type, isOptional: isOptional)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }

    private func byte(_ index: Int) -> UInt8? { index < string.bytes.count ? string.bytes[index] : nil }

    private func run(of byte: UInt8) -> Int {
        var end = index
        while self.byte(end) == byte { end += 1 }
        return end - index
    }

    private mutating func flushText() {
        if !text.isEmpty { pieces.append(.text(text)) }
        text = []
    }

    private func fault(_ cause: TemplateError.Cause, at index: Int) -> Fault {
        Fault(cause: cause, offset: string.offsets[index])
    }
}
