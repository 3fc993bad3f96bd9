import APNSBatchBasics

/// The format of an input that is not rows in UTF-8, recognised by its first bytes.
package enum ForeignFormat: Equatable, Sendable {
    case utf16, gzip, zstd, xz, bzip2
    /// A ZIP archive, such as an Excel workbook (.xlsx).
    case zip
    /// An Excel workbook in the format used before 2007 (.xls).
    case xls
    /// Columnar files, rows of Avro, and a database.
    case parquet, avro, arrow, orc, sqlite
    /// All rows are one JSON array.
    case jsonArray
    /// The first line is Excel's `sep=;`, with this byte as the delimiter.
    case separatorLine(UInt8)
    /// Lines end in CR alone, as on Macs before 2001.
    case carriageReturns

    /// The number of first bytes that `find` needs.
    static let bytesWanted = 16

    private static let marks: [(ForeignFormat, [UInt8])] = [
        (.utf16, [0xFF, 0xFE]), (.utf16, [0xFE, 0xFF]), (.gzip, [0x1F, 0x8B]), (.zstd, [0x28, 0xB5, 0x2F, 0xFD]),
        (.xz, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]), (.bzip2, Array("BZh".utf8)), (.zip, [0x50, 0x4B, 0x03, 0x04]),
        (.xls, [0xD0, 0xCF, 0x11, 0xE0]), (.avro, Array("Obj\u{1}".utf8)), (.sqlite, Array("SQLite format 3\0".utf8)),
    ]

    /// Marks with which a header row may begin, too. Binary bytes follow them.
    private static let words: [(ForeignFormat, [UInt8])] = [
        (.parquet, Array("PAR1".utf8)), (.arrow, Array("ARROW1".utf8)), (.orc, Array("ORC".utf8)),
    ]

    /// Returns the format of an input, or nil if it is none of these.
    ///
    /// - Parameter start: the first ``bytesWanted`` bytes of the input, or all if there are fewer, without the byte order
    ///   mark of UTF-8.
    static func find(_ start: [UInt8]) -> ForeignFormat? {
        if let mark = marks.first(where: { start.starts(with: $0.1) }) { return mark.0 }
        if isWide(start) { return .utf16 }
        if let word = words.first(where: { start.starts(with: $0.1) }), start.contains(where: isBinary) {
            return word.0
        }
        if isArray(start) { return .jsonArray }
        guard start.count >= 6, start.prefix(4).elementsEqual("sep=".utf8) else { return nil }
        return start[5] == Byte.lineFeed || start[5] == Byte.carriageReturn ? .separatorLine(start[4]) : nil
    }

    /// Whether the bytes are UTF-16 without a byte order mark: every other byte of ASCII text is NUL.
    private static func isWide(_ start: [UInt8]) -> Bool {
        guard start.count >= 4 else { return false }
        let zeros = start.prefix(4).map { $0 == 0 }
        return zeros == [false, true, false, true] || zeros == [true, false, true, false]
    }

    /// Whether no text has the byte.
    private static func isBinary(_ byte: UInt8) -> Bool {
        byte < 0x20 && ![Byte.lineFeed, Byte.carriageReturn, UInt8(ascii: "\t")].contains(byte)
    }

    /// Whether the bytes begin a JSON array of objects, of arrays or of nothing.
    private static func isArray(_ start: [UInt8]) -> Bool {
        let text = start.drop(while: isBlank)
        guard text.first == UInt8(ascii: "[") else { return false }
        guard let next = text.dropFirst().first(where: { !isBlank($0) }) else { return true }
        return "{[]".utf8.contains(next)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { " \t\r\n".utf8.contains(byte) }

    /// Whether a header row contains a CR outside of quotes that is not part of a line end.
    static func hasBareReturn(_ record: ArraySlice<UInt8>) -> Bool {
        var isQuoted = false
        for (index, byte) in record.enumerated() {
            if byte == Byte.quote { isQuoted.toggle() }
            guard byte == Byte.carriageReturn, !isQuoted else { continue }
            if index + 1 < record.count, record[index + 1] != Byte.lineFeed { return true }
        }
        return false
    }
}

extension ForeignFormat {
    /// The format and what to do about it, as a sentence without a full stop.
    ///
    /// - Parameter path: the path of the input, or nil for standard input.
    func message(path: String?) -> String {
        let file = path.map(Self.quoted) ?? "rows.csv"
        switch self {
        case .utf16:
            return "this is UTF-16: save it as CSV UTF-8, or run iconv -f UTF-16 -t UTF-8 \(file) > utf8.csv"
        case .gzip: return "this is gzip inside of gzip or zstd: unpack it once"
        case .zstd: return "this is zstd inside of gzip or zstd: unpack it once"
        case .xz: return packed("xz", by: "xzcat", path)
        case .bzip2: return packed("bzip2", by: "bzcat", path)
        case .zip: return "this is a ZIP archive or an Excel workbook (.xlsx): unpack it, or save it as CSV UTF-8"
        case .xls: return "this is an Excel workbook (.xls): save it as CSV UTF-8"
        case .parquet:
            return "this is Parquet: write \(ParquetSetting.line(path ?? "rows.parquet"))"
        case .avro: return "this is Avro: run avro-tools tojson \(path.map(Self.quoted) ?? "rows.avro") > rows.ndjson"
        case .arrow: return "this is Arrow: run \(Self.pyarrow("feather", path ?? "rows.arrow"))"
        case .orc: return "this is ORC: run \(Self.pyarrow("orc", path ?? "rows.orc"))"
        case .sqlite:
            let file = path.map(Self.quoted) ?? "rows.db"
            return
                "this is an SQLite database: run sqlite3 -header -csv \(file) 'SELECT token, name FROM users' > rows.csv"
        case .jsonArray:
            return "this is a JSON array, and each row must be a line: run \(Self.jq(path)) > rows.ndjson"
        case .separatorLine(let byte):
            let delimiter = byte == UInt8(ascii: "\t") ? "tab" : "'\(Character(Unicode.Scalar(byte)))'"
            return
                "the first line is Excel's \"sep=\", not the header row: remove it and give the delimiter \(delimiter)"
        case .carriageReturns:
            return "lines end in CR alone, as on old Macs: run tr '\\r' '\\n' < \(file) > lines.csv"
        }
    }

    private func packed(_ name: String, by command: String, _ path: String?) -> String {
        guard let path else { return "this is \(name): unpack it with \(command) before the pipe" }
        return "this is \(name): unpack it, or run \(command) \(Self.quoted(path)) | apns-batch send … --input -"
    }

    private static func pyarrow(_ module: String, _ path: String) -> String {
        "python3 -c 'import sys, pyarrow.\(module) as f, pyarrow.csv as c; "
            + "c.write_csv(f.read_table(sys.argv[1]), \"rows.csv\")' \(quoted(path))"
    }

    private static func jq(_ path: String?) -> String {
        let file = path.map(quoted) ?? "rows.json"
        if file.hasSuffix(".gz") { return "zcat \(file) | jq -c '.[]'" }
        return file.hasSuffix(".zst") ? "zstdcat \(file) | jq -c '.[]'" : "jq -c '.[]' \(file)"
    }

    /// Returns the path, quoted for a shell if necessary.
    private static func quoted(_ path: String) -> String {
        isPlain(path)
            ? path : "'\(path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }

    private static func isPlain(_ path: String) -> Bool {
        path.allSatisfy { $0.isLetter || $0.isNumber || "._-/+,:".contains($0) }
    }
}
