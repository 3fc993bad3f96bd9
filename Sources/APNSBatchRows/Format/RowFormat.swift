/// The format of an input: how its bytes are split into rows and fields. A new format is a case here, and a folder beside
/// `CSV` with its splitter and its parser, for which the compiler asks at each `switch` of `FormatFunctions.swift`.
///
/// The compiler does not ask for the causes of `RowError`, and for the first record, which `readFirst` takes from the rows. Outside of
/// this module the format of a campaign is `Campaign.inputFormat` and `Campaign.delimiter`.
///
/// In all formats records end in LF or CR LF, and blank lines are not records.
package enum RowFormat: Sendable, Equatable {
    case csv(CSVDialect)
    /// One JSON object on each line (RFC 8259). There is no header row: the columns are the keys that the campaign uses.
    case ndjson
}

/// The format of an input, or the way to find it.
package struct FormatChoice: Sendable {
    private let format: RowFormat
    private let isFixed: Bool
    /// Returns the columns of an input without a header row. No path is the beginning of another one, but two may be equal.
    let columns: @Sendable () -> [JSONColumn]

    package static func csv(_ dialect: CSVDialect) -> FormatChoice { FormatChoice(.csv(dialect)) }

    /// - Parameter columns: the columns, unless a header row has them.
    package init(_ format: RowFormat, wanted columns: @autoclosure @escaping @Sendable () -> [JSONColumn] = []) {
        (self.format, isFixed, self.columns) = (format, true, columns)
    }

    /// - Parameter columns: the names of the columns, which are keys, unless a header row has them.
    package init(_ format: RowFormat, columns: @autoclosure @escaping @Sendable () -> [String]) {
        self.init(format, wanted: columns().map { JSONColumn($0) })
    }

    /// NDJSON by the input's name or its first byte, else CSV.
    ///
    /// - Parameters:
    ///   - name: the name of the input.
    ///   - columns: the columns, unless a header row has them.
    package init(
        of name: String, orCSV dialect: CSVDialect, wanted columns: @autoclosure @escaping @Sendable () -> [JSONColumn]
    ) {
        (format, isFixed) = Self.isNDJSON(name) ? (.ndjson, true) : (.csv(dialect), false)
        self.columns = columns
    }

    /// - Parameter columns: the names of the columns, which are keys, unless a header row has them.
    package init(of name: String, orCSV dialect: CSVDialect, columns: @autoclosure @escaping @Sendable () -> [String]) {
        self.init(of: name, orCSV: dialect, wanted: columns().map { JSONColumn($0) })
    }

    private static func isNDJSON(_ name: String) -> Bool {
        let packing = [".gz", ".zst"].first { name.hasSuffix($0) } ?? ""
        return [".ndjson", ".jsonl"].contains { name.dropLast(packing.count).hasSuffix($0) }
    }

    /// Returns the format of an input; nil if more bytes must be known.
    ///
    /// - Parameters:
    ///   - start: its first bytes, without a byte order mark.
    ///   - isEnough: whether there are no more, or no more are looked at.
    func format(of start: some Sequence<UInt8>, isEnough: Bool) -> RowFormat? {
        if isFixed { return format }
        let blanks = Array(" \t\r\n".utf8)
        guard let first = start.first(where: { !blanks.contains($0) }) else { return isEnough ? format : nil }
        return first == UInt8(ascii: "{") ? .ndjson : format
    }
}
