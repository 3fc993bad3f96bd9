import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// A column that a campaign reads from each row, and what for.
package struct ColumnUse: Sendable, Equatable {
    package let column: String
    /// The names of ``ColumnRoles``, or `template`, `selects` (a template), `key` (of an encryption), `collapse_id`, `results`, `only`.
    package let uses: [String]
}

extension CampaignPlan {
    /// The columns that are read, in the order of the plan.
    package var columnUses: [ColumnUse] {
        var uses: [Int: [String]] = [:]
        func add(_ use: String, _ columns: some Sequence<Int>) {
            for column in Set(columns.map(named.original)) { uses[column, default: []].append(use) }
        }
        for column in roles.columns { add(columns[column], [column]) }
        add("template", templates.columnsUsed)
        add("selects", [templates.column].compactMap(\.self))
        add("key", [sealing?.keyColumn].compactMap(\.self))
        // Of the default too, which rows have whose own is empty.
        add("collapse_id", headers.collapseID?.columnsUsed ?? [])
        add("results", resultColumns.indices)
        add("only", selection?.columns ?? [])
        return uses.sorted { $0.key < $1.key }.map { ColumnUse(column: columns[$0.key], uses: $0.value) }
    }
}

extension InputFacts {
    /// Rows of another owner; only the names of their columns are known.
    ///
    /// - Parameter names: The names; nil if these are not known either.
    /// - Throws: A `configuration` error if a column that the campaign names is not there.
    package static func ofRows(
        named name: String, _ campaign: Campaign, columns names: [String]?
    ) throws(CampaignError) -> InputFacts {
        try ColumnSource.check(campaign.columns)
        let wanted = WantedColumns.of(campaign)
        try ColumnSource.check(paths: wanted)
        let first = try names.flatMap { (names) throws(CampaignError) in
            try FirstColumns(FirstRows(keys: names, wanted), wanted: wanted, campaign.columns, file: name)
        }
        return InputFacts(name: name, isFile: true, named: NamedColumns(wanted), first: first)
    }
}
