import APNSBatchBasics

/// Lines of an input that are given back to be corrected: each has the number of its row and a reason in front of its own bytes, which stay as
/// they are. A fault of the line, such as an unpaired quote, does not affect what is in front of it.
package struct ReturnedLines: Sendable {
    /// The column, or the key of NDJSON, of the row's number.
    package static let rowColumn = "not_sent_row"
    /// That of the reason.
    package static let reasonColumn = "not_sent_reason"
    /// The key that has, as text, a line of NDJSON that is no object.
    package static let lineKey = "not_sent_line"

    private let format: RowFormat

    package init(_ format: RowFormat) { self.format = format }

    /// The ending of the name of a file with such lines.
    package var fileExtension: String {
        switch format {
        case .csv: "csv"
        case .ndjson: "ndjson"
        }
    }

    /// Returns the header row; nothing for NDJSON. Columns of the input that have the names of the two in front get other names.
    package func header(_ columns: [String]) -> [UInt8] {
        guard case .csv(let dialect) = format else { return [] }
        var names = [Self.rowColumn, Self.reasonColumn]
        for column in columns { names.append(Self.free(column, beside: names + columns)) }
        var line: [UInt8] = []
        for (index, name) in names.enumerated() {
            if index > 0 { line.append(dialect.delimiter) }
            Self.append(field: Array(name.utf8), dialect, to: &line)
        }
        return line + [Byte.lineFeed]
    }

    /// Returns the name of a column, with a number after it if the two columns in front have that name.
    private static func free(_ name: String, beside names: [String]) -> String {
        guard name == rowColumn || name == reasonColumn else { return name }
        var number = 1
        while names.contains("\(name)_\(number)") { number += 1 }
        return "\(name)_\(number)"
    }

    /// Whether a column is one of those in front of a line, also of a line that was given back more than once.
    package static func isOwn(_ column: String) -> Bool {
        column.hasPrefix(rowColumn) || column.hasPrefix(reasonColumn)
    }

    /// Appends the line of a row.
    ///
    /// - Parameters:
    ///   - record: The bytes of the row as they were read.
    ///   - row: The number of the row.
    ///   - reason: One line of text.
    package func append(_ record: UnsafeRawBufferPointer, row: UInt64, reason: String, to lines: inout [UInt8]) {
        var content = unsafe Array(record)
        if content.last == Byte.lineFeed { content.removeLast() }
        switch format {
        case .csv(let dialect):
            lines += Array("\(row)".utf8) + [dialect.delimiter]
            Self.append(field: Array(reason.utf8), dialect, to: &lines)
            lines.append(dialect.delimiter)
            lines += content
        case .ndjson:
            lines += Array(#"{"\#(Self.rowColumn)":\#(row),"\#(Self.reasonColumn)":"#.utf8)
            Self.append(text: reason, to: &lines)
            Self.append(members: content, to: &lines)
        }
        lines.append(Byte.lineFeed)
    }

    private static func append(field: [UInt8], _ dialect: CSVDialect, to line: inout [UInt8]) {
        if field.contains(Byte.backslash), dialect.escape == .backslash {
            let escaped = field.flatMap { $0 == Byte.backslash || $0 == Byte.quote ? [Byte.backslash, $0] : [$0] }
            line += [Byte.quote] + escaped + [Byte.quote]
            return
        }
        // At the end of a quoted field a backslash could be an escape.
        let isTelling = field.last == Byte.backslash && dialect.escape == .recognised
        let field = isTelling ? field + [UInt8(ascii: " ")] : field
        unsafe field.withUnsafeBytes { field in
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CSVField.most(field.count)) { room in
                let count = unsafe CSVField.write(field, delimiter: dialect.delimiter, to: room.baseAddress!)
                unsafe line.append(contentsOf: room[..<count])
            }
        }
    }

    /// Appends the text of an object after its brace; or all of a line that is no object, as a text.
    private static func append(members record: [UInt8], to line: inout [UInt8]) {
        let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t"), Byte.carriageReturn]
        let content = record.drop { blanks.contains($0) }
        guard content.first == UInt8(ascii: "{") else {
            line += Array(#","\#(lineKey)":"#.utf8)
            append(text: String(decoding: record, as: UTF8.self), to: &line)
            line.append(UInt8(ascii: "}"))
            return
        }
        let members = renamed(Array(content.dropFirst()))
        let isEmpty = members.first { !blanks.contains($0) } == UInt8(ascii: "}")
        if !isEmpty { line.append(UInt8(ascii: ",")) }
        line += members
    }

    /// Appends a string of JSON.
    private static func append(text: String, to line: inout [UInt8]) {
        line.append(Byte.quote)
        for byte in text.utf8 {
            switch byte {
            case Byte.quote, UInt8(ascii: "\\"): line += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                let digits = String(UInt64(byte) | 1 << 16, radix: 16).suffix(4)
                line += Array("\\u\(digits)".utf8)
            default: line.append(byte)
            }
        }
        line.append(Byte.quote)
    }

    /// Returns the members of an object, in which keys that are put in front of it have another name: a line may be given back more than once.
    private static func renamed(_ members: [UInt8]) -> [UInt8] {
        let names = [rowColumn, reasonColumn].map { Array($0.utf8) }
        var result: [UInt8] = []
        var (depth, isText, isEscaped, start) = (1, false, false, 0)
        for (index, byte) in members.enumerated() {
            if isText {
                if byte == Byte.quote, !isEscaped {
                    isText = false
                    let isKey =
                        depth == 1 && members[(index + 1)...].first { $0 > UInt8(ascii: " ") } == UInt8(ascii: ":")
                    if isKey, names.contains(Array(result[start...])) { result += Array("_1".utf8) }
                }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            } else {
                switch byte {
                case Byte.quote: (isText, isEscaped, start) = (true, false, result.count + 1)
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
            result.append(byte)
        }
        return result
    }
}
