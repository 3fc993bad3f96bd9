import APNSBatch
import GRDB

/// A recipient of a campaign, as the database has it and as the run takes it.
struct Recipient: Decodable, FetchableRecord, Sendable {
    var number: UInt64
    var token: String
    var firstName: String
}

extension Recipient: CampaignRow {
    static let columns = ["token", "first_name"]

    func encode(into row: inout RowEncoder) {
        row.append(token)
        row.append(firstName)
    }
}
