import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// The columns that the first rows of NDJSON have, by which it is judged as CSV is by its header row.
package struct FirstColumns: Sendable, Equatable {
    /// The names that a campaign may use: of columns that at least one of these rows has, and keys that are no column.
    let names: [String]
    /// The keys that are no column and lead to none.
    let unused: [String]
    /// The columns whose name is a key of these rows, and stands for another one.
    let hidden: [String]

    /// Returns nil if there are no rows, so that nothing is known.
    ///
    /// - Parameters:
    ///   - wanted: The columns that the campaign can use.
    ///   - sources: ``Campaign/columns``.
    /// - Throws: A `configuration` error if none of the rows has a column that `sources` names.
    init?(
        _ rows: FirstRows, wanted: [JSONColumn], _ sources: [String: String], file: String
    ) throws(CampaignError) {
        guard rows.rows > 0 else { return nil }
        let has = wanted.map { column in rows.paths.contains { JSONColumn.isSame($0, column.path) } }
        for (column, has) in zip(wanted, has) where !has {
            guard let source = sources[column.name] else { continue }
            let start = "\(file): none of the first \(rows.rows) rows has"
            throw ColumnSource.missing(
                source, of: column.name, in: rows.rows == 1 ? "\(file): the first row has no" : start,
                rows.paths.map(ColumnSource.text))
        }
        let keys = rows.keys
        let unused = keys.filter { key in !wanted.contains { $0.path[0].utf8.elementsEqual(key.utf8) } }
        let found = zip(wanted, has).filter(\.1).map(\.0.name)
        self.unused = unused
        names = found + unused.filter { key in !wanted.contains { $0.name.utf8.elementsEqual(key.utf8) } }
        hidden = keys.filter { key in sources[key].map { ColumnSource.path($0) != [key] } ?? false }
    }
}
