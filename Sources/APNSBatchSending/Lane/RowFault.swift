import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// What is wrong with a row, found while it was prepared, as a ``RowFinding``. Off the good way, so it may make strings.
package enum RowFault {
    /// A row that is no row.
    static func find(_ error: RowError, _ plan: CampaignPlan) -> RowFinding {
        RowFinding(.csvRow, file: plan.inputName, line: error.line, column: error.column, "\(error.cause)")
    }

    /// A value that its column does not allow.
    static func find(_ fault: FieldFault, _ column: Int, _ row: borrowing Row, _ plan: CampaignPlan) -> RowFinding {
        finding(fault.rule, column, row, plan, fault.message(for: row.fields[column]))
    }

    /// A value that was made of several columns.
    static func find(_ fault: FieldFault, _ text: String, _ row: borrowing Row, _ plan: CampaignPlan) -> RowFinding {
        finding(fault.rule, nil, row, plan, Array(text.utf8).withUnsafeBytes { fault.message(for: $0) })
    }

    static func find(
        _ fault: DeviceTokenFault, _ column: Int, _ row: borrowing Row, _ plan: CampaignPlan
    ) -> RowFinding {
        finding(fault.rule, column, row, plan, fault.message(for: row.fields[column]))
    }

    /// A payload that was not written.
    static func find(
        _ outcome: RenderOutcome, _ limit: Int, _ row: borrowing Row, _ plan: CampaignPlan
    ) -> RowFinding {
        switch outcome {
        case .written: return finding(.payloadSize, nil, row, plan, "")
        case .tooLarge(let size):
            let message = "payload: expected at most \(limit) bytes, found \(size)"
            return finding(.payloadSize, plan.roles.payload, row, plan, message)
        case .invalid(let failure):
            let field = row.fields[failure.column]
            let message = failure.description(
                column: plan.columns[failure.column], field: field, isSecret: plan.isSecret(column: failure.column))
            return finding(failure.rule, failure.column, row, plan, message)
        }
    }

    /// A payload that breaks a rule.
    static func find(_ finding: PayloadFinding, _ row: borrowing Row, _ plan: CampaignPlan) -> RowFinding {
        self.finding(finding.rule, finding.column ?? plan.rawPayloadColumn, row, plan, finding.message)
    }

    /// A topic that no provider of the campaign covers.
    static func noProvider(
        _ topic: String, _ column: Int, _ row: borrowing Row, _ plan: CampaignPlan
    ) -> RowFinding {
        finding(.topicProvider, column, row, plan, "topic: no provider covers \"\(topic)\"")
    }

    /// A push type that APNs does not take from the topic's provider.
    static func wrongCredentials(
        _ type: PushType, _ column: Int, _ row: borrowing Row, _ plan: CampaignPlan
    ) -> RowFinding {
        finding(.pushTypeCredentials, column, row, plan, "push_type: \(type.credentialsWanted)")
    }

    /// A topic that ends as that of another push type.
    static func oddTopic(_ other: PushType, _ row: Row, _ plan: CampaignPlan) -> RowFinding {
        let own = plan.roles.topic.map { String(decoding: row.fields[$0], as: UTF8.self) } ?? ""
        let topic = own.isEmpty ? plan.headers.topic ?? "" : own
        return finding(.topicSuffix, plan.roles.topic ?? plan.roles.pushType, row, plan, other.oddTopicMessage(topic))
    }

    /// A template that breaks a rule for every row of its push type.
    static func find(_ finding: TemplateFinding) -> RowFinding {
        RowFinding(
            finding.rule, file: finding.file, line: UInt64(finding.line), column: finding.column, finding.message)
    }

    /// A variant without a template; a locale always has one.
    static func noTemplate(_ row: Row, _ plan: CampaignPlan) -> RowFinding {
        let column = plan.templates.column
        let names = plan.templates.names?.names.joined(separator: ", ") ?? ""
        let name = column.map { plan.columns[$0] } ?? ""
        let field = column.map { row.fields[$0] } ?? UnsafeRawBufferPointer(start: nil, count: 0)
        let found = field.isEmpty ? "nothing" : "\(Quoted(field))"
        return finding(.variantUnknown, column, row, plan, "\(name): expected one of \(names), found \(found)")
    }

    /// A recipient's key that cannot be used. Shows nothing of the field.
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
        let field = plan.roles.expiration.map { row.fields[$0] }
        let found = field.map { "\(Quoted($0))" } ?? "a time in the past"
        let message =
            "expiration: expected a time in the future, found \(found); write a duration with its unit, such as 1h"
        return finding(.expiration, plan.roles.expiration, row, plan, message)
    }

    /// At a column's field; at the row's beginning without a column.
    package static func finding(
        _ rule: Rule, _ column: Int?, _ row: borrowing Row, _ plan: CampaignPlan, _ message: String
    ) -> RowFinding {
        guard let column else {
            return RowFinding(rule, file: plan.inputName, line: row.line, column: 1, message)
        }
        let place = row.place(of: column)
        return RowFinding(rule, file: plan.inputName, line: place.line, column: place.column, message)
    }
}

extension Rule {
    /// Whether a row may have kept it in an earlier process of the run: it asks for providers or strings files, which may
    /// change in between, for what the lane met before, or for the cryptography of the system.
    var mayHaveBeenOtherwise: Bool {
        switch self {
        case .topicProvider, .pushTypeCredentials, .locKeyMissing, .locKeyArgs, .headerSets, .recipientKey: true
        default: false
        }
    }
}
