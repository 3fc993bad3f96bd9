/// Which column is what. Columns that are nothing of their own feed the template.
struct ColumnRoles: Sendable, Equatable {
    /// The device token, or the id of a broadcast's channel.
    let token: Int
    let payload: Int?
    let topic: Int?
    let pushType: Int?
    let priority: Int?
    let expiration: Int?
    let collapseID: Int?
    let messageID: Int?

    /// The names that mean themselves.
    static let names = ["token", "payload", "topic", "push_type", "priority", "expiration", "collapse_id", "apns_id"]

    /// Of a broadcast's columns, those about topic, push type, collapse id and apns-id mean nothing of their own.
    init(
        columns: [String], file: String, hasTemplate: Bool, recipients: Campaign.Recipients
    ) throws(CampaignError) {
        guard let token = columns.firstIndex(of: recipients.column) else {
            throw CampaignError(
                .configuration,
                "\(file):1: no column \"\(recipients.column)\"; there are \(Self.quoted(columns))"
                    + Self.delimiterHint(columns) + Self.spellingHint(columns, recipients.column)
            )
        }
        self.token = token
        let ofDevices = recipients.areChannels ? [] : columns
        payload = columns.firstIndex(of: "payload")
        topic = ofDevices.firstIndex(of: "topic")
        pushType = ofDevices.firstIndex(of: "push_type")
        priority = columns.firstIndex(of: "priority")
        expiration = columns.firstIndex(of: "expiration")
        collapseID = ofDevices.firstIndex(of: "collapse_id")
        messageID = ofDevices.firstIndex(of: "apns_id")
        guard hasTemplate || payload != nil else {
            throw CampaignError(
                .configuration, "\(file):1: no column \"payload\" and no template; there are \(Self.quoted(columns))")
        }
    }

    /// A header row that is one field with another delimiter in it.
    private static func delimiterHint(_ columns: [String]) -> String {
        guard columns.count == 1, let found = columns[0].first(where: { ";\t|".contains($0) }) else { return "" }
        return "; is the delimiter \(found == "\t" ? "a tab" : "'\(found)'")?"
    }

    /// The column that differs in letter case and blanks only.
    private static func spellingHint(_ columns: [String], _ wanted: String) -> String {
        let near = columns.first { column in
            column.lowercased().filter { $0.isLetter || $0 == "_" } == wanted
        }
        return near == nil ? "" : "; names are in lower case without blanks"
    }

    private static func quoted(_ columns: [String]) -> String {
        columns.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// Whether the header set is the same for all rows.
    var hasFixedHeaders: Bool { topic == nil && pushType == nil && priority == nil }
}
