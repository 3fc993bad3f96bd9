import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// Findings about columns that nothing uses. Most are other data of an export, but one can be the misspelt name of a header
/// field, which is then not sent.
extension CampaignPlan {
    /// Whether the rows are lines that were given back to be corrected.
    package var hasReturnedRows: Bool {
        columns.contains(ReturnedLines.rowColumn) || first?.unused.contains(ReturnedLines.rowColumn) == true
    }

    var unusedColumns: [CampaignFinding] {
        let used = columnsUsed
        let hidden = first?.hidden ?? named.hidden
        let names =
            columns.indices.filter { !used.contains($0) && !ReturnedLines.isOwn(columns[$0]) }.map { columns[$0] }
            + (first?.unused ?? []).filter { !ReturnedLines.isOwn($0) }
        return hidden.map(displaced) + unused(names.filter { !hidden.contains($0) && !isDisplaced($0) })
    }

    /// The name of a column that the input has as well, and that `columns` gives to another one.
    private func displaced(_ name: String) -> CampaignFinding {
        finding(
            "column \(ColumnNames.quoted(name)): columns gives this name to another column, so that this one is not used under it"
        )
    }

    private func isDisplaced(_ name: String) -> Bool {
        named.hidden.contains { "\($0)\(NamedColumns.ofInput)" == name }
    }

    private func unused(_ names: [String]) -> [CampaignFinding] {
        let told = names.compactMap { name in doubt(about: name).map { (name, $0) } }
        let others = names.filter { name in !told.contains { $0.0 == name } }
        let findings = told.map { finding("column \(ColumnNames.quoted($0.0)): nothing uses it; \($0.1)") }
        switch others.count {
        case 0: return findings
        case 1: return findings + [finding("column \(ColumnNames.quoted(others[0])): nothing uses it")]
        default: return findings + [finding("columns \(ColumnNames.list(others)): nothing uses them")]
        }
    }

    private var columnsUsed: Set<Int> {
        var used = templates.columnsUsed.union(roles.columns)
        used.formUnion(headers.collapseID?.columnsUsed ?? [])
        used.formUnion(resultColumns.indices)
        used.formUnion([templates.column, sealing?.keyColumn].compactMap { $0 })
        used.formUnion(selection?.columns ?? [])
        used.formUnion(used.map { named.original(of: $0) })
        return used
    }

    private func finding(_ message: String) -> CampaignFinding {
        CampaignFinding(.unusedColumn, inHeaderOf: inputName, message)
    }

    /// A guess what the column was meant for; nil if there is none.
    private func doubt(about name: String) -> String? {
        if name == "locale" || name == "variant" {
            return templates.names == nil
                ? "it selects one of several templates, but there is only one" : "another column selects the template"
        }
        let known = headers.isBroadcast ? ColumnRoles.namesOfBroadcasts : ColumnRoles.names
        if headers.isBroadcast, ColumnRoles.names.contains(name) { return "a broadcast has none" }
        let wanted = Self.normalised(name)
        let present = first?.names ?? columns
        let free = known.filter { !present.contains($0) }
        let near =
            free.first { $0 == wanted } ?? free.first { wanted.count >= 3 && $0.hasPrefix(wanted) }
            ?? NearestName.find(wanted, in: free)
        return near.map { "did you mean \($0.quoted)?" }
    }

    /// Normalises the spelling of a name, such as `Apns-Collapse-Id` to `collapse_id`.
    private static func normalised(_ name: String) -> String {
        let plain = String(name.lowercased().map { $0 == "-" || $0 == " " ? "_" : $0 })
        return plain.hasPrefix("apns_") && plain != "apns_id" ? String(plain.dropFirst(5)) : plain
    }
}
