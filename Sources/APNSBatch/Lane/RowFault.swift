import APNSProtocol
import CSVReader
import PayloadTemplate

/// What is wrong with a row, in words: `rows.csv:1042:17: badge: expected a number, found "five"`. Off the good way, so it
/// may make strings.
enum RowFault {
    /// A row that is no row.
    static func describe(_ error: CSVRowError, _ plan: CampaignPlan) -> String {
        "\(plan.inputName):\(error.line):\(error.column): \(error.cause)"
    }

    /// A value that its column does not allow.
    static func describe(
        _ fault: FieldFault, _ column: Int, _ row: borrowing CSVRow, _ plan: CampaignPlan
    ) -> String {
        "\(place(column, row, plan)): \(fault.message(for: row.fields[column]))"
    }

    /// A value that was made of several columns.
    static func describe(_ fault: FieldFault, _ text: String, _ row: borrowing CSVRow, _ plan: CampaignPlan) -> String {
        "\(place(nil, row, plan)): \(Array(text.utf8).withUnsafeBytes { fault.message(for: $0) })"
    }

    /// A locale or variant without a template.
    static func noTemplate(_ row: borrowing CSVRow, _ plan: CampaignPlan) -> String {
        guard let column = plan.templates.column, let names = plan.templates.names?.names else { return "" }
        let found = row.fields[column]
        let text = found.isEmpty ? "nothing" : "\(Quoted(found))"
        return "\(place(column, row, plan)): \(plan.columns[column]): expected one of "
            + "\(names.joined(separator: ", ")), found \(text)"
    }

    static func describe(
        _ fault: DeviceTokenFault, _ column: Int, _ row: borrowing CSVRow, _ plan: CampaignPlan
    ) -> String {
        "\(place(column, row, plan)): \(fault.message(for: row.fields[column]))"
    }

    /// A payload that was not written.
    static func describe(
        _ outcome: RenderOutcome, _ limit: Int, _ row: borrowing CSVRow, _ plan: CampaignPlan
    ) -> String {
        switch outcome {
        case .written: return ""
        case .tooLarge(let size):
            return "\(place(plan.roles.payload, row, plan)): payload: expected at most \(limit) bytes, found \(size)"
        case .invalid(let failure):
            let field = row.fields[failure.column]
            let text = failure.description(column: plan.columns[failure.column], field: field)
            return "\(place(failure.column, row, plan)): \(text)"
        }
    }

    static func tooManyHeaderSets(_ row: borrowing CSVRow, _ plan: CampaignPlan) -> String {
        "\(place(nil, row, plan)): more than \(HeaderSets.limit) combinations of topic, push_type and priority"
    }

    /// Where a column's field begins; the row's beginning without a column.
    private static func place(_ column: Int?, _ row: borrowing CSVRow, _ plan: CampaignPlan) -> String {
        guard let column else { return "\(plan.inputName):\(row.line):1" }
        let place = row.place(of: column)
        return "\(plan.inputName):\(place.line):\(place.column)"
    }
}
