import Testing

@testable import APNSBatchNotification

@Suite("APNs answers")
struct AnswerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let status: UInt16
        let reason: String
        let action: AnswerAction
        var testDescription: String { "\(status) \(reason)" }

        init(_ status: UInt16, _ reason: String, _ action: AnswerAction) {
            self.status = status
            self.reason = reason
            self.action = action
        }
    }

    /// The rows are written from the documentation, not from the table under test.
    static let documented: [Row] = [
        Row(400, "BadDeviceToken", .rejected(.quarantine)),
        Row(400, "DeviceTokenNotForTopic", .rejected(.none)),
        Row(400, "BadCollapseId", .rejected(.none)),
        Row(400, "BadExpirationDate", .rejected(.none)),
        Row(400, "BadMessageId", .rejected(.none)),
        Row(400, "BadPriority", .rejected(.none)),
        Row(400, "InvalidPushType", .rejected(.none)),
        Row(400, "PayloadEmpty", .rejected(.none)),
        Row(400, "DuplicateHeaders", .rejected(.none)),
        Row(400, "MissingDeviceToken", .rejected(.none)),
        Row(400, "BadTopic", .stop),
        Row(400, "MissingTopic", .stop),
        Row(400, "TopicDisallowed", .stop),
        Row(400, "IdleTimeout", .retry(Retry(after: .none, connection: .replace))),
        Row(
            403, "ExpiredProviderToken",
            .retry(Retry(after: .none, connection: .replace, token: .renew, limit: .stop(after: 2)))),
        Row(403, "InvalidProviderToken", .stop),
        Row(403, "MissingProviderToken", .stop),
        Row(403, "BadCertificate", .stop),
        Row(403, "BadCertificateEnvironment", .stop),
        Row(403, "BadEnvironmentKeyIdInToken", .stop),
        Row(403, "BadEnvironmentKeyInToken", .stop),
        Row(403, "Forbidden", .stop),
        Row(
            403, "UnrelatedKeyIdInToken", .retry(Retry(after: .none, connection: .replace, limit: .stop(after: 1)))),
        Row(404, "BadPath", .stop),
        Row(405, "MethodNotAllowed", .stop),
        Row(410, "Unregistered", .rejected(.delete)),
        Row(410, "ExpiredToken", .rejected(.delete)),
        Row(413, "PayloadTooLarge", .rejected(.none)),
        Row(
            429, "TooManyProviderTokenUpdates", .retry(Retry(after: .short, connection: .replace, token: .pause))),
        Row(429, "TooManyRequests", .retry(Retry(after: .short))),
        Row(500, "InternalServerError", .retry(Retry(after: .long))),
        Row(503, "ServiceUnavailable", .retry(Retry(after: .long))),
        Row(503, "Service Unavailable", .retry(Retry(after: .long))),
        Row(503, "Shutdown", .retry(Retry(after: .short, connection: .replace))),
        Row(400, "FeatureNotEnabled", .stop),
        Row(400, "MissingChannelId", .rejected(.none)),
        Row(400, "BadChannelId", .rejected(.none)),
        Row(400, "ChannelNotRegistered", .rejected(.none)),
        Row(400, "BadRequestParams", .rejected(.none)),
        Row(400, "BadRequestPayload", .rejected(.none)),
        Row(400, "MissingPushType", .rejected(.none)),
        Row(400, "CannotCreateChannelConfig", .stop),
        Row(403, "TopicMismatch", .stop),
    ]

    @Test("Each documented reason has exactly one action", arguments: Self.documented)
    func action(row: Row) {
        let answer = withBytes("{\"reason\":\"\(row.reason)\"}") { Answer(status: row.status, body: $0) }
        #expect(answer.reason?.rawValue == row.reason)
        #expect(answer.action == row.action)
        guard case .known(let reason) = answer.reason else {
            Issue.record("the reason is not known")
            return
        }
        #expect(reason.rule.status == row.status)
        #expect(reason.text == row.reason)
    }

    @Test("The table contains only documented reasons, in the order of their names")
    func table() {
        #expect(AnswerRule.all.map(\.reason) == KnownReason.allCases)
        #expect(AnswerRule.all.map(\.text) == Self.documented.map(\.reason))
        #expect(Set(AnswerRule.all.map(\.text)).count == AnswerRule.all.count)
        #expect(AnswerRule.all.allSatisfy { !$0.note.isEmpty })
    }

    @Test(
        "An answer without a known reason is handled by its status",
        arguments: [
            (200, .accepted), (201, .rejected(.none)), (204, .rejected(.none)), (302, .rejected(.none)),
            (400, .rejected(.none)), (403, .rejected(.none)), (404, .rejected(.none)), (410, .rejected(.quarantine)),
            (413, .rejected(.none)), (429, .retry(Retry(after: .short))), (499, .rejected(.none)),
            (500, .retry(Retry(after: .long))), (502, .retry(Retry(after: .long))),
            (503, .retry(Retry(after: .long))), (599, .retry(Retry(after: .long))), (600, .rejected(.none)),
            (0, .rejected(.none)), (65535, .rejected(.none)),
        ] as [(UInt16, AnswerAction)])
    func statuses(status: UInt16, action: AnswerAction) {
        #expect(Answer(status: status).action == action)
        #expect(Answer(status: status, reason: .unknown("BrandNewReason")).action == action)
    }

    @Test("An answer with status 200 is accepted whatever its body contains")
    func accepted() {
        #expect(Answer(status: 200, reason: .known(.badTopic)).action == .accepted)
        #expect(withBytes("{\"reason\":\"BadTopic\"}") { Answer(status: 200, body: $0) } == Answer(status: 200))
    }

    @Test("A known reason decides the action even with another status")
    func reasonFirst() {
        #expect(Answer(status: 400, reason: .known(.unregistered)).action == .rejected(.delete))
        #expect(Answer(status: 500, reason: .known(.shutdown)).action == KnownReason.shutdown.rule.action)
    }

    @Test("Each reason tells what a high share of it means")
    func alarms() {
        #expect(Answer(status: 400, reason: .known(.badDeviceToken)).alarm == .wrongEnvironment)
        #expect(Answer(status: 400, reason: .known(.deviceTokenNotForTopic)).alarm == .wrongTopic)
        #expect(Answer(status: 400, reason: .known(.payloadEmpty)).alarm == .everyRow)
        #expect(Answer(status: 410, reason: .known(.unregistered)).alarm == nil)
        #expect(Answer(status: 200, reason: .known(.payloadEmpty)).alarm == nil)
    }
}

