import Testing

@testable import APNSBatchNotification

@Suite("Values of header columns")
struct FieldTests {
    @Test("A push type is found by its exact name only")
    func pushTypes() {
        for type in PushType.allCases {
            #expect(withBytes(type.name) { PushType.parse($0) } == .success(type))
        }
        for text in ["", "Alert", "alert ", "aler", "alertx", "widget", "live-activity"] {
            #expect(withBytes(text) { PushType.parse($0) } == .failure(.pushTypeUnknown))
        }
    }

    @Test("Priorities are 1, 5 and 10", arguments: Priority.allCases)
    func priorities(priority: Priority) {
        #expect(withBytes(priority.text) { Priority.parse($0) } == .success(priority))
        #expect(priority.text == String(priority.rawValue))
    }

    @Test("Any other text is not a priority", arguments: ["", "0", "2", "10 ", "010", "1.0", "100", "high", "11"])
    func badPriorities(text: String) {
        #expect(withBytes(text) { Priority.parse($0) } == .failure(.priorityUnknown))
    }

    @Test("A background push allows priority 5 only, and all other types allow any")
    func priorityByType() {
        for type in PushType.allCases {
            for priority in Priority.allCases {
                let isAllowed = type != .background || priority == .powerAware
                #expect(type.check(priority) == (isAllowed ? nil : .priorityNotAllowed(type, priority)))
            }
            #expect(type.check(type.defaultPriority) == nil)
        }
    }

    @Test(
        "Expirations are decimal numbers of 32 bits",
        arguments: [("0", 0), ("1", 1), ("007", 7), ("1767225600", 1_767_225_600), ("4294967295", 4_294_967_295)])
    func expirations(text: String, seconds: UInt32) {
        #expect(withBytes(text) { Expiration.parse($0) } == .success(Expiration(seconds: seconds)))
        let value = written(Expiration.lengthMax) { Expiration(seconds: seconds).write(to: $0) }
        #expect(value == String(seconds))
    }

    @Test("An expiration is written without leading zeros")
    func expirationWriting() {
        var seconds: UInt32 = 1
        while true {
            for value in [seconds - 1, seconds, seconds + 1] {
                #expect(written(Expiration.lengthMax) { Expiration(seconds: value).write(to: $0) } == String(value))
            }
            let (next, overflow) = seconds.multipliedReportingOverflow(by: 10)
            if overflow { break }
            seconds = next
        }
    }

    @Test(
        "Any other text is not an expiration",
        arguments: [
            ("", .expirationNotANumber), (" 1", .expirationNotANumber), ("-1", .expirationNotANumber),
            ("1e9", .expirationNotANumber), ("1.5", .expirationNotANumber), ("tomorrow", .expirationNotANumber),
            ("4294967296", .expirationTooLate), ("1767225600000", .expirationTooLate),
            ("99999999999999999999999999999999999999", .expirationTooLate),
        ] as [(String, FieldFault)])
    func badExpirations(text: String, fault: FieldFault) {
        #expect(withBytes(text) { Expiration.parse($0) } == .failure(fault))
    }

    @Test("An expiration has passed when its second is reached, and 0 never passes")
    func passed() {
        #expect(Expiration(seconds: 100).hasPassed(now: 100))
        #expect(!Expiration(seconds: 100).hasPassed(now: 99))
        #expect(!Expiration.once.hasPassed(now: .max))
    }

    @Test(
        "Collapse ids have 1 to 64 bytes, no control characters and no blank at either end",
        arguments: [
            ("a", nil), ("match 12", nil), (String(repeating: "x", count: 64), nil),
            (String(repeating: "é", count: 32), nil),
            (String(repeating: "é", count: 32) + "x", .collapseIDTooLong(65)),
            ("", .collapseIDEmpty), ("a\nb", .collapseIDCharacter(at: 1)), ("ab\0", .collapseIDCharacter(at: 2)),
            ("\u{7f}", .collapseIDCharacter(at: 0)), (" a", .collapseIDBlank), ("a ", .collapseIDBlank),
            (" ", .collapseIDBlank),
        ] as [(String, FieldFault?)])
    func collapseIDs(text: String, fault: FieldFault?) {
        #expect(withBytes(text) { CollapseID.check($0) } == fault)
    }

    @Test(
        "Topics consist of letters, digits, dots, dashes and underscores",
        arguments: [
            ("com.example.app", nil), ("a", nil), ("com.Example_1.app-2", nil),
            ("com.apple.mgmt.External.0a1b2c3d-0000-4000-8000-000000000000", nil),
            (String(repeating: "a", count: 255), nil), (String(repeating: "a", count: 256), .topicTooLong(256)),
            ("", .topicEmpty), (" com.example", .topicCharacter(at: 0)), ("com.example,x", .topicCharacter(at: 11)),
            ("com.exämple", .topicCharacter(at: 6)), ("a\r\nb", .topicCharacter(at: 1)),
        ] as [(String, FieldFault?)])
    func topics(text: String, fault: FieldFault?) {
        #expect(withBytes(text) { Topic.check($0) } == fault)
    }

