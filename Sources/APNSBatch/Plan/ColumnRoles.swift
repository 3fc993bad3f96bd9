/// Which column is what. Columns that are nothing of their own feed the template.
struct ColumnRoles: Sendable, Equatable {
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

    init(columns: [String], file: String, hasTemplate: Bool) throws(CampaignError) {
        guard let token = columns.firstIndex(of: "token") else {
            throw CampaignError(
                .configuration,
                "\(file):1: no column \"token\"; there are \(Self.quoted(columns))\(Self.delimiterHint(columns))")
        }
        self.token = token
        payload = columns.firstIndex(of: "payload")
        topic = columns.firstIndex(of: "topic")
        pushType = columns.firstIndex(of: "push_type")
        priority = columns.firstIndex(of: "priority")
        expiration = columns.firstIndex(of: "expiration")
        collapseID = columns.firstIndex(of: "collapse_id")
        messageID = columns.firstIndex(of: "apns_id")
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

    private static func quoted(_ columns: [String]) -> String {
        columns.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// Whether the header set is the same for all rows.
    var hasFixedHeaders: Bool { topic == nil && pushType == nil && priority == nil }
}
