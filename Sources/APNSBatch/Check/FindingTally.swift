import APNSBatchModel
import APNSBatchNotification

/// What one thread of a check has found: counts, the first examples, and lines for the file.
struct FindingTally: ~Copyable {
    private(set) var rows: UInt64 = 0
    private(set) var rowsWithErrors: UInt64 = 0
    private(set) var rowsWithWarnings: UInt64 = 0
    var sizes = PayloadSizes()
    private var groups: [String: CheckReport.Group] = [:]
    private var lines: [UInt8] = []
    private let file: FindingsFile?

    init(file: FindingsFile?) { self.file = file }

    /// A row about which there is nothing to say.
    @inline(__always)
    mutating func addClean() { rows += 1 }

    /// A row that would not be sent for a reason that was told already.
    mutating func addBad() {
        rows += 1
        rowsWithErrors += 1
    }

    /// A row with findings, at least one.
    mutating func add(_ findings: [RowFinding], row: UInt64) {
        rows += 1
        let hasError = findings.contains { $0.severity == .error }
        rowsWithErrors += hasError ? 1 : 0
        rowsWithWarnings += hasError ? 0 : 1
        for finding in findings { add(CampaignFinding(finding, row: row)) }
    }

    private mutating func add(_ finding: CampaignFinding) {
        // Counted in place: taken out and put back, the group's examples would be copied each time.
        let group = CheckReport.Group(rule: finding.rule, severity: finding.severity, count: 0, examples: [])
        groups[finding.rule, default: group].add(finding)
        guard let file else { return }
        FindingsFile.append(finding, to: &lines)
        if lines.count >= FindingsFile.pieceBytes { flush(to: file) }
    }

    private mutating func flush(to file: FindingsFile) {
        file.write(lines)
        lines.removeAll(keepingCapacity: true)
    }

    /// Writes what is left and adds everything to a report.
    mutating func finish(into report: inout CheckReport) {
        if let file, !lines.isEmpty { flush(to: file) }
        report.rows += rows
        report.rowsWithErrors += rowsWithErrors
        report.rowsWithWarnings += rowsWithWarnings
        report.sizes = report.sizes + sizes
        for group in groups.values { report.add(group) }
    }
}

extension CheckReport.Group {
    fileprivate mutating func add(_ finding: CampaignFinding) {
        count += 1
        if examples.count < CheckReport.exampleLimit { examples.append(finding) }
    }
}

extension CheckReport {
    /// Adds another thread's findings of a rule; the examples of the lowest rows stay.
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
