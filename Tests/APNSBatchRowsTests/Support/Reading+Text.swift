@testable import APNSBatchRows

extension Reading {
    /// The rows as a table of cases writes them: `row@line a|b` for a good row,
    /// `row@line a! line:column:field cause` for a bad one with one complete field `a`. Line ends show as \n and \r,
    /// a NUL as \0.
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
