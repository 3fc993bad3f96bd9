import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The indices of the columns that have a meaning of their own. All other columns are only for templates.
package struct ColumnRoles: Sendable, Equatable {
    /// The column of the device token or of the broadcast channel's id.
    package let token: Int
    let payload: Int?
    let topic: Int?
    package let pushType: Int?
    package let priority: Int?
    package let expiration: Int?
    let collapseID: Int?
    let messageID: Int?

    /// The names of the columns with a meaning of their own.
    static let names = ["token", "payload", "topic", "push_type", "priority", "expiration", "collapse_id", "apns_id"]

    static let namesOfBroadcasts = ["channel_id", "payload", "priority", "expiration"]

    /// Finds the columns. For broadcasts, those for topic, push type, collapse id and apns-id have no meaning.
    ///
    /// - Throws: A `configuration` error if a required column is missing.
    init(
        columns: [String], file: String, hasTemplate: Bool, recipients: Campaign.Recipients
    ) throws(CampaignError) {
        guard let token = columns.firstIndex(of: recipients.column) else {
            throw CampaignError(
                .configuration,
                "\(file):1: no column \(recipients.column.quoted); there are \(ColumnNames.list(columns))"
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

    /// Guesses why the column of the recipient is missing.
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

    /// A hint if the header row is one field that contains another delimiter.
    private static func delimiterHint(_ columns: [String]) -> String {
        guard columns.count == 1, let found = columns[0].first(where: { ";\t|".contains($0) }) else { return "" }
        return "; is the delimiter \(found == "\t" ? "a tab" : "'\(found)'")?"
    }

    /// A hint if a column's name differs only in letter case and spaces.
    private static func spellingHint(_ columns: [String], _ wanted: String) -> String {
        let near = columns.first { column in
            column.lowercased().filter { $0.isLetter || $0 == "_" } == wanted
        }
        return near == nil ? "" : "; column names are in lower case, without spaces"
    }

    /// The columns that have a meaning of their own.
    var columns: [Int] {
        [token] + [payload, topic, pushType, priority, expiration, collapseID, messageID].compactMap { $0 }
    }

    /// Whether the header set is the same for all rows.
    var hasFixedHeaders: Bool { topic == nil && pushType == nil && priority == nil }
}
