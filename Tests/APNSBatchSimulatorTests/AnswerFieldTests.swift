import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatchSimulator

@Suite("Header fields of answers")
struct AnswerFieldTests {
    /// Seconds since the epoch, and the same time as Python's email.utils.format_datetime writes it.
    static let dates: [(Int64, String)] = [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
        (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"), (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
        (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"), (1_735_689_600, "Wed, 01 Jan 2025 00:00:00 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ]

    @Test("A date is written as RFC 9110 requires", arguments: dates)
    func date(_ seconds: Int64, _ expected: String) {
        var date = DateField()
        func text(_ milliseconds: Int64) -> String { String(decoding: date.bytes(milliseconds), as: UTF8.self) }
        #expect(text(seconds * 1000) == expected)
        #expect(text(seconds * 1000 + 999) == expected)
        #expect(text(seconds * 1000 + 1000) != expected)
        #expect(text(seconds * 1000) == expected)
    }

    @Test("The date is sent once per connection, by a clock that may be wrong")
    func dateOnce() throws {
        var stage = try Stage()
        stage.configuration.clock = { 784_111_777_000 }
        stage.configuration.clockOffset = 86_400
        _ = try stage.run { port in
            let client = try stage.client(port)
            let token = try stage.authority.authorization(issuedAt: 784_111_777 + 86_400)
            let early = try stage.authority.authorization(issuedAt: 784_111_777)
            let answers = try client.send([
                stage.request { $0["authorization"] = token }, stage.request { $0["authorization"] = token },
                stage.request { $0["authorization"] = early },
            ])
            #expect(answers.map(\.reason) == ["200", "200", "403 ExpiredProviderToken"])
            #expect(answers.map { $0.fields["date"] } == ["Mon, 07 Nov 1994 08:49:37 GMT", nil, nil])
        }
    }

    @Test("An answer has retry-after where the script says so")
    func retryAfter() throws {
        var stage = try Stage()
        stage.configuration.script = SimulatorScript(rules: [
            SimulatorRule(share: 1, status: 429, reason: "TooManyRequests", times: 1, retryAfter: 30)
        ])
        _ = try stage.run { port in
            let client = try stage.client(port)
            let answers = try client.send([stage.request(), stage.request()])
            #expect(answers.map(\.reason) == ["429 TooManyRequests", "200"])
            #expect(answers.map { $0.fields["retry-after"] } == ["30", nil])
        }
    }

    /// The reasons in Apple's tables, with the status of each.
    static let reasons: [(Int, String)] = [
        (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (400, "BadCollapseId"), (400, "BadExpirationDate"),
        (400, "BadMessageId"), (400, "BadPriority"), (400, "InvalidPushType"), (400, "PayloadEmpty"),
        (400, "DuplicateHeaders"), (400, "MissingDeviceToken"), (400, "BadTopic"), (400, "MissingTopic"),
        (400, "TopicDisallowed"), (400, "IdleTimeout"), (403, "ExpiredProviderToken"), (403, "InvalidProviderToken"),
        (403, "MissingProviderToken"), (403, "BadCertificate"), (403, "BadCertificateEnvironment"),
        (403, "BadEnvironmentKeyIdInToken"), (403, "BadEnvironmentKeyInToken"), (403, "Forbidden"),
        (403, "UnrelatedKeyIdInToken"), (404, "BadPath"), (405, "MethodNotAllowed"), (410, "Unregistered"),
        (410, "ExpiredToken"), (413, "PayloadTooLarge"), (429, "TooManyProviderTokenUpdates"), (429, "TooManyRequests"),
        (500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Service Unavailable"), (503, "Shutdown"),
        (418, "SomethingNew"),
    ]

    @Test("Reason and body can be scripted for every known reason", arguments: reasons)
    func reason(_ status: Int, _ reason: String) throws {
        var stage = try Stage()
        stage.configuration.script = SimulatorScript(rules: [
            SimulatorRule(share: 1, status: status, reason: reason, timestamp: status == 410 ? 1_700_000_000_000 : nil)
        ])
        let report = try stage.run { port in
            let answer = try stage.client(port).send(stage.request())
            let timestamp = status == 410 ? #","timestamp":1700000000000"# : ""
            #expect(answer.text == #"\#(status) {"reason":"\#(reason)"\#(timestamp)}"#)
        }
        #expect(report.count(status: status, reason: reason) == 1)
        #expect(report.tokensTooEarly == 0 && report.tokensExpired == 0)
    }
}
