import APNSBatchModel
import APNSBatchNotification

/// Which column is what. Columns that are nothing of their own feed the template.
package struct ColumnRoles: Sendable, Equatable {
    /// The device token, or the id of a broadcast's channel.
    package let token: Int
    let payload: Int?
    let topic: Int?
    package let pushType: Int?
    package let priority: Int?
    package let expiration: Int?
    let collapseID: Int?
    let messageID: Int?

    /// The names that mean themselves.
    static let names = ["token", "payload", "topic", "push_type", "priority", "expiration", "collapse_id", "apns_id"]

    static let namesOfBroadcasts = ["channel_id", "payload", "priority", "expiration"]

    /// Of a broadcast's columns, those about topic, push type, collapse id and apns-id mean nothing of their own.
    init(
        columns: [String], file: String, hasTemplate: Bool, recipients: Campaign.Recipients
    ) throws(CampaignError) {
        guard let token = columns.firstIndex(of: recipients.column) else {
            throw CampaignError(
                .configuration,
                "\(file):1: no column \"\(recipients.column)\"; there are \(ColumnNames.list(columns))"
                    + Self.hint(columns, recipients)
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
                .configuration,
                "\(file):1: no column \"payload\" and no template; there are \(ColumnNames.list(columns))")
        }
    }

    /// What may be the matter where the column of the recipient is missing.
    private static func hint(_ columns: [String], _ recipients: Campaign.Recipients) -> String {
        let other = recipients.areChannels ? "token" : "channel_id"
        if columns.contains(other) {
            return recipients.areChannels
                ? "; the rows name devices: use apns-batch send" : "; the rows name channels: use apns-batch broadcast"
        }
        if columns.contains(where: isLikeToken) {
            return "; the first line looks like a row: is the header row missing?"
        }
        return delimiterHint(columns) + spellingHint(columns, recipients.column)
    }

    private static func isLikeToken(_ name: String) -> Bool {
        name.utf8.count >= 32 && name.allSatisfy { $0.isHexDigit }
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
        return near == nil ? "" : "; column names are in lower case, without spaces"
    }

    /// The columns that mean something.
    var columns: [Int] {
        [token] + [payload, topic, pushType, priority, expiration, collapseID, messageID].compactMap { $0 }
    }

    /// Whether the header set is the same for all rows.
    var hasFixedHeaders: Bool { topic == nil && pushType == nil && priority == nil }
}
