/// What programs write where quotes are not doubled, byte by byte.
enum Writer: CaseIterable {
    /// Spark and its library: quotes and backslashes are escaped in fields that are quoted.
    case spark
    /// `SELECT … INTO OUTFILE … FIELDS TERMINATED BY ',' ENCLOSED BY '"'`: line ends are escaped, too.
    case mysql
    /// `to_csv(escapechar="\\", doublequote=False, quoting=csv.QUOTE_ALL)`.
    case pandas
    /// The same with doubled quotes, where backslashes are escaped nevertheless.
    case pandasDoubled

    func line(_ fields: [String]) -> [UInt8] {
        var line: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { line.append(44) }
            line += written(Array(field.utf8))
        }
        return line + [10]
    }

    private func written(_ field: [UInt8]) -> [UInt8] {
        if self == .spark, !field.contains(where: { [10, 13, 34, 44, 92].contains($0) }) { return field }
        return [34]
            + field.flatMap { byte -> [UInt8] in
                switch (self, byte) {
                case (.pandasDoubled, 34): [34, 34]
                case (_, 34), (_, 92), (.mysql, 10): [92, byte]
                default: [byte]
                }
            } + [34]
    }
}
