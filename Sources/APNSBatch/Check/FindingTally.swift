import APNSBatchModel
import APNSBatchNotification

/// The findings of one thread of a check: counts, the first examples, and lines for the file.
struct FindingTally: ~Copyable {
    private(set) var rows: UInt64 = 0
    private(set) var rowsWithErrors: UInt64 = 0
    private(set) var rowsWithWarnings: UInt64 = 0
    private(set) var rowsNotSelected: UInt64 = 0
    var sizes = PayloadSizes()
    /// By the code of the rule.
    private var groups: [UInt16: CheckReport.Group] = [:]
    private var lines: [UInt8] = []
    private let file: FindingsFile?

    init(file: FindingsFile?) { self.file = file }

    /// Adds a row without findings.
    @inline(__always)
    mutating func addClean() { rows += 1 }

    /// Adds a row that would not be sent because it is not selected.
    @inline(__always)
    mutating func addUnselected() {
        rows += 1
        rowsNotSelected += 1
    }

    /// Adds a row that would not be sent because of an error that was already reported.
    mutating func addBad() {
        rows += 1
        rowsWithErrors += 1
    }

    /// Adds a row with at least one finding.
    mutating func add(_ findings: [RowFinding], row: UInt64) {
        rows += 1
        let hasError = findings.contains { $0.severity == .error }
        rowsWithErrors += hasError ? 1 : 0
        rowsWithWarnings += hasError ? 0 : 1
        for finding in findings { add(finding, row: row) }
    }

    /// Costs about as much as a row without findings, because an input may have one in every row.
    private mutating func add(_ finding: RowFinding, row: UInt64) {
        // Counted in place, since taking the group out and putting it back would copy its examples each time.
        groups[finding.rule.code, default: .none(of: finding)].add { CampaignFinding(finding, row: row) }
        guard let file else { return }
        FindingsFile.append(finding, row: row, to: &lines)
        if lines.count >= FindingsFile.pieceBytes { flush(to: file) }
    }

    private mutating func flush(to file: FindingsFile) {
        file.write(lines)
        lines.removeAll(keepingCapacity: true)
    }

    /// Writes the remaining lines, and adds all counts to a report.
    mutating func finish(into report: inout CheckReport) {
        if let file, !lines.isEmpty { flush(to: file) }
        report.rows += rows
        report.rowsWithErrors += rowsWithErrors
        report.rowsWithWarnings += rowsWithWarnings
        report.rowsNotSelected += rowsNotSelected
        report.sizes = report.sizes + sizes
        for group in groups.values { report.add(group) }
    }
}

extension CheckReport.Group {
    fileprivate static func none(of finding: RowFinding) -> CheckReport.Group {
        let finding = CampaignFinding(finding, row: nil)
        return CheckReport.Group(rule: finding.rule, severity: finding.severity, count: 0, examples: [])
    }

    fileprivate mutating func add(_ finding: () -> CampaignFinding) {
        count += 1
        if examples.count < CheckReport.exampleLimit { examples.append(finding()) }
    }
}

extension CheckReport {
    /// Adds another thread's findings of a rule, and keeps the examples of the lowest rows.
    fileprivate mutating func add(_ group: Group) {
        guard let place = groups.firstIndex(where: { $0.rule == group.rule }) else {
            groups.append(group)
            return
        }
        groups[place].count += group.count
        let both = (groups[place].examples + group.examples).sorted { ($0.row ?? 0) < ($1.row ?? 0) }
        groups[place].examples = Array(both.prefix(Self.exampleLimit))
    }

    mutating func sort() {
        groups.sort { left, right in
            if left.severity != right.severity { return left.severity == .error }
            return left.count != right.count ? left.count > right.count : left.rule < right.rule
        }
    }
}