@Suite("Body of a refusal")
struct ReasonBodyTests {
    @Test(
        "The body of a refusal is parsed tolerantly",
        arguments: [
            ("{\"reason\":\"Unregistered\",\"timestamp\":1767225600123}", "Unregistered", 1_767_225_600_123),
            ("{\"timestamp\":5,\"reason\":\"Unregistered\"}", "Unregistered", 5),
            (" { \"reason\" : \"BadTopic\" } \n", "BadTopic", nil),
            ("{\"reason\":\"NeverSeen\"}", "NeverSeen", nil),
            ("{\"reason\":\"Service Unavailable\"}", "Service Unavailable", nil),
            ("{\"a\":{\"reason\":\"x\",\"b\":[1,{\"c\":\"]}\"}]},\"reason\":\"BadTopic\"}", "BadTopic", nil),
            ("{\"a\":null,\"b\":true,\"c\":-1.5e3,\"reason\":\"BadTopic\"}", "BadTopic", nil),
            ("{\"reason\":\"Bad\\u0054opic\"}", "BadTopic", nil),
            ("{\"reason\":\"a\\\"b\\\\c\\/\\n\\ud83d\\ude00\"}", "a\"b\\c/\n😀", nil),
            ("{\"reason\":\"\\ud83d\"}", nil, nil), ("{\"reason\":\"\\q\\u12\"}", nil, nil),
            ("{\"timestamp\":7,\"reason\":\"\\q\"}", nil, 7), ("{\"reason\":\"BadTopic\",\"a\":tru}", "BadTopic", nil),
            ("{\"reason\":\"é\"}", "é", nil),
            ("{\"reason\":\"BadTopic\",\"timestamp\":\"77\"}", "BadTopic", 77),
            ("{\"reason\":\"BadTopic\",\"timestamp\":77.9}", "BadTopic", 77),
            ("{\"reason\":\"BadTopic\",\"timestamp\":1e3}", "BadTopic", nil),
            ("{\"reason\":\"BadTopic\",\"timestamp\":-1}", "BadTopic", nil),
            ("{\"reason\":\"BadTopic\",\"timestamp\":999999999999999999}", "BadTopic", 999_999_999_999_999_999),
            ("{\"reason\":\"BadTopic\",\"timestamp\":1000000000000000000}", "BadTopic", nil),
            ("{\"reason\":\"BadTopic\",\"timestamp\":77.9e1}", "BadTopic", nil),
            ("{\"reason\":\"BadTopic\",\"timestamp\":9223372036854775808}", "BadTopic", nil),
            ("{\"timestamp\":99999999999999999999999,\"reason\":\"BadTopic\"}", "BadTopic", nil),
            ("{\"reason\":null,\"timestamp\":1}", nil, 1), ("{\"reason\":\"\"}", nil, nil), ("{}", nil, nil),
            ("", nil, nil), ("[]", nil, nil), ("<html>no</html>", nil, nil), ("\"reason\"", nil, nil),
            ("{\"reason\":\"BadTopic", nil, nil), ("{\"reason\":\"BadTopic\\", nil, nil),
            ("{\"reason\":\"BadTopic\"", "BadTopic", nil), ("{\"reason\"", nil, nil), ("{\"reason\":", nil, nil),
            ("{\"a\":}\"reason\":\"x\"}", nil, nil), ("{\"a\":[[[", nil, nil),
        ] as [(String, String?, Int64?)])
    func tolerant(body: String, reason: String?, timestamp: Int64?) {
        let parsed = withBytes(body) { ReasonBody.parse($0) }
        #expect(parsed.reason?.rawValue == reason)
        #expect(parsed.timestamp == timestamp)
    }

