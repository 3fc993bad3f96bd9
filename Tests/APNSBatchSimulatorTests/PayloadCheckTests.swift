import Foundation
import Testing

@testable import APNSBatchSimulator

@Suite("Payload check")
struct PayloadCheckTests {
    static func answer(_ payload: String, _ type: PushType) -> String {
        var facts: PayloadFacts = []
        return Array(payload.utf8).withUnsafeBytes { body in
            text(PayloadCheck.answer(body, total: body.count, type: type, facts: &facts))
        }
    }

    static let fitting: [(String, PushType)] = [
        (#"{"aps":{"alert":"Hello"}}"#, .alert),
        (#"{"aps":{"alert":{"body":"Hello"}}}"#, .alert),
        (#"{"aps":{"badge":0}}"#, .alert),
        (#"{"aps":{"sound":"default"}}"#, .alert),
        (#"{"aps":{"sound":{"critical":1,"name":"a.caf","volume":0.5}}}"#, .alert),
        (#"{"aps":{"content-available":1,"badge":3}}"#, .alert),
        (#"{"a\u0070s":{"\u0061lert":"Hello"}}"#, .alert),
        (#"{"x":{"aps":1},"aps":{"alert":"Hello","custom":[1,{"a":null}]},"y":[[]]}"#, .alert),
        (#"{"aps":{"alert":1},"aps":{"alert":"the last one counts"}}"#, .alert),
        (#" { "aps" : { "alert" : "Hello" } } "#, .alert),
        (
            #"{"aps":{"alert":"a","interruption-level":"time-sensitive","relevance-score":0.5,"mutable-content":1}}"#,
            .alert
        ),
        (#"{"aps":{"content-available":1}}"#, .background),
        (#"{"aps":{"content-available":1,"category":"c"},"id":7}"#, .background),
        (#"{"aps":{"content-changed":true}}"#, .widgets),
        (#"{"aps":{"content-changed":true}}"#, .controls),
        (#"{"aps":{"timestamp":1685952000,"event":"update","content-state":{"a":1}}}"#, .liveactivity),
        (
            #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{"a":1},"#
                + #""alert":{"title":{"loc-key":"%@ won","loc-args":["Pat"]},"body":{"loc-key":"k"},"sound":"s.caf"}}}"#,
            .liveactivity
        ),
        (#"{"aps":{"timestamp":1,"event":"update","content-state":{},"relevance-score":75}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1,"event":"end","dismissal-date":1,"stale-date":2}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1685952000,"event":"end"}}"#, .liveactivity),
        ("{}", .voip), (#"{"call":1}"#, .voip), ("{}", .complication), ("{}", .location), ("{}", .pushtotalk),
        (#"{"container-identifier":"a","domain":"b"}"#, .fileprovider), (#"{"mdm":"PUSHMAGIC"}"#, .mdm),
    ]

    @Test("A payload that matches the push type is accepted", arguments: fitting)
    func fits(_ payload: String, _ type: PushType) {
        #expect(Self.answer(payload, type) == "200")
    }

    /// Keys of `aps` with values of a valid type.
    static let values = [
        #""alert":"a""#, #""alert":{"title":"a","subtitle":"b","body":"c","launch-image":"d"}"#,
        #""alert":{"title-loc-key":"a","title-loc-args":["b"],"subtitle-loc-key":"c","subtitle-loc-args":[]}"#,
        #""alert":{"title-loc-key":null,"title-loc-args":null,"action-loc-key":null,"loc-key":"a"}"#,
        #""alert":{"loc-args":["a","b"],"action-loc-key":"a","action":"b","unknown":[1]}"#,
        #""alert":{"summary-arg":"a","summary-arg-count":2}"#, #""alert":{"loc-args":["a"]}"#,
        #""badge":7"#, #""sound":"default""#, #""sound":{"critical":1,"name":"a.caf","volume":1}"#,
        #""sound":{"critical":0,"volume":0.0,"other":{}}"#, #""sound":{"volume":1.000}"#, #""sound":{"volume":5e-1}"#,
        #""sound":{"volume":-0}"#, #""thread-id":"a""#, #""category":"a""#, #""content-available":1"#,
        #""content-available":0"#, #""mutable-content":0"#, #""mutable-content":1"#, #""mutable-content":true"#,
        #""target-content-id":"a""#,
        #""interruption-level":"passive""#,
        #""interruption-level":"active""#, #""interruption-level":"time-sensitive""#,
        #""interruption-level":"critical""#, #""relevance-score":0"#, #""relevance-score":1"#,
        #""relevance-score":0.75"#, #""relevance-score":1e-3"#, #""filter-criteria":"a""#, #""stale-date":1"#,
        #""content-state":{"a":[]}"#, #""timestamp":1"#, #""dismissal-date":1"#, #""attributes-type":"a""#,
        #""attributes":{}"#, #""input-push-token":1"#, #""input-push-channel":"dGVzdA==""#,
        #""content-changed":true"#, #""content-changed":false"#, #""url-args":["a","b"]"#, #""url-args":[]"#,
        #""summary-arg":"a""#, #""summary-arg-count":2"#, #""unknown":[{}]"#,
    ]

    @Test("Every key is accepted with a value of its type", arguments: values)
    func rightType(_ member: String) {
        #expect(Self.answer(#"{"aps":{"badge":1,\#(member)}}"#, .alert) == "200")
        #expect(Self.answer(#"{"aps":{"badge" : 1 , \#(member.replacing(",", with: " , ")) } } "#, .alert) == "200")
    }

    /// Keys of `aps` with values of a wrong type or outside the range.
    static let wrongValues = [
        #""alert":{"title":1}"#, #""alert":{"title":null}"#, #""alert":{"subtitle":[]}"#, #""alert":{"body":true}"#,
        #""alert":{"title":{"loc-key":"a"}}"#, #""alert":{"body":{}}"#, #""alert":{"launch-image":1}"#,
        #""alert":{"title-loc-key":1}"#, #""alert":{"title-loc-args":"a"}"#, #""alert":{"title-loc-args":[1]}"#,
        #""alert":{"subtitle-loc-key":null}"#, #""alert":{"subtitle-loc-args":null}"#,
        #""alert":{"subtitle-loc-args":{}}"#, #""alert":{"loc-key":null}"#, #""alert":{"loc-key":1}"#,
        #""alert":{"loc-args":null}"#, #""alert":{"loc-args":3}"#, #""alert":{"loc-args":["a",null]}"#,
        #""alert":{"loc-args":["a",["b"]]}"#, #""alert":{"action-loc-key":1}"#, #""alert":{"action":null}"#,
        #""alert":{"sound":1}"#, #""alert":{"summary-arg":1}"#, #""alert":{"summary-arg-count":"2"}"#,
        #""alert":{"loc-args":["a",1]}"#, #""alert":{"title":1,"title":"a"}"#,
        #""sound":{"critical":true}"#, #""sound":{"critical":2}"#, #""sound":{"critical":"1"}"#,
        #""sound":{"name":1}"#, #""sound":{"volume":"1"}"#, #""sound":{"volume":1.01}"#, #""sound":{"volume":2}"#,
        #""sound":{"volume":10}"#, #""sound":{"volume":-0.1}"#, #""sound":{"volume":1e1}"#, #""sound":null"#,
        #""sound":["a"]"#, #""thread-id":1"#, #""category":null"#, #""target-content-id":{}"#,
        #""filter-criteria":1"#, #""relevance-score":1.5"#, #""relevance-score":-1"#, #""relevance-score":null"#,
        #""stale-date":"1""#, #""dismissal-date":null"#, #""content-state":"a""#, #""content-state":[]"#,
        #""attributes-type":1"#, #""attributes":"a""#, #""input-push-token":"1""#, #""input-push-channel":1"#,
        #""content-changed":"true""#, #""url-args":"a""#, #""url-args":null"#, #""url-args":[1]"#,
        #""summary-arg":1"#, #""summary-arg-count":"1""#, #""interruption-level":1"#, #""mutable-content":"1""#,
    ]

    @Test("Every key is refused with a value of another type or out of range", arguments: wrongValues)
    func wrongType(_ member: String) {
        #expect(Self.answer(#"{"aps":{"badge":1,\#(member)}}"#, .alert) == "400 BadRequestPayload")
    }

    @Test(
        "Invalid JSON below known keys is refused",
        arguments: [
            #"{"loc-args":["a"}"#, #"{"loc-args":["a",]}"#, #"{"loc-args":[,"a"]}"#, #"{"loc-args":["a" "b"]}"#,
            #"{"loc-args":["#, #"{"title":"a",}"#, #"{"title"}"#, #"{"title":}"#, #"{"loc-args":[x]}"#,
        ])
    func broken(_ value: String) {
        #expect(Self.answer(#"{"aps":{"alert":\#(value)}}"#, .alert) == "400 BadRequestPayload")
        #expect(Self.answer(#"{"aps":{"badge":1,"sound":\#(value)}}"#, .alert) == "400 BadRequestPayload")
    }

    @Test("Every key is found by its name, also when escaped")
    func names() {
        func key<Key: PayloadKey>(_ name: String, isEscaped: Bool = false) -> Key? {
            Array(name.utf8).withUnsafeBufferPointer { text in
                Key(JSONText(start: text.baseAddress, end: text.baseAddress! + text.count, isEscaped: isEscaped))
            }
        }
        func check<Key: PayloadKey>(_: Key.Type) {
            #expect(Key.names.map(\.key).count == Key.allCases.count)
            for expected in Key.allCases {
                let names = Key.names.filter { $0.key == expected }
                #expect(names.count == 1)
                #expect(key("\(names[0].text)") == expected)
                let escaped = "\(names[0].text)".utf8.map { String(format: "\\u%04x", $0) }.joined()
                #expect(key(escaped, isEscaped: true) == expected)
            }
            #expect(key("nothing") as Key? == nil)
        }
        check(ApsKey.self)
        check(AlertKey.self)
        check(SoundKey.self)
    }

    static let mismatched: [(String, PushType)] = [
        ("{}", .alert), (#"{"aps":{}}"#, .alert), (#"{"alert":"beside"}"#, .alert), (#"{"aps":{"alert":""}}"#, .alert),
        (#"{"aps":{"alert":{}}}"#, .alert), (#"{"aps":{"alert":{ }}}"#, .alert), (#"{"aps":{"sound":""}}"#, .alert),
        (#"{"aps":{"content-available":1}}"#, .alert), (#"{"x":{"aps":{"alert":"deeper"}}}"#, .alert),
        (#"{"aps":{"alert":"a"},"aps":{"badge-":1}}"#, .alert), (#"{"aps":{"alert":"a","alert":""}}"#, .alert),
        ("{}", .background), (#"{"aps":{}}"#, .background), (#"{"content-available":1}"#, .background),
        (#"{"aps":{"content-available":0}}"#, .background),
        (#"{"aps":{"content-available":1,"alert":"a"}}"#, .background),
        (#"{"aps":{"content-available":1,"alert":""}}"#, .background),
        (#"{"aps":{"content-available":1,"badge":0}}"#, .background),
        (#"{"aps":{"content-available":1,"sound":""}}"#, .background),
        (#"{"aps":{"content-available":1,"content-available":2}}"#, .background),
        (#"{"aps":{"content-changed":false}}"#, .widgets), (#"{"aps":{"alert":"a"}}"#, .widgets), ("{}", .controls),
        ("{}", .liveactivity), (#"{"aps":{"timestamp":1}}"#, .liveactivity),
        (#"{"aps":{"event":"end"}}"#, .liveactivity), (#"{"aps":{"timestamp":1,"event":"stop"}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1,"event":"update"}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1,"event":"start","content-state":{}}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1,"event":"start","attributes":{},"attributes-type":"A"}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes":{}}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1,"event":"end","event":"update"}}"#, .liveactivity),
    ]

    @Test("A payload that does not match the push type is refused", arguments: mismatched)
    func mismatches(_ payload: String, _ type: PushType) {
        #expect(Self.answer(payload, type) == "400 InvalidPushType")
    }

    static let unreadable = [
        "[]", "\"aps\"", "1", "null", "{", #"{"aps":{"alert":"a"}"#, #"{"aps":{"alert":"a"},}"#,
        #"{"aps":{"alert":"a",}}"#,
        #"{"aps":{"alert":"a"}}x"#, #"{"aps":{"alert":"a"}}{}"#, #"{"aps":"text"}"#, #"{"aps":[]}"#, #"{"aps":null}"#,
        #"{“aps”:{“alert”:“a”}}"#, #"{"aps":{"alert":"\U0001F600"}}"#, #"{'aps':{}}"#, "{\"aps\":{\"alert\":\"a\nb\"}}",
        #"{"aps":{"alert":1}}"#, #"{"aps":{"alert":null}}"#, #"{"aps":{"alert":["a"]}}"#, #"{"aps":{"badge":"5"}}"#,
        #"{"aps":{"badge":null}}"#, #"{"aps":{"alert":"a","sound":1}}"#,
        #"{"aps":{"alert":"a","content-available":"1"}}"#,
        #"{"aps":{"alert":"a","mutable-content":false}}"#, #"{"aps":{"alert":"a","interruption-level":"loud"}}"#,
        #"{"aps":{"alert":"a","relevance-score":"1"}}"#, #"{"aps":{"alert":"a","content-changed":1}}"#,
        #"{"aps":{"alert":"a","timestamp":"now"}}"#, #"{"aps":{"alert":"a","event":1}}"#,
    ]

    @Test("Invalid JSON or JSON of a wrong type is refused", arguments: unreadable)
    func refusesUnreadable(_ payload: String) {
        #expect(Self.answer(payload, .alert) == "400 BadRequestPayload")
    }

    @Test("An empty payload is reported")
    func empty() {
        #expect(Self.answer("", .alert) == "400 PayloadEmpty")
    }

    @Test("Each push type has its size limit", arguments: PushType.allCases)
    func limit(_ type: PushType) {
        let limit = type == .voip ? 5120 : 4096
        let aps = #"{"aps":{"content-available":1,"content-changed":true,"timestamp":1,"event":"end""#
        let shown = type == .background ? "" : #","badge":1"#
        func payload(_ length: Int) -> String {
            let start = aps + shown + #"},"x":""#
            return start + String(repeating: "x", count: length - start.utf8.count - 2) + "\"}"
        }
        #expect(payload(limit).utf8.count == limit)
        #expect(Self.answer(payload(limit), type) == "200")
        #expect(Self.answer(payload(limit + 1), type) == "413 PayloadTooLarge")
    }

    @Test("A truncated body is judged by its size")
    func cut() {
        var facts: PayloadFacts = []
        let kept = [UInt8](repeating: 0x20, count: 5120)
        kept.withUnsafeBytes { kept in
            #expect(PayloadCheck.answer(kept, total: 1 << 30, type: .voip, facts: &facts) == .payloadTooLarge)
            #expect(PayloadCheck.answer(kept, total: 5121, type: .voip, facts: &facts) == .payloadTooLarge)
        }
    }

    @Test(
        "Only white space outside strings is found",
        arguments: [
            (#"{"aps":{"alert":"a b"}}"#, false), (#"{"aps": {"alert":"a"}}"#, true),
            (#"{"aps":{"alert":"a"}} "#, true),
            (#"{"aps":{"alert":"a"},"x":[1, 2]}"#, true), ("\n{\"aps\":{\"alert\":\"a\"}}", true),
        ])
    func blanks(_ payload: String, _ expected: Bool) {
        var facts: PayloadFacts = []
        Array(payload.utf8).withUnsafeBytes { body in
            #expect(PayloadCheck.read(body, into: &facts))
        }
        #expect(facts.contains(.blanks) == expected)
    }
}
