import APNSBatchNotification
import Testing

@Suite struct ContentRuleTests {
    @Test(
        "A payload must contain what its push type requires",
        arguments: [
            (PushType.alert, #"{"aps":{"alert":"a"}}"#, []),
            (.alert, #"{"aps":{"badge":0}}"#, []),
            (.alert, #"{"aps":{"sound":"default"}}"#, []),
            (.alert, #"{"aps":{"alert":{"loc-key":"A"}}}"#, []),
            (.alert, #"{"aps":{}}"#, [nothing]),
            (.alert, #"{"aps":{"alert":""}}"#, [nothing]),
            (.alert, #"{"aps":{"alert":{}}}"#, [nothing]),
            (.alert, #"{"aps":{"alert":{"title":"","body":""},"sound":""}}"#, [nothing]),
            (.alert, #"{"aps":{"alert":{"title-loc-key":null,"launch-image":"a"}}}"#, [nothing]),
            (.alert, #"{"aps":{"category":"a"}}"#, [nothing]),
            (
                .alert, #"{"acme":1}"#,
                ["aps-missing: payload: expected an object named aps in a push of type alert, found none"]
            ),
            (.alert, #"{"aps":[]}"#, ["aps-type: aps: expected an object, found an array", nothing]),
            (.background, #"{"aps":{"content-available":1},"acme":1}"#, []),
            (
                .background, #"{"aps":{"content-available":1,"alert":"a","badge":1,"sound":"b"}}"#,
                [
                    "background-shows: aps.alert: expected no alert, badge or sound in a push of type background",
                    "background-shows: aps.badge: expected no alert, badge or sound in a push of type background",
                    "background-shows: aps.sound: expected no alert, badge or sound in a push of type background",
                ]
            ),
            (
                .background, #"{"aps":{}}"#,
                [
                    "background-content-available: aps.content-available: "
                        + "expected 1 in a push of type background, found nothing"
                ]
            ),
            (
                .background, #"{"aps":{"content-available":0}}"#,
                [
                    "background-content-available: aps.content-available: "
                        + "expected 1 in a push of type background, found nothing"
                ]
            ),
            (.alert, #"{"aps":{"content-available":0,"alert":"a"}}"#, []),
            (
                .background, #"{"aps":{"content-available":0.0}}"#,
                [
                    "background-content-available: aps.content-available: "
                        + "expected 1 in a push of type background, found nothing"
                ]
            ),
            (.widgets, #"{"aps":{"content-changed":true}}"#, []),
            (
                .widgets, #"{"aps":{}}"#,
                ["content-changed-missing: aps.content-changed: expected true in a push of type widgets, found nothing"]
            ),
            (.controls, #"{"aps":{"content-changed":true}}"#, []),
            (
                .controls, #"{"aps":{"content-changed":false}}"#,
                ["key-range: aps.content-changed: expected true, found false"]
            ),
            (.liveactivity, #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#, []),
            (
                .liveactivity, #"{"aps":{"content-state":{}}}"#,
                [
                    "timestamp-missing: aps.timestamp: "
                        + "expected whole seconds since 1970 in a push of type liveactivity, found nothing",
                    "event-missing: aps.event: "
                        + "expected start, update or end in a push of type liveactivity, found nothing",
                ]
            ),
            (
                .liveactivity, #"{"aps":{"timestamp":1,"event":"start","content-state":{}}}"#,
                [
                    #"start-attributes: aps.attributes-type: required with event "start", found nothing"#,
                    #"start-attributes: aps.attributes: required with event "start", found nothing"#,
                    #"start-alert: aps.alert: required with event "start", found nothing"#,
                ]
            ),
            (
                .liveactivity,
                #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{}}}"#,
                [#"start-alert: aps.alert: required with event "start", found nothing"#]
            ),
            (
                .liveactivity,
                #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{},"#
                    + #""alert":{"title":{"loc-key":"K"},"body":"b","sound":"chime.aiff"}}}"#,
                []
            ),
            (.liveactivity, #"{"aps":{"timestamp":1,"event":"end"}}"#, []),
            (
                .liveactivity, #"{"aps":{"timestamp":1,"event":"update"}}"#,
                [
                    "content-state-missing: aps.content-state: expected an object in a push of type liveactivity that "
                        + "does not end the activity, found nothing"
                ]
            ),
            (.voip, #"{"acme":1}"#, []),
            (.complication, "{}", []),
            (.fileprovider, #"{"container-identifier":"a","domain":"b"}"#, []),
            (.location, #"{"aps":{}}"#, []),
            (.pushtotalk, #"{"aps":{}}"#, []),
            (.mdm, #"{"mdm":"magic"}"#, []),
        ])
    func content(type: PushType, payload: String, expected: [String]) throws {
        #expect(try PayloadRules.ofRaw(payload, type) == expected)
        #expect(try PayloadRules.ofTemplate(payload, [], type) == expected)
    }

    private static let nothing =
        "alert-nothing-to-show: aps: expected an alert, a badge or a sound in a push of type alert, found none"

    @Test("A broadcast cannot start an activity, and may have 5,120 bytes")
    func broadcast() throws {
        let start = #"{"aps":{"timestamp":1,"event":"start","attributes-type":"A","attributes":{}}}"#
        let expected = [#"broadcast-start: aps.event: expected update or end in a broadcast, found "start""#]
        #expect(try PayloadRules.ofRaw(start, .liveactivity, isBroadcast: true) == expected)
        #expect(try PayloadRules.ofTemplate(start, [], .liveactivity, isBroadcast: true) == expected)
        let large = Self.payload(bytes: 5120, #"{"aps":{"timestamp":1,"event":"end","thread-id":""#)
        #expect(try PayloadRules.ofRaw(large, .liveactivity, isBroadcast: true) == [])
        #expect(
            try PayloadRules.ofRaw(large, .liveactivity) == [
                "payload-size: payload: expected at most 4096 bytes, found 5120"
            ])
    }

    @Test(
        "A payload of exactly the size limit is valid, and one byte more is not",
        arguments: [(PushType.alert, 4096), (.voip, 5120)])
    func size(type: PushType, limit: Int) throws {
        let right = Self.payload(bytes: limit, #"{"aps":{"alert":""#)
        let wrong = Self.payload(bytes: limit + 1, #"{"aps":{"alert":""#)
        let expected = ["payload-size: payload: expected at most \(limit) bytes, found \(limit + 1)"]
        #expect(try PayloadRules.ofRaw(right, type) == [])
        #expect(try PayloadRules.ofRaw(wrong, type) == expected)
        #expect(try PayloadRules.ofTemplate(right, [], type) == [])
        #expect(try PayloadRules.ofTemplate(wrong, [], type) == expected)
        let withField = wrong.replacing("xx", with: "{{a}}", maxReplacements: 1)
        #expect(
            try PayloadRules.ofTemplate(withField.replacing("}}", with: "}}xxx", maxReplacements: 1), ["a"], type) == [
                "payload-size: payload: expected at most \(limit) bytes, found \(limit + 2) or more"
            ])
    }

    /// Returns a payload of this size, which begins with `start` and is filled up with a string.
    private static func payload(bytes: Int, _ start: String) -> String {
        start + String(repeating: "x", count: bytes - start.utf8.count - 3) + "\"}}"
    }
}
