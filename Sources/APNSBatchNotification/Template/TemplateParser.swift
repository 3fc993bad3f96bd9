/// Parses the text of a template into a tree of ``TemplateNode``.
@safe struct TemplateParser {
    typealias Fault = TemplateStringParser.Fault

    private var scanner: JSONScanner
    private let text: UnsafeRawBufferPointer
    private let columns: [String]
    /// The keys on the way to the value that is read.
    private var path: [[UInt8]] = []

    /// - Parameter text: borrowed for the lifetime of the parser.
    private init(_ text: UnsafeRawBufferPointer, columns: [String]) {
        scanner = unsafe JSONScanner(text, top: .object)
        unsafe self.text = unsafe text
        self.columns = columns
    }

    /// Returns the text without a byte order mark.
    static func withoutMark(_ json: [UInt8]) -> [UInt8] {
        json.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(json.dropFirst(3)) : json
    }

    /// - Parameter json: the template's text, without a byte order mark.
    static func parse(_ json: [UInt8], columns: [String], file: String) throws(TemplateError) -> TemplateNode {
        do throws(Fault) {
            return try unsafe json.withUnsafeBufferPointer { (buffer) throws(Fault) in
                let text = UnsafeRawBufferPointer(buffer)
                if text.count > PayloadTemplate.sizeLimit { throw Fault(cause: .tooLarge, offset: 0) }
                var parser = unsafe TemplateParser(text, columns: columns)
                return try parser.parse()
            }
        } catch {
            throw Self.error(error, in: json, file: file)
        }
    }

    /// Converts a fault to an error with a place in the template's text.
    static func error(_ fault: Fault, in json: [UInt8], file: String) -> TemplateError {
        let place = TextPlace(offset: fault.offset, in: json)
        return TemplateError(file: file, line: place.line, column: place.column, cause: fault.cause)
    }

    private mutating func parse() throws(Fault) -> TemplateNode {
        let node = try value(next())
        _ = try next()
        return node
    }

    private mutating func next() throws(Fault) -> JSONScanner.Token {
        let token = scanner.next()
        guard token == .fault else { return token }
        let at = scanner.faultOffset
        if scanner.fault == .expectedKey, at > 0, unsafe text[at] == UInt8(ascii: "{"),
            unsafe text[at - 1] == UInt8(ascii: "{")
        {
            throw Fault(cause: .unquotedPlaceholder, offset: at - 1)
        }
        let message = unsafe scanner.fault.message(in: text, at: scanner.faultOffset)
        throw Fault(cause: .json(scanner.fault, message), offset: scanner.faultOffset)
    }

    /// Parses the value that begins with a token. Recursion is no deeper than the scanner's limit.
    private mutating func value(_ token: JSONScanner.Token) throws(Fault) -> TemplateNode {
        let offset = scanner.tokenStart
        switch token {
        case .objectStart:
            let depth = scanner.depth - 1
            return TemplateNode(offset: offset, depth: depth, value: .object(try members()))
        case .arrayStart:
            let depth = scanner.depth - 1
            return TemplateNode(offset: offset, depth: depth, value: .array(try elements()))
        case .string:
            return TemplateNode(offset: offset - 1, depth: scanner.depth, value: try string())
        default:
            let bytes = unsafe Array(text[offset..<(offset + scanner.tokenCount)])
            return TemplateNode(offset: offset, depth: scanner.depth, value: .scalar(bytes))
        }
    }

    private mutating func members() throws(Fault) -> [TemplateMember] {
        var members: [TemplateMember] = []
        var names: Set<[UInt8]> = []
        while try next() == .key {
            let offset = scanner.tokenStart - 1
            let key = try key()
            guard names.insert(key).inserted else {
                throw Fault(cause: .duplicateKey(String(decoding: key, as: UTF8.self)), offset: offset)
            }
            path.append(key)
            members.append(TemplateMember(key: key, offset: offset, node: try value(next())))
            path.removeLast()
        }
        return members
    }

    private mutating func elements() throws(Fault) -> [TemplateNode] {
        var elements: [TemplateNode] = []
        while true {
            let token = try next()
            if token == .arrayEnd { return elements }
            elements.append(try value(token))
        }
    }

    /// Parses a key, which is text only. Braces are doubled in it, as in other strings.
    private func key() throws(Fault) -> [UInt8] {
        let string = TemplateString(scanner)
        var key: [UInt8] = []
        for piece in try TemplateStringParser.pieces(of: string, columns: columns, isShown: false) {
            guard case .text(let text) = piece else {
                throw Fault(cause: .placeholderInKey, offset: scanner.tokenStart - 1)
            }
            key += text
        }
        return key
    }

    /// Whether people read the strings at this place.
    private var isShown: Bool { path.count >= 2 && path[0] == Array("aps".utf8) && path[1] == Array("alert".utf8) }

    private func string() throws(Fault) -> TemplateNode.Value {
        let pieces = try TemplateStringParser.pieces(
            of: TemplateString(scanner), columns: columns, isShown: isShown)
        if pieces.count == 1, case .placeholder(let placeholder) = pieces[0], placeholder.type != .text {
            do throws(TemplateError.Cause) {
                return .field(try placeholder.withShortestDefault(depth: scanner.depth))
            } catch {
                throw Fault(cause: error, offset: scanner.tokenStart)
            }
        }
        for case .placeholder(let placeholder) in pieces where placeholder.type != .text {
            throw Fault(cause: .typedInText(placeholder.type), offset: scanner.tokenStart - 1)
        }
        return .string(pieces)
    }
}
