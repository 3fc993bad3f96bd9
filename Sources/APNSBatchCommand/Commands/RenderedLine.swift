import APNSBatch

/// Formats a row as one JSON object on a line, with the keys `headers`, `invalid`, `path`, `payload` and `row`. It uses no
/// encoder, because that would take longer than rendering the row.
enum RenderedLine {
    static func json(_ row: CampaignPreview.Row) -> String {
        var line: [UInt8] = []
        line.reserveCapacity(row.payload.count + row.payload.count / 4 + 512)
        line += "{".utf8
        if let invalid = row.invalid {
            line += #""invalid":"#.utf8
            put(invalid.utf8, to: &line)
        } else {
            line += #""headers":{"#.utf8
            putHeaders(row.headers, to: &line)
            line += #"},"path":"#.utf8
            put(row.path.utf8, to: &line)
            line += #","payload":"#.utf8
            put(row.payload, to: &line)
        }
        line += #","row":"#.utf8
        line += String(row.row).utf8
        line += "}".utf8
        return String(decoding: line, as: UTF8.self)
    }

    private static func putHeaders(_ headers: [(name: String, value: String)], to line: inout [UInt8]) {
        for (index, header) in headers.sorted(by: { $0.name < $1.name }).enumerated() {
            if index > 0 { line += ",".utf8 }
            put(header.name.utf8, to: &line)
            line += ":".utf8
            put(header.value.utf8, to: &line)
        }
    }

    /// Appends a quoted and escaped string.
    private static func put(_ text: some Sequence<UInt8>, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): line += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                line += (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8
                line += String(byte, radix: 16).utf8
            default: line.append(byte)
            }
        }
        line.append(UInt8(ascii: "\""))
    }
}
