import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Campaign digest") struct CampaignDigestTests {
    private static var campaign: Campaign {
        var campaign = Campaign(
            destination: .production, topic: "com.example.app", credentials: .none)
        campaign.template = .init(json: Array("{}".utf8), name: "payload.json")
        campaign.headers.expiration = .after(.seconds(3600))
        campaign.headers.collapseID = "story"
        return campaign
    }

    private static let changes: [(String, @Sendable (inout Campaign) -> Void)] = [
        ("topic", { $0.headers.topic = "com.example.other" }),
        ("push type", { $0.headers.pushType = "background" }),
        ("priority", { $0.headers.priority = .init(5) }),
        ("expiration", { $0.headers.expiration = .after(.seconds(3601)) }),
        ("expiration as a time", { $0.headers.expiration = .at(3600) }),
        ("no expiration", { $0.headers.expiration = nil }),
        ("collapse id", { $0.headers.collapseID = "stories" }),
        ("no collapse id", { $0.headers.collapseID = nil }),
        ("template", { $0.template?.json = Array("[]".utf8) }),
        ("delimiter", { $0.delimiter = UInt8(ascii: ";") }),
        ("escape", { $0.escape = .backslash }),
        ("encryption", { $0.encryption = .init(keys: ["x"]) }),
        ("destination", { $0.destination = .sandbox }),
        ("templates", { $0.templates = .init(by: .variant, [:], fallback: nil) }),
        ("columns", { $0.columns = ["token": "Address"] }),
        ("other columns", { $0.columns = ["token": "identifier"] }),
        ("only", { $0.only = ["a": ["b", "c"]] }),
        ("only by two columns", { $0.only = ["a": ["b"], "c": []] }),
        ("recipients", { $0.recipients = .channels(bundleID: "com.example.app") }),
    ]

    @Test("Any setting that changes a notification changes the digest")
    func differs() throws {
        let digest = try CampaignDigest.of(Self.campaign)
        var seen: Set = [digest]
        for (name, change) in Self.changes {
            var campaign = Self.campaign
            change(&campaign)
            #expect(seen.insert(try CampaignDigest.of(campaign)).inserted, "\(name)")
        }
    }

    @Test("Credentials, patience and result paths do not change the digest")
    func stays() throws {
        var campaign = Self.campaign
        campaign.credentials = .providerToken(keyPEM: [1], keyID: "A", teamID: "B")
        campaign.connectPatience = .seconds(7)
        campaign.attempts = 9
        // What was read without a word about it is read alike with it.
        campaign.escape = .none
        campaign.runDirectory = "elsewhere"
        #expect(try CampaignDigest.of(campaign) == CampaignDigest.of(Self.campaign))
    }
}
