import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Provider for a topic") struct ProviderTopicsTests {
    private static func topics(_ lists: [[String]]) throws(CampaignError) -> ProviderTopics {
        try ProviderTopics(lists.map { Campaign.Provider(topics: $0, credentials: .none) })
    }

    @Test(
        "The topic's provider comes first, then that of the bundle id, then the default",
        arguments: [
            ("com.a", 0), ("com.a.voip", 1), ("com.a.push-type.liveactivity", 0), ("com.a.pushkit.fileprovider", 0),
            ("com.b.voip", 2), ("com.b", 2), ("com.a.other", 2), ("com", 2), (".voip", 2), ("com.A", 2),
        ])
    func finds(topic: String, provider: Int) throws {
        #expect(try Self.topics([["com.a"], ["com.a.voip"], []]).provider(of: topic) == provider)
    }

    @Test("A topic that no provider names has none when every provider names topics")
    func nobody() throws {
        let topics = try Self.topics([["com.a"], ["com.b", "com.c"]])
        #expect(topics.provider(of: "com.d") == nil)
        #expect(topics.provider(of: "com.c.voip") == 1)
    }

    static let wrong: [(lists: [[String]], says: String)] = [
        ([], "providers: expected 1 to 100, found 0"),
        (Array(repeating: ["a"], count: 101), "providers: expected 1 to 100, found 101"),
        ([["com.a", "com.b"], ["com.c", "com.b"]], #"providers 1 and 2 both name the topic "com.b""#),
        (
            [[], ["com.a"], []],
            "providers 1 and 3 name no topics; only one provider may omit them, and it covers all other topics"
        ),
        (
            [["com.a"], ["com b"]],
            #"provider 2: topic: expected letters, digits, '.', '-' or '_', found " " at byte 4"#
        ),
        ([[""]], "provider 1: topic: expected at least one character, found nothing"),
    ]

    @Test("Ambiguous or invalid topics are refused", arguments: wrong)
    func refuses(lists: [[String]], says: String) {
        do {
            _ = try Self.topics(lists)
            Issue.record("expected an error")
        } catch {
            #expect(error == CampaignError(.configuration, says))
        }
    }
}
