/// How the values of a type are written into the CSV of an input, so that nothing has to be guessed from their text.
enum ColumnForm: Equatable {
    /// As PostgreSQL prints them.
    case printed
    /// Booleans: `true` and `false`, and not `t` and `f`.
    case boolean
    /// Bytes: hexadecimal digits without `\x`, which is what a device token is.
    case hexadecimal
    /// Arrays, rows of tables and records: JSON, which a template can insert.
    case json
    /// Intervals, whose text depends on a setting of the session, and which are neither seconds nor a time.
    case refused

    /// - Parameters:
    ///   - type: The OID of the type. PostgreSQL, `src/include/catalog/pg_type.dat`.
    ///   - category: Its category. PostgreSQL, "pg_type".
    init(type: UInt32, category: String) {
        self =
            switch (type, category) {
            case (16, _): .boolean
            case (17, _): .hexadecimal
            case (1186, _): .refused
            case (_, "A"), (_, "C"), (2249, _), (2287, _): .json
            default: .printed
            }
    }

    /// Returns the expression that makes the text of a value.
    func expression(of value: String) -> String {
        switch self {
        case .printed, .refused: value
        case .boolean: "\(value)::pg_catalog.text"
        case .hexadecimal: "pg_catalog.encode(\(value), 'hex')"
        case .json: "pg_catalog.to_json(\(value))"
        }
    }
}