    @Test(
        "An error states the column, what was expected and what was found",
        arguments: [
            (
                .pushTypeUnknown, "Alert",
                """
                push_type: expected alert, background, voip, complication, fileprovider, location, liveactivity, \
                pushtotalk, widgets, controls or mdm, found "Alert"
                """
            ),
            (.topicEmpty, "", "topic: expected at least one character, found nothing"),
            (.topicTooLong(256), "", "topic: expected at most 255 bytes, found 256"),
            (
                .topicCharacter(at: 3), "com example",
                "topic: expected letters, digits, '.', '-' or '_', found \" \" at byte 4"
            ),
            (.priorityUnknown, "7", "priority: expected 1, 5 or 10, found \"7\""),
            (
                .priorityNotAllowed(.background, .immediate), "10",
                "priority: a push of type background must have priority 5, found 10"
            ),
            (
                .expirationNotANumber, "to\nmorrow",
                """
                expiration: expected seconds since 1970, 0, a time such as 2026-01-01T08:00:00Z or a duration such as \
                2h, found "to\\nmorrow"
                """
            ),
            (
                .expirationTooLate, "1767225600000",
                """
                expiration: expected seconds since 1970, 0, a time such as 2026-01-01T08:00:00Z or a duration such as \
                2h, found "1767225600000", which may be milliseconds
                """
            ),
            (.expirationTooLong, "1000d", "expiration: expected a duration of at most 365 days, found \"1000d\""),
            (
                .messageID, "123E4567-E89B-12D3-A456-426614174000",
                """
                apns_id: expected a UUID, 8-4-4-4-12 hex digits, \
                found "123E4567-E89B-12D3-A456-426614174000"
                """
            ),
            (.collapseIDEmpty, "", "collapse_id: expected at least one character, found nothing"),
            (.collapseIDTooLong(65), "", "collapse_id: expected at most 64 bytes, found 65"),
            (
                .collapseIDCharacter(at: 1), "a\u{7}",
                "collapse_id: expected no control characters, found \"\\u0007\" at byte 2"
            ),
            (.collapseIDBlank, " a", "collapse_id: expected no whitespace at either end, found \" a\""),
            (
                .priorityUnknown, String(repeating: "é", count: 30),
                "priority: expected 1, 5 or 10, found \"éééééééééééééééééééé…\""
            ),
            (
                .priorityUnknown, "1" + String(repeating: "é", count: 30),
                "priority: expected 1, 5 or 10, found \"1ééééééééééééééééééé…\""
            ),
        ] as [(FieldFault, String, String)])
    func messages(fault: FieldFault, text: String, message: String) {
        #expect(withBytes(text) { fault.message(for: $0) } == message)
    }
}

@Suite("Table of push types")
struct PushTypeRuleTests {
    @Test("The table has one row per push type, in order")
    func order() {
        #expect(PushTypeRule.all.map(\.type) == PushType.allCases)
        #expect(Set(PushTypeRule.all.map(\.name)).count == PushType.allCases.count)
    }

    @Test(
        "Each push type determines its topic and payload limit",
        arguments: [
            (.alert, "com.example.app", 4096), (.background, "com.example.app", 4096),
            (.voip, "com.example.app.voip", 5120), (.complication, "com.example.app.complication", 4096),
            (.fileprovider, "com.example.app.pushkit.fileprovider", 4096),
            (.location, "com.example.app.location-query", 4096),
            (.liveactivity, "com.example.app.push-type.liveactivity", 4096),
            (.pushtotalk, "com.example.app.voip-ptt", 4096), (.widgets, "com.example.app.push-type.widgets", 4096),
            (.controls, "com.example.app.push-type.controls", 4096), (.mdm, "com.example.app", 4096),
        ] as [(PushType, String, Int)])
    func derived(type: PushType, topic: String, limit: Int) {
        #expect(Topic.derive(bundleID: "com.example.app", pushType: type) == topic)
        #expect(Topic.derive(bundleID: topic, pushType: type) == topic)
        #expect(Topic.expected(for: topic, pushType: type) == nil)
        #expect(Topic.expected(for: "com.example.app", pushType: type) == (topic == "com.example.app" ? nil : topic))
        #expect(Topic.bundleID(of: topic) == (topic == "com.example.app" ? nil : "com.example.app"))
        #expect(type.payloadLimit == limit)
    }

    @Test("The table marks push types that require a token or a certificate")
    func authentication() {
        for rule in PushTypeRule.all {
            switch rule.type {
            case .location, .fileprovider: #expect(rule.authentication == .tokenOnly)
            case .mdm: #expect(rule.authentication == .certificateOnly)
            default: #expect(rule.authentication == .tokenOrCertificate)
            }
        }
    }
}