    @Test("A body that is cut or changed causes no crash")
    func hostile() {
        let body = Array(
            "{\"x\":[{\"y\":\"\\u00e9\"}],\"reason\":\"Unregist\\u0065red\",\"timestamp\":\"1767225600\"}".utf8)
        for length in 0...body.count {
            _ = withBytes(Array(body.prefix(length))) { ReasonBody.parse($0) }
        }
        for index in body.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = body
                changed[index] = byte
                _ = withBytes(changed) { (ReasonBody.parse($0), GoAwayDebug.parse($0)) }
            }
        }
    }

    @Test(
        "The reason is found behind deeply nested values, and deeper nesting causes no crash",
        arguments: [60, 100_000])
    func deep(depth: Int) {
        let body = "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let whole = body + ",\"reason\":\"BadTopic\"}"
        #expect(withBytes(whole) { ReasonBody.parse($0) }.reason == (depth == 60 ? .known(.badTopic) : nil))
    }

    @Test("Terminal control characters are removed from a reason when shown, and kept otherwise")
    func shown() {
        let body = Array(#"{"reason":"Odd\n\u001b[2J"}"#.utf8).withUnsafeBytes { ReasonBody.parse($0) }
        #expect(body.reason?.rawValue == "Odd\n\u{1b}[2J")
        #expect(body.reason.map { "\($0)" } == #"Odd\n\u001b[2J"#)
    }

    @Test("An unknown reason is kept up to the size limit")
    func unknownReasons() {
        let long = String(repeating: "x", count: 5000)
        #expect(withBytes("{\"reason\":\"\(long)\"}") { ReasonBody.parse($0) }.reason?.rawValue.count == 256)
        #expect(Reason(rawValue: "badtopic") == .unknown("badtopic"))
        #expect(Reason(rawValue: "BadTopic") == .known(.badTopic))
        #expect(Reason(bytes: UnsafeRawBufferPointer(start: nil, count: 0)) == .unknown(""))
    }
}

@Suite("Remedies by credentials")
struct CredentialRemedyTests {
    @Test("A remedy fits the credentials, whatever the server says of them", arguments: KnownReason.allCases)
    func fits(reason: KnownReason) {
        for isKey in [true, false] {
            guard let remedy = reason.remedy(isKey: isKey) else { continue }
            // These are about other credentials than those in use, or about channels, for which there are only keys.
            let namesBoth =
                remedy.contains("key or certificate")
                || [.missingProviderToken, .forbidden, .unrelatedKeyIdInToken].contains(reason)
            #expect(!remedy.contains(isKey ? "certificate" : "key") || namesBoth, "\(reason), \(isKey): \(remedy)")
        }
    }
}

@Suite("Debug data of GOAWAY")
struct GoAwayDebugTests {
    @Test(
        "Debug data is parsed as JSON, text or empty, and some reasons are fatal",
        arguments: [
            ("", .empty, false), ("  \n", .empty, false),
            ("{\"reason\":\"Shutdown\"}", .reason(.known(.shutdown)), false),
            ("{\"reason\":\"BadCertificateEnvironment\"}", .reason(.known(.badCertificateEnvironment)), true),
            ("{\"reason\":\"NeverSeen\"}", .reason(.unknown("NeverSeen")), false),
            (
                "Maximum active streams violated for this endpoint.",
                .text("Maximum active streams violated for this endpoint."), false
            ),
            ("{\"cause\":1}", .text("{\"cause\":1}"), false), ("a\u{1b}[2Jb", .text(#"a\u001b[2Jb"#), false),
            (String(repeating: "y", count: 1000), .text(String(repeating: "y", count: 256)), false),
        ] as [(String, GoAwayDebug, Bool)])
    func parsed(data: String, debug: GoAwayDebug, isFatal: Bool) {
        #expect(withBytes(data) { GoAwayDebug.parse($0) } == debug)
        #expect(debug.isFatal == isFatal)
    }
}
