import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// Makes a ``RowFinding`` of a fault that was found while a row was prepared. Only rows with faults get here, so it may
/// allocate strings.
package enum RowFault {
    /// Returns the finding for a row that cannot be parsed.
    static func find(_ error: RowError, _ plan: CampaignPlan) -> RowFinding {
        let (file, line) = plan.place(ofLine: error.line)
        let rule: Rule = if case .json = error.cause { .ndjsonRow } else { .csvRow }
        return RowFinding(rule, file: file, line: line, column: error.column, "\(error.cause)")
    }

    /// Returns the finding for an invalid row that is no row at all: all its fields are empty, or it is the header row once more, as
    /// in files that were put together. Nil for another one.
    static func ofWholeRow(_ row: Row, _ plan: CampaignPlan) -> RowFinding? {
        guard plan.namesRows, row.error == nil, unsafe row.fields.count == plan.columns.count else { return nil }
        let isEmpty = unsafe row.fields.allSatisfy { unsafe $0.allSatisfy { $0 == UInt8(ascii: " ") } }
        if isEmpty {
            let names = plan.columns.prefix(columnsNamed).map { String($0.prefix(32)).quoted }.joined(separator: ", ")
            let more = plan.columns.count > columnsNamed ? ", …" : ""
            let message =
                "all fields of the row are empty (\(names)\(more)): remove such rows, as a spreadsheet writes after the last one"
            return finding(.emptyRow, nil, row, plan, message)
        }
        guard plan.columns.indices.allSatisfy({ unsafe isName(plan.columns[$0], row.fields[$0], isFirst: $0 == 0) })
        else {
            return nil
        }
        let message =
            "this is the header row once more: files were put together with their headers; give them one by one, as "
            + "input: [a.csv, b.csv], or remove the line"
        return finding(.repeatedHeader, nil, row, plan, message)
    }

    /// The number of columns that a message names.
    private static let columnsNamed = 3

    /// Whether a field is the name of its column, without regard to a byte order mark, with which a file begins.
    private static func isName(_ name: String, _ field: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
        let hasMark = unsafe isFirst && field.starts(with: [0xEF, 0xBB, 0xBF])
        return unsafe field.dropFirst(hasMark ? 3 : 0).elementsEqual(name.utf8)
    }

    /// Returns the finding for a value that is not allowed in its column.
    static func find(_ fault: FieldFault, _ column: Int, _ row: borrowing Row, _ plan: CampaignPlan) -> RowFinding {
        unsafe finding(fault.rule, column, row, plan, fault.message(for: row.fields[column]))
    }

    /// Returns the finding for a value that was composed of several columns.
    static func find(_ fault: FieldFault, _ text: String, _ row: borrowing Row, _ plan: CampaignPlan) -> RowFinding {
        unsafe finding(fault.rule, nil, row, plan, Array(text.utf8).withUnsafeBytes { unsafe fault.message(for: $0) })
    }

    static func find(
        _ fault: DeviceTokenFault, _ column: Int, _ row: borrowing Row, _ plan: CampaignPlan
    ) -> RowFinding {
        unsafe finding(fault.rule, column, row, plan, fault.message(for: row.fields[column]))
    }

    /// Returns the finding for a payload that could not be rendered.
    static func find(
        _ outcome: RenderOutcome, _ limit: Int, _ row: borrowing Row, _ plan: CampaignPlan
    ) -> RowFinding {
        switch outcome {
        case .written: return finding(.payloadSize, nil, row, plan, "")
        case .tooLarge(let size):
            let message = "payload: expected at most \(limit) bytes, found \(size)"
            return finding(.payloadSize, plan.roles.payload, row, plan, message)
        case .invalid(let failure):
            let field = unsafe row.fields[failure.column]
            let message = unsafe failure.description(
                column: plan.columns[failure.column], field: field, isSecret: plan.isSecret(column: failure.column))
            return finding(failure.rule, failure.column, row, plan, message)
        }
    }

    /// Returns the finding for a payload that breaks a rule.
    static func find(_ finding: PayloadFinding, _ row: borrowing Row, _ plan: CampaignPlan) -> RowFinding {
        self.finding(finding.rule, finding.column ?? plan.rawPayloadColumn, row, plan, finding.message)
    }

    /// Returns the finding for a topic that no provider of the campaign covers.
    static func noProvider(
        _ topic: String, _ column: Int, _ row: borrowing Row, _ plan: CampaignPlan
    ) -> RowFinding {
        finding(.topicProvider, column, row, plan, "topic: no provider covers \(topic.quoted)")
    }

    /// Returns the finding for a push type that APNs does not accept with the credentials of the topic's provider.
    static func wrongCredentials(
        _ type: PushType, _ column: Int, _ row: borrowing Row, _ plan: CampaignPlan
    ) -> RowFinding {
        finding(.pushTypeCredentials, column, row, plan, "push_type: \(type.credentialsWanted)")
    }

    /// Returns the finding for a topic with the suffix of another push type.
    static func oddTopic(_ other: PushType, _ row: Row, _ plan: CampaignPlan) -> RowFinding {
        let own = plan.roles.topic.map { unsafe String(decoding: row.fields[$0], as: UTF8.self) } ?? ""
        let topic = own.isEmpty ? plan.headers.topic ?? "" : own
        return finding(.topicSuffix, plan.roles.topic ?? plan.roles.pushType, row, plan, other.oddTopicMessage(topic))
    }

    /// Returns the finding for a template that breaks a rule for every row of its push type.
    static func find(_ finding: TemplateFinding) -> RowFinding {
        RowFinding(
            finding.rule, file: finding.file, line: UInt64(finding.line), column: finding.column, finding.message)
    }

    /// Returns the finding for a variant without a template. A locale always has one, because locales have a fallback.
    static func noTemplate(_ row: Row, _ plan: CampaignPlan) -> RowFinding {
        let column = plan.templates.column
        let names = plan.templates.names?.names.joined(separator: ", ") ?? ""
        let name = column.map { plan.columns[$0] } ?? ""
        let field = unsafe column.map { unsafe row.fields[$0] } ?? UnsafeRawBufferPointer(start: nil, count: 0)
        let found = unsafe field.isEmpty ? "nothing" : unsafe "\(Quoted(field))"
        return finding(.variantUnknown, column, row, plan, "\(name): expected one of \(names), found \(found)")
    }

    /// Returns the finding for a recipient's key that cannot be used. The message shows nothing of the field.
    static func find(_ error: CredentialError, _ row: borrowing Row, _ plan: CampaignPlan) -> RowFinding {
        let column = plan.sealing?.keyColumn
        let name = column.map { plan.columns[$0] + ": " } ?? ""
        return finding(.recipientKey, column, row, plan, name + "\(error)")
    }

    static func tooManyHeaderSets(_ row: borrowing Row, _ plan: CampaignPlan) -> RowFinding {
        let message = "more than \(HeaderSets.limit) combinations of topic, push_type and priority"
        return finding(.headerSets, nil, row, plan, message)
    }

    package static func expired(_ row: Row, _ plan: CampaignPlan) -> RowFinding {
        let own = plan.roles.expiration.flatMap { unsafe row.fields[$0].isEmpty ? nil : $0 }
        let message =
            own.map {
                unsafe "expiration: expected a time in the future, found \(Quoted(row.fields[$0])); write a duration with its unit, "
                    + "such as 1h"
            } ?? "expiration: that of the campaign passed before the row could be sent"
        return finding(.expiration, own, row, plan, message)
    }

    /// Returns a finding at the field of a column, or at the beginning of the row if there is no column.
    package static func finding(
        _ rule: Rule, _ column: Int?, _ row: borrowing Row, _ plan: CampaignPlan, _ message: String
    ) -> RowFinding {
        guard let column, !plan.inputName.isEmpty else {
            let (file, line) = plan.place(ofLine: row.line)
            return RowFinding(rule, file: file, line: line, column: 1, message)
        }
        let position = row.place(of: column)
        let (file, line) = plan.place(ofLine: position.line)
        return RowFinding(rule, file: file, line: line, column: position.column, message)
    }
}

extension Rule {
    /// Whether a row that breaks this rule now may have satisfied it in an earlier session of the run: the rule depends on
    /// providers or strings files, which may change in between, on the header sets that the lane already has, or on the
    /// cryptography of the system.
    var mayHaveBeenOtherwise: Bool {
        switch self {
        case .topicProvider, .pushTypeCredentials, .locKeyMissing, .locKeyArgs, .headerSets, .recipientKey: true
        default: false
        }
    }
}
