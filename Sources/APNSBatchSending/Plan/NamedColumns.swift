import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// The columns of an input by the names that a campaign uses, whose places ``Campaign/columns`` may give.
package struct NamedColumns: Sendable, Equatable {
    /// The names by the index of the field in a row: first the columns of the input, then further names of some of them.
    package private(set) var names: [String]
    /// For each further name, the index of the column of the input.
    package private(set) var copies: [Int] = []
    /// The columns of the input whose name stands for another one.
    private(set) var hidden: [String] = []

    /// - Parameter names: The names of the columns of the input, no two of which are equal.
    init(_ names: [String]) { self.names = names }

    /// What follows the name of such a column.
    static let ofInput = " (of the input)"

    /// The number of columns of the input.
    private var own: Int { names.count - copies.count }

    /// Returns the column of the input that a column is.
    func original(of column: Int) -> Int { column < own ? column : copies[column - own] }
}

// CSV.
extension NamedColumns {
    /// - Parameter header: The names in the header row.
    /// - Throws: A `configuration` error if a column that the campaign names is not there.
    init(header: [String], _ columns: [String: String], file: String) throws(CampaignError) {
        self.init(header)
        for (name, source) in columns.sorted(by: { $0.key < $1.key }) where !Self.equal(name, source) {
            guard let column = header.firstIndex(where: { Self.equal($0, source) }) else {
                throw ColumnSource.missing(source, of: name, in: "\(file) has no column", header)
            }
            if let place = header.firstIndex(where: { Self.equal($0, name) }) {
                hidden.append(name)
                names[place] = name + Self.ofInput
            }
            names.append(name)
            copies.append(column)
        }
    }

    /// Whether two names are the same bytes.
    fileprivate static func equal(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}

// NDJSON.
extension NamedColumns {
    /// - Parameter columns: The columns that the campaign can use; several of them may be found at one place.
    init(_ columns: [JSONColumn]) {
        let (unique, others) = JSONColumn.unique(columns)
        self.init(unique.map(\.name) + others.map(\.name))
        copies = others.map(\.original)
    }
}

extension JSONColumn {
    /// Divides columns into the first ones at each place, and the others with the index of that one.
    static func unique(_ columns: [JSONColumn]) -> (columns: [JSONColumn], others: [(name: String, original: Int)]) {
        var unique: [JSONColumn] = []
        var others: [(name: String, original: Int)] = []
        for column in columns {
            if let first = unique.firstIndex(where: { isSame($0.path, column.path) }) {
                others.append((column.name, first))
            } else {
                unique.append(column)
            }
        }
        return (unique, others)
    }

    /// Whether two paths consist of the same bytes.
    static func isSame(_ one: [String], _ other: [String]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { NamedColumns.equal($0, $1) }
    }
}
