import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Numbers of a campaign") struct CampaignNumberTests {
    private static func campaign() -> Campaign {
        Campaign(destination: .sandbox, topic: nil, credentials: .none)
    }

    /// The ranges are written from the documentation of ``Campaign``, not from the table under test.
    private static let ranges: [(name: String, low: Int, high: Int)] = [
        ("min rows", 0, .max), ("from row", 1, .max), ("zstd window", 10, 31), ("priority", 1, 10),
        ("canary", 0, .max), ("lanes", 1, 256), ("connections", 1, 512),
        ("streams", 1, 10_000),
        ("attempts", 1, 1000),
        ("retry delay", 1, 86_400_000), ("unavailable delay", 1, 86_400_000), ("retry after max", 0, 2_592_000),
        ("retry rows", 1, 1_000_000), ("stop window", 10, 1_000_000_000), ("stop minimum", 1, 1_000_000_000),
        ("request timeout", 1, 4_294_967_295), ("answer gathering", 0, 100), ("connect patience", 1, 86_400),
        ("answer patience", 1, 86_400),
        ("unavailable patience", 1, 86_400), ("goaway patience", 1, 86_400), ("ping after", 1, 86_400),
        ("ping patience", 1, 86_400), ("token mint after", 1, 86_400), ("token retire after", 1, 86_400),
        ("sync interval", 10, 60_000),
    ]

    @Test("All numbers have the documented ranges")
    func all() {
        #expect(Campaign.Number.all.map(\.name) == Self.ranges.map(\.name))
    }

    @Test("Numbers are accepted within their ranges and refused beyond them", arguments: ranges)
    func range(name: String, low: Int, high: Int) throws {
        let number = try #require(Campaign.Number.all.first { $0.name == name })
        var campaign = Self.campaign()
        for value in [low, high] { try number.set(value, in: &campaign) }
        #expect(throws: CampaignError.self) { try number.set(low - 1, in: &campaign) }
        if high < .max { #expect(throws: CampaignError.self) { try number.set(high + 1, in: &campaign) } }
    }

    private static let wrong: [(@Sendable (inout Campaign) -> Void, String)] = [
        ({ $0.attempts = 0 }, "attempts: expected 1 to 1000, found 0"),
        ({ $0.lanes = 257 }, "lanes: expected 1 to 256, found 257"),
        ({ $0.requestTimeout = .zero }, "request timeout: expected 1 to 4294967295 ms, found 0"),
        ({ $0.retryDelay = .milliseconds(86_400_001) }, "retry delay: expected 1 to 86400000 ms, found 86400001"),
        (
            { $0.retryAfterLimit = .seconds(2_592_000.5) },
            "retry after max: expected at most 2592000 seconds, found 2592001"
        ),
        ({ $0.connectPatience = .milliseconds(999) }, "connect patience: expected 1 to 86400 seconds, found 0"),
        ({ $0.circuitBreaker.window = 9 }, "stop window: expected 10 to 1000000000 answers, found 9"),
        ({ $0.pingAfter = .seconds(-1) }, "ping after: expected 1 to 86400 seconds, found -1"),
    ]

    @Test("Numbers that a program sets directly are checked too", arguments: wrong)
    func embedded(change: @Sendable (inout Campaign) -> Void, text: String) {
        var campaign = Self.campaign()
        change(&campaign)
        #expect(throws: CampaignError(.configuration, text)) { try RunTerms.lanes(of: campaign) }
        #expect(throws: CampaignError(.configuration, text)) { try Campaign.Number.check(campaign) }
    }
}
