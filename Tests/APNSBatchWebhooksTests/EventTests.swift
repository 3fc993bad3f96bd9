import APNSBatchWebhooks
import Foundation
import Testing

@Suite struct WebhookEventTests {
    @Test func `a body has type, time and what is known of the run, on one line`() throws {
        var facts = WebhookEvent.Facts(campaign: "nightly", host: "push-1", version: "1.0.0")
        facts.runDirectory = "/runs/tonight"
        facts.verdict = "OK: 2 of 2 rows accepted"
        facts.exitCode = 0
        facts.counts = .init(
            rows: 2, outcomes: ["accepted": 2], left: nil, mayBeSent: 0, resent: 0, sessions: 1, durationSeconds: 1.5)
        let body = WebhookEvent(.completed, at: 1_614_265_330, facts).body
        let expected = """
            {"data":{"campaign":"nightly","counts":{"duration_seconds":1.5,"may_be_sent":0,"outcomes":{"accepted":2},\
            "resent":0,"rows":2,"sessions":1},"exit_code":0,"host":"push-1","run_directory":"/runs/tonight",\
            "verdict":"OK: 2 of 2 rows accepted","version":"1.0.0"},"timestamp":"2021-02-25T15:02:10Z",\
            "type":"apns_batch.campaign.completed"}
            """
        #expect(body == expected)
    }

    @Test(arguments: ["\"", "\\", "\u{1}", "\u{7f}", "ü", "\u{2028}", "🚀", "/"])
    func `a body stays below 20 kB and on one line, whatever texts hold`(character: String) throws {
        var facts = WebhookEvent.Facts(campaign: "nightly", host: "push-1", version: "1.0.0")
        let text = String(repeating: character, count: 30_000)
        (facts.verdict, facts.runDirectory, facts.host) = (text, text, text)
        let body = WebhookEvent(.failed, at: 0, facts).body
        #expect(body.utf8.count < WebhookEvent.bodyMax)
        #expect(!body.unicodeScalars.contains { $0.value < 32 })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        let data = try #require(object["data"] as? [String: Any])
        #expect((data["verdict"] as? String)?.hasSuffix("…") == true)
    }
}
