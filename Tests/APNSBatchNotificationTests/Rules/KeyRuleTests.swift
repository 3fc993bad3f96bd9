import APNSBatchNotification
import Testing

/// A value of a key, and the expected findings, which are empty if the value is valid.
struct KeyCase: Sendable, CustomTestStringConvertible {
    let parent: PayloadKey.Parent
    let name: String
    let value: String
    let expected: String?
    var type = PushType.complication

    init(
        _ parent: PayloadKey.Parent, _ name: String, _ value: String, _ expected: String? = nil,
        type: PushType = .complication
    ) {
        (self.parent, self.name, self.value, self.expected, self.type) = (parent, name, value, expected, type)
    }

    var testDescription: String { "\(name) \(value)" }

    var payload: String {
        // The payload also has the keys that its push type requires.
        let other = name == "subtitle" ? "title" : "subtitle"
        let beside = type == .liveactivity && parent != .aps ? #""timestamp":1,"event":"end","# : ""
        switch parent {
        case .payload, .aps: return "{\"aps\":{\"\(name)\":\(value)}}"
        case .alert: return "{\"aps\":{\(beside)\"alert\":{\"\(other)\":\"\",\"\(name)\":\(value)}}}"
        case .sound: return "{\"aps\":{\"sound\":{\"\(name)\":\(value)}}}"
        }
    }
}

