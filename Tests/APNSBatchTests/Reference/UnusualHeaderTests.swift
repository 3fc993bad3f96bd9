import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchNotification
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Unusual headers of push types") struct UnusualHeaderTests {
    private func findings(
        _ type: String, rows: String = "token\n\(token(1))\n", _ change: (inout StagedCampaign) -> Void = { _ in }
    ) async throws -> [String] {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: rows)
        campaign.template = .init(
            json: Array(#"{"aps":{"alert":"a","timestamp":1,"event":"end"}}"#.utf8), name: "t.json")
        campaign.headers.pushType = .init(type)
        change(&campaign)
        let report = try await CampaignCheck(campaign).run()
        return (report.campaign + report.groups.flatMap(\.examples)).map { finding in
            finding.rule + (finding.row.map { " \($0)" } ?? "") + ": " + finding.message
        }
    }

    private func header(_ name: String, _ rows: String, _ type: String) throws -> [String?] {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: rows)
        campaign.template = .init(json: Array(#"{"aps":{"alert":"a"}}"#.utf8), name: "t.json")
        campaign.headers.pushType = .init(type)
        let preview = try CampaignPreview(campaign)
        var values: [String?] = []
        while let row = try preview.next() { values.append(row.headers.first { $0.name == name }?.value) }
        return values
    }

    @Test("A voip campaign is warned once unless it expires in seconds or is tried once")
    func voip() async throws {
        let advice = "expiration: a push of type voip should be attempted once (0) or expire after a few seconds"
        #expect(try await findings("voip") == ["expiration-unusual: \(advice); none is given"])
        #expect(try await findings("voip") { $0.headers.expiration = .at(0) } == [])
        #expect(try await findings("voip") { $0.headers.expiration = .after(.seconds(30)) } == [])
        let late = try await findings("voip") { $0.headers.expiration = .after(.seconds(31)) }
        #expect(late.count == 1 && late.first?.hasPrefix("expiration-unusual: \(advice); found 20") == true)
    }

    @Test("A pushtotalk push has expiration 0 and priority 10 by default, and other values cause a warning")
    func pushToTalk() async throws {
        #expect(try await findings("pushtotalk") == [])
        #expect(try header("apns-expiration", "token\n\(token(1))\n", "pushtotalk") == ["0"])
        #expect(try header("apns-priority", "token\n\(token(1))\n", "pushtotalk") == ["10"])
        let found = try await findings("pushtotalk") {
            $0.headers.expiration = .at(4_102_444_800)
            $0.headers.priority = .init(5)
        }
        #expect(
            found == [
                "expiration-unusual: expiration: a push of type pushtotalk should be attempted once (0); found 2100-01-01T00:00:00Z",
                "priority-unusual: priority: a push of type pushtotalk should have priority 10, found 5",
            ])
    }

    @Test("Rows with their own push type get its expiration, and the others none")
    func pushTypesOfRows() throws {
        let rows = "token,push_type\n\(token(1)),pushtotalk\n\(token(2)),\n\(token(3)),voip\n"
        #expect(try header("apns-expiration", rows, "alert") == ["0", nil, nil])
    }

    @Test("Each row that sets push type, priority or expiration itself is reported")
    func rows() async throws {
        let found = try await findings(
            "alert",
            rows: "token,push_type,priority,expiration\n\(token(1)),voip,,\n\(token(2)),voip,,0\n\(token(3)),,,\n"
                + "\(token(4)),liveactivity,1,0\n\(token(5)),pushtotalk,5,0\n\(token(6)),alert,1,4102444800\n")
        #expect(
            Set(found) == [
                "expiration-unusual 1: expiration: a push of type voip should be attempted once (0) or expire after a few seconds; "
                    + "none is given",
                "expiration-missing 3: expiration: the field is empty, so APNs stores the push for up to 30 days",
                "priority-unusual 4: priority: a push of type liveactivity should have priority 10 or 5, found 1",
                "priority-unusual 5: priority: a push of type pushtotalk should have priority 10, found 5",
            ])
    }

    @Test("The expiration of the campaign applies where a row's field is empty")
    func emptyField() async throws {
        let rows = "token,expiration\n\(token(1)),\n"
        #expect(try await findings("alert", rows: rows) { $0.headers.expiration = .after(.seconds(60)) } == [])
        #expect(
            try await findings("alert", rows: rows) == [
                "expiration-missing 1: expiration: the field is empty, so APNs stores the push for up to 30 days"
            ])
    }

    @Test("A certificate cannot send to a file provider")
    func fileProvider() async throws {
        let client = try SelfSignedClient.make(userID: "com.example.app", commonName: "A", days: 90)
        await #expect {
            try await findings("fileprovider") {
                $0.credentials = .certificate(chainPEM: client.certificatePEM, keyPEM: client.keyPEM)
            }
        } throws: {
            "\($0)" == "push_type: APNs accepts a push of type fileprovider only with a provider token"
        }
    }
}
