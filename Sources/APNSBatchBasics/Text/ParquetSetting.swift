/// The setting of a campaign file that reads Parquet.
package enum ParquetSetting {
    /// Returns the setting for a file or an URL, as a line to copy. The function states the format of the file: DuckDB goes by the end of the
    /// name otherwise, and a file that was taken for CSV has such a name.
    package static func line(_ path: String) -> String {
        // In SQL a quote inside of quotes is doubled.
        let query = "FROM read_parquet('\(path.replacing("'", with: "''"))')"
        return "input_query: { engine: duckdb, query: \(query.yamlQuoted) }"
    }
}

extension String {
    /// The text in double quotes of YAML. What cannot be seen is an escape (YAML 1.2.2, section 5.7).
    fileprivate var yamlQuoted: String { "\"" + unicodeScalars.map(\.inYAMLQuotes).joined() + "\"" }
}

extension Unicode.Scalar {
    fileprivate var inYAMLQuotes: String {
        if self == "\"" || self == "\\" { return "\\\(self)" }
        let text = String(self)
        guard Printable.visible(text) != text else { return text }
        let digits = String(value, radix: 16, uppercase: true)
        return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
    }
}