@Suite struct KeyRuleTests {
    @Test(
        "The value of each key has the type and range that the key requires",
        arguments: [
            KeyCase(.aps, "alert", #""Hello""#),
            KeyCase(.aps, "alert", "{}"),
            KeyCase(.aps, "alert", "3", "key-type: aps.alert: expected a string or an object, found 3"),
            KeyCase(.aps, "alert", "[]", "key-type: aps.alert: expected a string or an object, found an array"),
            KeyCase(.aps, "alert", "null", "key-type: aps.alert: expected a string or an object, found null"),
            KeyCase(.aps, "badge", "0"),
            KeyCase(.aps, "badge", "12"),
            KeyCase(.aps, "badge", "5.0"),
            KeyCase(.aps, "badge", "1e2"),
            KeyCase(.aps, "badge", "-0"),
            KeyCase(.aps, "badge", #""five""#, #"key-type: aps.badge: expected a whole number, found "five""#),
            KeyCase(.aps, "badge", #""5""#, #"key-type: aps.badge: expected a whole number, found "5""#),
            KeyCase(.aps, "badge", "true", "key-type: aps.badge: expected a whole number, found true"),
            KeyCase(.aps, "badge", "-1", "key-range: aps.badge: expected a whole number of at least 0, found -1"),
            KeyCase(.aps, "badge", "1.5", "key-range: aps.badge: expected a whole number of at least 0, found 1.5"),
            KeyCase(.aps, "badge", "12e-1", "key-range: aps.badge: expected a whole number of at least 0, found 12e-1"),
            KeyCase(.aps, "sound", #""default""#),
            KeyCase(.aps, "sound", "1", "key-type: aps.sound: expected a string or an object, found 1"),
            KeyCase(.aps, "thread-id", "7", "key-type: aps.thread-id: expected a string, found 7"),
            KeyCase(.aps, "category", "false", "key-type: aps.category: expected a string, found false"),
            KeyCase(.aps, "content-available", "1"),
            KeyCase(.aps, "content-available", "1.0"),
            KeyCase(.aps, "content-available", "0"),
            KeyCase(.aps, "content-available", "0.0"),
            KeyCase(.aps, "content-available", "2", "key-range: aps.content-available: expected 0 or 1, found 2"),
            KeyCase(.aps, "content-available", "true", "key-type: aps.content-available: expected 0 or 1, found true"),
            KeyCase(.aps, "mutable-content", "1"),
            KeyCase(.aps, "mutable-content", "0"),
            KeyCase(
                .aps, "mutable-content", "true",
                "mutable-content-true: aps.mutable-content: expected 0 or 1, found true"),
            KeyCase(.aps, "mutable-content", "2", "key-range: aps.mutable-content: expected 0 or 1, found 2"),
            KeyCase(.aps, "mutable-content", "10", "key-range: aps.mutable-content: expected 0 or 1, found 10"),
            KeyCase(.aps, "mutable-content", "false", "key-type: aps.mutable-content: expected 0 or 1, found false"),
            KeyCase(
                .aps, "target-content-id", "{}", "key-type: aps.target-content-id: expected a string, found an object"),
            KeyCase(.aps, "interruption-level", #""passive""#),
            KeyCase(.aps, "interruption-level", #""active""#),
            KeyCase(.aps, "interruption-level", #""time-sensitive""#),
            KeyCase(.aps, "interruption-level", #""critical""#),
            KeyCase(
                .aps, "interruption-level", #""urgent""#,
                "key-range: aps.interruption-level: "
                    + "expected passive, active, time-sensitive or critical, found \"urgent\""
            ),
            KeyCase(
                .aps, "interruption-level", "1",
                "key-type: aps.interruption-level: expected passive, active, time-sensitive or critical, found 1"),
            KeyCase(.aps, "relevance-score", "0.5"),
            KeyCase(.aps, "relevance-score", "1"),
            KeyCase(.aps, "relevance-score", "0"),
            KeyCase(
                .aps, "relevance-score", "1.01",
                "key-range: aps.relevance-score: expected a number from 0 to 1, found 1.01"),
            KeyCase(
                .aps, "relevance-score", "-0.5",
                "key-range: aps.relevance-score: expected a number from 0 to 1, found -0.5"),
            KeyCase(
                .aps, "relevance-score", "75", "key-range: aps.relevance-score: expected a number from 0 to 1, found 75"
            ),
            KeyCase(
                .aps, "relevance-score", #""high""#,
                #"key-type: aps.relevance-score: expected a number, found "high""#),
            KeyCase(.aps, "filter-criteria", "1", "key-type: aps.filter-criteria: expected a string, found 1"),
            KeyCase(.aps, "stale-date", "1700000000"),
            KeyCase(
                .aps, "stale-date", #""soon""#,
                #"key-type: aps.stale-date: expected whole seconds since 1970, found "soon""#),
            KeyCase(
                .aps, "stale-date", "1700000000000",
                "key-range: aps.stale-date: "
                    + "expected whole seconds since 1970, found 1700000000000, which may be milliseconds"
            ),
            KeyCase(.aps, "timestamp", "1.5", "key-range: aps.timestamp: expected whole seconds since 1970, found 1.5"),
            KeyCase(
                .aps, "dismissal-date", "-1",
                "key-range: aps.dismissal-date: expected whole seconds since 1970, found -1"),
            KeyCase(.aps, "content-state", #"{"a":[1]}"#),
            KeyCase(.aps, "content-state", "[]", "key-type: aps.content-state: expected an object, found an array"),
            KeyCase(.aps, "attributes", #""x""#, #"key-type: aps.attributes: expected an object, found "x""#),
            KeyCase(.aps, "attributes-type", "{}", "key-type: aps.attributes-type: expected a string, found an object"),
            KeyCase(.aps, "event", #""update""#),
            KeyCase(.aps, "event", #""stop""#, #"key-range: aps.event: expected start, update or end, found "stop""#),
            KeyCase(.aps, "input-push-token", "1"),
            KeyCase(.aps, "input-push-token", #""1""#, #"key-type: aps.input-push-token: expected 1, found "1""#),
            KeyCase(.aps, "input-push-channel", "1", "key-type: aps.input-push-channel: expected a string, found 1"),
            KeyCase(.aps, "content-changed", "true"),
            KeyCase(.aps, "content-changed", "false", "key-range: aps.content-changed: expected true, found false"),
            KeyCase(.aps, "content-changed", "1", "key-type: aps.content-changed: expected true, found 1"),
            KeyCase(.aps, "url-args", #"["boarding","A998"]"#),
            KeyCase(
                .aps, "url-args", #""A998""#, #"key-type: aps.url-args: expected an array of strings, found "A998""#),
            KeyCase(
                .aps, "url-args", "[[]]",
                "key-type: aps.url-args: expected an array of strings, found an array as element 1"),
            KeyCase(.aps, "summary-arg", "null", "key-type: aps.summary-arg: expected a string, found null"),
            KeyCase(.aps, "summary-arg-count", "3"),
            KeyCase(
                .aps, "summary-arg-count", #""3""#,
                #"key-type: aps.summary-arg-count: expected a whole number, found "3""#),
        ])
    func aps(_ test: KeyCase) throws {
        let expected = test.expected.map { [$0] } ?? []
        #expect(try PayloadRules.ofRaw(test.payload, test.type) == expected)
        #expect(try PayloadRules.ofTemplate(test.payload, [], test.type) == expected)
    }

    @Test(
        "Keys of alert and sound have the type and range that they require",
        arguments: [
            KeyCase(.alert, "title", "1", "key-type: aps.alert.title: expected a string, found 1"),
            KeyCase(.alert, "title", "{}", "key-type: aps.alert.title: expected a string, found an object"),
            KeyCase(.alert, "subtitle", "[]", "key-type: aps.alert.subtitle: expected a string, found an array"),
            KeyCase(.alert, "body", "null", "key-type: aps.alert.body: expected a string, found null"),
            KeyCase(.alert, "body", #"{"loc-key":"A","loc-args":["b"]}"#, type: .liveactivity),
            KeyCase(
                .alert, "body", "3", "key-type: aps.alert.body: expected a string or an object, found 3",
                type: .liveactivity),
            KeyCase(.alert, "launch-image", "1", "key-type: aps.alert.launch-image: expected a string, found 1"),
            KeyCase(.alert, "title-loc-key", "null"),
            KeyCase(
                .alert, "title-loc-key", "1", "key-type: aps.alert.title-loc-key: expected a string or null, found 1"),
            KeyCase(.alert, "title-loc-args", "null"),
            KeyCase(.alert, "title-loc-args", #"["a"]"#),
            KeyCase(
                .alert, "title-loc-args", #""a""#,
                #"key-type: aps.alert.title-loc-args: expected an array of strings or null, found "a""#),
            KeyCase(
                .alert, "title-loc-args", "[1]",
                "key-type: aps.alert.title-loc-args: expected an array of strings or null, found 1 as element 1"),
            KeyCase(.alert, "subtitle-loc-key", "null"),
            KeyCase(
                .alert, "subtitle-loc-key", "{}",
                "key-type: aps.alert.subtitle-loc-key: expected a string or null, found an object"),
            KeyCase(.alert, "subtitle-loc-args", "[]"),
            KeyCase(
                .alert, "subtitle-loc-args", "true",
                "key-type: aps.alert.subtitle-loc-args: expected an array of strings or null, found true"),
            KeyCase(.alert, "loc-key", "null", "key-type: aps.alert.loc-key: expected a string, found null"),
            KeyCase(.alert, "loc-args", #"["Jenna","Frank"]"#),
            KeyCase(.alert, "loc-args", "3", "key-type: aps.alert.loc-args: expected an array of strings, found 3"),
            KeyCase(
                .alert, "loc-args", "null", "key-type: aps.alert.loc-args: expected an array of strings, found null"),
            KeyCase(
                .alert, "loc-args", #"["a",3,4]"#,
                "key-type: aps.alert.loc-args: expected an array of strings, found 3 as element 2"),
            KeyCase(.alert, "sound", #""chime.aiff""#, type: .liveactivity),
            KeyCase(
                .alert, "sound", "1", "key-type: aps.alert.sound: expected a string, found 1", type: .liveactivity),
            KeyCase(
                .alert, "sound", #""chime.aiff""#,
                #"unknown-alert-key: aps.alert.sound: unknown key; did you mean "sound" in aps?"#),
            KeyCase(.alert, "action-loc-key", "null"),
            KeyCase(.alert, "action-loc-key", #""PLAY""#),
            KeyCase(
                .alert, "action-loc-key", "5",
                "key-type: aps.alert.action-loc-key: expected a string or null, found 5"),
            KeyCase(.alert, "action", "null", "key-type: aps.alert.action: expected a string, found null"),
            KeyCase(.sound, "critical", "1"),
            KeyCase(.sound, "critical", "0"),
            KeyCase(.sound, "critical", "true", "key-type: aps.sound.critical: expected 0 or 1, found true"),
            KeyCase(.sound, "critical", "2", "key-range: aps.sound.critical: expected 0 or 1, found 2"),
            KeyCase(.sound, "name", "1", "key-type: aps.sound.name: expected a string, found 1"),
            KeyCase(.sound, "volume", "0.75"),
            KeyCase(.sound, "volume", "1.0"),
            KeyCase(.sound, "volume", "0.0"),
            KeyCase(.sound, "volume", "10e-1"),
            KeyCase(.sound, "volume", "1.5", "key-range: aps.sound.volume: expected a number from 0 to 1, found 1.5"),
            KeyCase(.sound, "volume", "-0.1", "key-range: aps.sound.volume: expected a number from 0 to 1, found -0.1"),
            KeyCase(.sound, "volume", #""loud""#, #"key-type: aps.sound.volume: expected a number, found "loud""#),
        ])
    func below(_ test: KeyCase) throws {
        let expected = test.expected.map { [$0] } ?? []
        #expect(try PayloadRules.ofRaw(test.payload, test.type) == expected)
        #expect(try PayloadRules.ofTemplate(test.payload, [], test.type) == expected)
    }

    @Test("The relevance score of a Live Activity is any number")
    func score() throws {
        let payload = #"{"aps":{"timestamp":1,"event":"end","relevance-score":75}}"#
        #expect(try PayloadRules.ofRaw(payload, .liveactivity) == [])
    }

    @Test("Every key of the table is found, and a value of another type is reported", arguments: PayloadKey.all)
    func everyKey(_ key: PayloadKey) throws {
        if key.parent == .payload { return }
        let test = KeyCase(key.parent, key.name, "[{}]", type: key.pushType ?? .complication)
        // Only `content-state` and similar keys accept an object; none of them accepts an array of objects.
        let found = try PayloadRules.ofRaw(test.payload, test.type)
        #expect(found.filter { $0.hasPrefix("key-type: \(key.parent.path).\(key.name): expected ") }.count == 1)
        #expect(found.allSatisfy { !$0.contains("unknown") })
    }

    @Test(
        "An unknown key is reported with the most similar known key",
        arguments: [
            (#"{"thread_identifier":"a"}"#, #"thread_identifier: unknown key; did you mean "thread-id"? custom keys"#),
            (#"{"threadIdentifier":"a"}"#, #"threadIdentifier: unknown key; did you mean "thread-id"? custom keys"#),
            (
                #"{"contentAvailable":1}"#,
                #"contentAvailable: unknown key; did you mean "content-available"? custom keys"#
            ),
            (#"{"mutable_content":1}"#, #"mutable_content: unknown key; did you mean "mutable-content"? custom keys"#),
            (#"{"bagde":1}"#, #"bagde: unknown key; did you mean "badge"? custom keys"#),
            (#"{"title":"a"}"#, #"title: unknown key; did you mean "title" in aps.alert? custom keys"#),
            (#"{"acme1":"a"}"#, "acme1: unknown key; custom keys"),
        ])
    func unknown(aps: String, expected: String) throws {
        let wanted = ["unknown-aps-key: aps.\(expected) belong beside aps"]
        #expect(try PayloadRules.ofRaw("{\"aps\":\(aps)}", .voip) == wanted)
        #expect(try PayloadRules.ofTemplate("{\"aps\":\(aps)}", [], .voip) == wanted)
    }

    @Test(
        "Unknown keys of alert and sound are reported, and the app's own keys are not",
        arguments: [
            (
                #"{"aps":{"alert":{"title":"a","thread_identifier":"b"}}}"#,
                [#"unknown-alert-key: aps.alert.thread_identifier: unknown key; did you mean "thread-id" in aps?"#]
            ),
            (
                #"{"aps":{"alert":{"title":"a","colour":"b"}}}"#, ["unknown-alert-key: aps.alert.colour: unknown key"]
            ),
            (
                #"{"aps":{"sound":{"name":"a","volumne":1}}}"#,
                [#"unknown-sound-key: aps.sound.volumne: unknown key; did you mean "volume"?"#]
            ),
            (#"{"aps":{"alert":"a"},"thread_identifier":1,"alert":3,"x":{"badge":"a","badge":1}}"#, []),
        ])
    func unknownBelow(payload: String, expected: [String]) throws {
        #expect(try PayloadRules.ofRaw(payload) == expected)
    }

    @Test("A duplicate key in aps, alert or sound is reported")
    func duplicates() throws {
        let payload =
            #"{"aps":{"badge":1,"badge":2,"alert":{"title":"a","title":"b"},"sound":{"name":"x","name":"y"}},"aps":{}}"#
        #expect(
            try PayloadRules.ofRaw(payload) == [
                "duplicate-key: aps.badge: this key occurs twice",
                "duplicate-key: aps.alert.title: this key occurs twice",
                "duplicate-key: aps.sound.name: this key occurs twice",
                "duplicate-key: aps: this key occurs twice",
            ])
    }

    @Test(
        "An alert is a string, or an object with a body alone",
        arguments: [#""a""#, #"{"body":"a"}"#, #"{"title":"b"}"#, #"{"body":"a","action-loc-key":"PLAY"}"#])
    func alertForms(alert: String) throws {
        let payload = "{\"aps\":{\"alert\":\(alert)}}"
        #expect(try PayloadRules.ofRaw(payload) == [])
        #expect(try PayloadRules.ofTemplate(payload) == [])
    }
}
