import APNSBatchNotification
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// Tests every header field of the table in a request that has all of them.
@Suite("Header fields of requests") struct HeaderTests {
    private static let id = "123e4567-e89b-12d3-a456-426614174000"
    private static let values = [
        ":method": "POST", ":scheme": "https", ":path": "/3/device/\(token(7))", "apns-topic": "com.example.app.voip",
        "apns-push-type": "voip", "apns-priority": "5", "apns-expiration": "4102444800", "apns-id": id,
        "apns-collapse-id": "match 7", "authorization": "bearer ...",
        "content-length": "10",
    ]

    @Test("Each header field has the value that campaign and row give it", arguments: RequestHeader.all.map(\.name))
    func value(name: String) throws {
        let stage = try Stage()
        var campaign = try stage.campaign(
            rows: "token,apns_id,priority,match\n\(token(7).uppercased()),\(Self.id),5,7\n")
        campaign.template = .init(json: Array(#"{"call":1}"#.utf8), name: "t.json")
        campaign.headers.pushType = "voip"
        campaign.headers.expiration = .at(4_102_444_800)
        campaign.headers.collapseID = "match {{match}}"
        let row = try #require(try CampaignPreview(campaign).next())
        let found = row.headers.filter { $0.name == name }
        #expect(found.map(\.value) == [Self.values[name] ?? "127.0.0.1:\(stage.port)"])
    }
}
