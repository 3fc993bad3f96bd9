@testable import APNSBatchRows

extension Reading {
    /// The rows as tables of cases write them. A valid row is `row@line a|b`, and an invalid row with one complete
    /// field `a` is `row@line a! line:column:field cause`. Line ends are written as \n and \r, and NUL as \0.
    var lines: [String] {
        if let failure { return rows.map(\.text) + ["\(failure)"] }
        return rows.map(\.text)
    }
}

extension ReadRow {
    var text: String {
        let shown = fields.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|")
        let escaped = shown.unicodeScalars.map { scalar in
            switch scalar {
            case "\n": "\\n"
            case "\r": "\\r"
            case "\0": "\\0"
            default: String(scalar)
            }
        }.joined()
        guard let error else { return "\(row)@\(line) \(escaped)" }
        return "\(row)@\(line) \(escaped)! \(error.line):\(error.column):\(error.field) \(error.cause)"
    }
}
