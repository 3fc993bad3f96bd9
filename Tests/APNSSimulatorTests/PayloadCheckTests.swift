import Testing

@testable import APNSSimulator

@Suite("The payload check")
struct PayloadCheckTests {
    static func answer(_ payload: String, _ type: PushType) -> String {
        let check = PayloadCheck()
        var facts: PayloadFacts = []
        return Array(payload.utf8).withUnsafeBytes { body in
            text(check.answer(body, total: body.count, type: type, facts: &facts))
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
        (#"{"aps":{"timestamp":1685952000,"event":"start","content-state":{},"alert":{"title":"a"}}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1685952000,"event":"end"}}"#, .liveactivity),
        ("{}", .voip), (#"{"call":1}"#, .voip), ("{}", .complication), ("{}", .location), ("{}", .pushtotalk),
        (#"{"container-identifier":"a","domain":"b"}"#, .fileprovider), (#"{"mdm":"PUSHMAGIC"}"#, .mdm),
    ]

    @Test("accepts what fits the push type", arguments: fitting)
    func fits(_ payload: String, _ type: PushType) {
        #expect(Self.answer(payload, type) == "200")
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
        (#"{"aps":{"event":"update"}}"#, .liveactivity), (#"{"aps":{"timestamp":1,"event":"stop"}}"#, .liveactivity),
    ]

    @Test("refuses what does not fit the push type", arguments: mismatched)
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
        #"{"aps":{"alert":"a","mutable-content":true}}"#, #"{"aps":{"alert":"a","interruption-level":"loud"}}"#,
        #"{"aps":{"alert":"a","relevance-score":"1"}}"#, #"{"aps":{"alert":"a","content-changed":1}}"#,
        #"{"aps":{"alert":"a","timestamp":"now"}}"#, #"{"aps":{"alert":"a","event":1}}"#,
    ]

    @Test("refuses what is no strict JSON, or of a wrong type", arguments: unreadable)
    func refusesUnreadable(_ payload: String) {
        #expect(Self.answer(payload, .alert) == "400 BadRequestPayload")
    }

    @Test("tells an empty payload")
    func empty() {
        #expect(Self.answer("", .alert) == "400 PayloadEmpty")
    }

    @Test("knows the limit of each push type", arguments: PushType.allCases)
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

    @Test("judges a body that was not kept whole by its size")
    func cut() {
        let check = PayloadCheck()
        var facts: PayloadFacts = []
        let kept = [UInt8](repeating: 0x20, count: 5120)
        kept.withUnsafeBytes { kept in
            #expect(check.answer(kept, total: 1 << 30, type: .voip, facts: &facts) == .payloadTooLarge)
            #expect(check.answer(kept, total: 5121, type: .voip, facts: &facts) == .payloadTooLarge)
        }
    }

    @Test(
        "sees white space outside strings only",
        arguments: [
            (#"{"aps":{"alert":"a b"}}"#, false), (#"{"aps": {"alert":"a"}}"#, true),
            (#"{"aps":{"alert":"a"}} "#, true),
            (#"{"aps":{"alert":"a"},"x":[1, 2]}"#, true), ("\n{\"aps\":{\"alert\":\"a\"}}", true),
        ])
    func blanks(_ payload: String, _ expected: Bool) {
        let check = PayloadCheck()
        var facts: PayloadFacts = []
        Array(payload.utf8).withUnsafeBytes { body in
            #expect(check.read(body, into: &facts))
        }
        #expect(facts.contains(.blanks) == expected)
    }
}
