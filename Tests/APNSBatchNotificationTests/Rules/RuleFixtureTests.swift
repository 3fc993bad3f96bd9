import APNSBatchNotification
import Testing

@Suite struct RuleFixtureTests {
    private static func findings(_ name: String, _ type: PushType = .alert) throws -> [String] {
        let json = String(decoding: try PayloadFixtureTests.bytes(name + ".json"), as: UTF8.self)
        let raw = try PayloadRules.ofRaw(json, type, cardNumbers: true)
        #expect(try PayloadRules.ofTemplate(json, [], type).sorted() == raw.sorted())
        return raw
    }

    @Test(
        "Published payloads are valid",
        arguments: [
            "guide-2011-1", "guide-2011-3", "guide-2011-4", "guide-today-1", "guide-today-2", "guide-today-3",
            "tutorial-title-body", "tutorial-localised", "tutorial-badge", "tutorial-sound", "tutorial-critical-sound",
            "tutorial-custom-data", "tutorial-grouped-corrected", "tutorial-collapse",
        ])
    func right(name: String) throws {
        #expect(try Self.findings(name) == [])
    }

    @Test(
        "Unusual values in published payloads are reported, but do not prevent sending",
        arguments: [
            (
                "guide-2011-2",
                [
                    "unknown-aps-key: aps.acme1: unknown key; custom keys belong beside aps",
                    "unknown-aps-key: aps.acme2: unknown key; custom keys belong beside aps",
                ]
            ),
            (
                "tutorial-grouped",
                [
                    #"unknown-alert-key: aps.alert.thread_identifier: unknown key; did you mean "thread-id" in aps?"#
                ]
            ),
            ("encrypted", ["mutable-content-true: aps.mutable-content: expected 0 or 1, found true"]),
        ])
    func odd(name: String, expected: [String]) throws {
        #expect(try Self.findings(name) == expected)
        let rules = expected.compactMap { Rule(rawValue: String($0.prefix { $0 != ":" })) }
        #expect(rules.count == expected.count && rules.allSatisfy { $0.severity == .warning })
    }

    @Test(
        "An empty aps object shows nothing, and is valid where no content is required"
    )
    func empty() throws {
        #expect(
            try Self.findings("guide-2011-5") == [
                "alert-nothing-to-show: aps: expected an alert, a badge or a sound in a push of type alert, found none"
            ])
        #expect(try Self.findings("guide-2011-5", .complication) == [])
    }

    @Test("The unsupported escape \\U is reported by its place")
    func capitalU() {
        #expect(
            compacted(#"{"aps":{"alert":"\U0001F680"}}"#)
                == .invalid(#"payload: not valid JSON at line 1, column 18: "\U" is not a JSON escape"#))
    }
}
