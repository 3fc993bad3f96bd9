import APNSBatchBasics
import Testing

@testable import APNSBatchSimulator

@Suite("Request check")
struct RequestCheckTests {
    let authority: TestAuthority
    let authorization: String

    init() throws {
        authority = try TestAuthority()
        authorization = try authority.authorization()
    }

    /// Returns the answer to a request on a new connection. The body does not begin at the start of its memory.
    func verdict(
        _ request: TestRequest, topics: [String]? = ["com.example.app", "com.example.other"],
        check body: (Verdict) -> Void = { _ in }
    ) -> String {
        var check = RequestCheck(keys: [authority.providerKey], limits: .init(), topics: topics)
        var connection = ConnectionIdentity()
        return request.withFields { fields in
            request.body.withUnsafeBytes { bytes in
                let verdict = check.judge(
                    fields: fields, body: bytes, bodyTotal: request.bodyTotal ?? bytes.count, on: &connection,
                    now: TestAuthority.now)
                body(verdict)
                return text(verdict.answer)
            }
        }
    }

    @Test("A valid request is accepted with its token and id")
    func right() {
        let answer = verdict(TestRequest(authorization: authorization)) { verdict in
            #expect(verdict.deviceToken.map { String(decoding: $0, as: UTF8.self) } == TestRequest.deviceToken)
            #expect(
                verdict.messageID.map { String(decoding: $0, as: UTF8.self) } == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
            #expect(verdict.isAuthorized)
        }
        #expect(answer == "200")
    }

    /// Each entry has a field, its value (nil omits the field) and the expected answer.
    static let fields: [(String, String?, String)] = [
        (":method", "GET", "405 MethodNotAllowed"), (":method", "post", "405 MethodNotAllowed"),
        (":method", "PUT", "405 MethodNotAllowed"), (":method", "", "405 MethodNotAllowed"),
        (":path", "/", "404 BadPath"), (":path", "", "404 BadPath"), (":path", "/3/devices/00ff", "404 BadPath"),
        (":path", "/2/device/00ff", "404 BadPath"), (":path", "/3/device/00ff/", "404 BadPath"),
        (":path", "/3/device/00ff/11", "404 BadPath"), (":path", "/3/device//", "404 BadPath"),
        (":path", "3/device/00ff", "404 BadPath"), (":path", "*", "404 BadPath"), (":path", "/3/devic", "404 BadPath"),
        (":path", "/3/device", "400 MissingDeviceToken"), (":path", "/3/device/", "400 MissingDeviceToken"),
        (":path", "/3/device/0", "400 BadDeviceToken"), (":path", "/3/device/abc", "400 BadDeviceToken"),
        (":path", "/3/device/0g", "400 BadDeviceToken"), (":path", "/3/device/AB", "400 BadDeviceToken"),
        (":path", "/3/device/00ff?x=1", "400 BadDeviceToken"), (":path", "/3/device/00ff%20", "400 BadDeviceToken"),
        (":path", "/3/device/" + String(repeating: "a", count: 63), "400 BadDeviceToken"),
        (":path", "/3/device/" + String(repeating: "a", count: 63) + "g", "400 BadDeviceToken"),
        (
            ":path", "/3/device/" + String(repeating: "a", count: 16) + "`" + String(repeating: "a", count: 47),
            "400 BadDeviceToken"
        ),
        (":path", "/3/device/ab", "200"), (":path", "/3/device/" + String(repeating: "09af", count: 50), "200"),
        ("apns-id", nil, "200"), ("apns-id", "", "400 BadMessageId"), ("apns-id", "1", "400 BadMessageId"),
        ("apns-id", "EABEAE54-14A8-11E5-B60B-1697F925EC7B", "400 BadMessageId"),
        ("apns-id", "eabeae5414a811e5b60b1697f925ec7b", "400 BadMessageId"),
        ("apns-id", "eabeae54-14a8-11e5-b60b-1697f925ec7", "400 BadMessageId"),
        ("apns-id", "eabeae54-14a8-11e5-b60b-1697f925ec7bb", "400 BadMessageId"),
        ("apns-id", "eabeae54-14a8-11e5-b60b01697f925ec7b", "400 BadMessageId"),
        ("apns-id", "gabeae54-14a8-11e5-b60b-1697f925ec7b", "400 BadMessageId"),
        ("apns-topic", nil, "400 MissingTopic"), ("apns-topic", "", "400 MissingTopic"),
        ("apns-topic", "com.example.app other", "400 BadTopic"), ("apns-topic", "com/example", "400 BadTopic"),
        ("apns-topic", String(repeating: "a", count: 256), "400 BadTopic"),
        ("apns-topic", "com.exämple", "400 BadTopic"),
        ("apns-topic", "com.example.other", "200"), ("apns-topic", "com.example.ap", "400 TopicDisallowed"),
        ("apns-topic", "com.example.apps", "400 TopicDisallowed"),
        ("apns-topic", "COM.example.app", "400 TopicDisallowed"),
        ("apns-topic", "com.example.app.voip", "400 DeviceTokenNotForTopic"),
        ("apns-topic", "com.example.app.unknown", "400 TopicDisallowed"),
        ("apns-push-type", nil, "400 InvalidPushType"), ("apns-push-type", "", "400 InvalidPushType"),
        ("apns-push-type", "Alert", "400 InvalidPushType"), ("apns-push-type", "alerts", "400 InvalidPushType"),
        ("apns-push-type", "voip", "400 DeviceTokenNotForTopic"),
        ("apns-push-type", "background", "400 BadPriority"), ("apns-push-type", "mdm", "200"),
        ("apns-priority", nil, "200"), ("apns-priority", "5", "200"), ("apns-priority", "1", "200"),
        ("apns-priority", "", "400 BadPriority"), ("apns-priority", "0", "400 BadPriority"),
        ("apns-priority", "2", "400 BadPriority"), ("apns-priority", "11", "400 BadPriority"),
        ("apns-priority", "010", "400 BadPriority"), ("apns-priority", "high", "400 BadPriority"),
        ("apns-priority", "-5", "400 BadPriority"), ("apns-priority", "5 ", "400 BadPriority"),
        ("apns-expiration", nil, "200"), ("apns-expiration", "1700000000", "200"),
        ("apns-expiration", "9223372036854775807", "200"),
        ("apns-expiration", "9223372036854775808", "400 BadExpirationDate"),
        ("apns-expiration", "99999999999999999999999", "400 BadExpirationDate"),
        ("apns-expiration", "", "400 BadExpirationDate"), ("apns-expiration", "-1", "400 BadExpirationDate"),
        ("apns-expiration", "1.5", "400 BadExpirationDate"), ("apns-expiration", "tomorrow", "400 BadExpirationDate"),
        ("apns-expiration", "+1", "400 BadExpirationDate"), ("apns-expiration", "/", "400 BadExpirationDate"),
        ("apns-expiration", ":", "400 BadExpirationDate"),
        ("apns-collapse-id", nil, "200"), ("apns-collapse-id", String(repeating: "c", count: 64), "200"),
        ("apns-collapse-id", String(repeating: "c", count: 65), "400 BadCollapseId"),
        ("apns-collapse-id", String(repeating: "é", count: 33), "400 BadCollapseId"),
        ("authorization", nil, "403 MissingProviderToken"), ("authorization", "", "403 MissingProviderToken"),
        ("authorization", "bearer", "403 MissingProviderToken"),
        ("authorization", "bearer  ", "403 MissingProviderToken"),
        ("authorization", "Basic abc", "403 InvalidProviderToken"),
        ("authorization", "bear", "403 InvalidProviderToken"),
        ("authorization", "bearer abc", "403 InvalidProviderToken"),
        ("authorization", "bearerx", "403 InvalidProviderToken"),
        ("x-unknown", "whatever", "200"), ("apns-unknown", "whatever", "200"),
    ]

    @Test("Each field is checked", arguments: fields)
    func field(_ name: String, _ value: String?, _ expected: String) {
        var request = TestRequest(authorization: authorization)
        request[name] = value
        #expect(verdict(request) == expected)
    }

    @Test(
        "A duplicate field is refused",
        arguments: [
            "authorization", "apns-id", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration",
            "apns-collapse-id", "user-agent",
        ])
    func duplicates(_ name: String) throws {
        var request = TestRequest(authorization: authorization)
        let value = try #require(request[name])
        request.fields.append((name, value))
        #expect(verdict(request) == "400 DuplicateHeaders")
    }

    @Test("Cookies may be split into several fields")
    func cookies() {
        var request = TestRequest(authorization: authorization)
        request.fields += [("cookie", "a=1"), ("cookie", "b=2")]
        #expect(verdict(request) == "200")
    }

    /// Push types, each with a topic and a payload that are valid for it.
    static let types: [(String, String, String)] = [
        ("alert", "com.example.app", #"{"aps":{"alert":"a"}}"#),
        ("background", "com.example.app", #"{"aps":{"content-available":1}}"#),
        ("voip", "com.example.app.voip", "{}"), ("complication", "com.example.app.complication", "{}"),
        ("fileprovider", "com.example.app.pushkit.fileprovider", "{}"),
        ("location", "com.example.app.location-query", #"{"aps":{}}"#),
        ("liveactivity", "com.example.app.push-type.liveactivity", #"{"aps":{"timestamp":1,"event":"end"}}"#),
        ("pushtotalk", "com.example.app.voip-ptt", "{}"),
        ("widgets", "com.example.app.push-type.widgets", #"{"aps":{"content-changed":true}}"#),
        ("controls", "com.example.app.push-type.controls", #"{"aps":{"content-changed":true}}"#),
        ("mdm", "com.example.app", #"{"mdm":"magic"}"#),
    ]

    @Test("Every push type is known with its topic", arguments: types)
    func pushType(_ type: String, _ topic: String, _ payload: String) {
        var request = TestRequest(authorization: authorization)
        request["apns-push-type"] = type
        request["apns-topic"] = topic
        request["apns-priority"] = "5"
        request.body = Array(payload.utf8)
        #expect(verdict(request) == "200")
        #expect(verdict(request, topics: nil) == "200")
        #expect(verdict(request, topics: []) == "400 TopicDisallowed")
        guard topic != "com.example.app" else { return }
        request["apns-topic"] = "com.example.app"
        #expect(verdict(request) == "400 DeviceTokenNotForTopic")
        #expect(verdict(request, topics: nil) == "400 DeviceTokenNotForTopic")
        request["apns-topic"] = String(topic.dropFirst("com.example.app".count))
        #expect(verdict(request, topics: nil) == "400 DeviceTokenNotForTopic")
    }

    @Test(
        "A background push is accepted with priority 5 only",
        arguments: [("5", "200"), ("10", "400 BadPriority"), ("1", "400 BadPriority"), (nil, "400 BadPriority")])
    func background(_ priority: String?, _ expected: String) {
        var request = TestRequest(authorization: authorization)
        request["apns-push-type"] = "background"
        request["apns-priority"] = priority
        request.body = Array(#"{"aps":{"content-available":1}}"#.utf8)
        #expect(verdict(request) == expected)
    }

    @Test("The payload is checked last")
    func payload() {
        var request = TestRequest(authorization: authorization)
        request.body = []
        #expect(verdict(request) == "400 PayloadEmpty")
        request.body = Array("{\"aps\":".utf8)
        #expect(verdict(request) == "400 BadRequestPayload")
        request.bodyTotal = 10_000
        #expect(verdict(request) == "413 PayloadTooLarge")
        request["apns-priority"] = "3"
        #expect(verdict(request) == "400 BadPriority")
    }

    @Test("A valid token is counted whatever the answer, and only a valid id is echoed")
    func partial() {
        var request = TestRequest(authorization: "bearer nonsense")
        var answer = verdict(request) { verdict in
            #expect(verdict.deviceToken != nil)
            #expect(verdict.messageID != nil)
            #expect(!verdict.isAuthorized)
        }
        #expect(answer == "403 InvalidProviderToken")
        request = TestRequest(authorization: authorization)
        request["apns-id"] = "nonsense"
        answer = verdict(request) { verdict in
            #expect(verdict.messageID == nil)
            #expect(verdict.isAuthorized)
        }
        #expect(answer == "400 BadMessageId")
    }

    @Test("A request without any field is answered with 404 BadPath")
    func nothing() {
        var request = TestRequest(authorization: authorization)
        request.fields = []
        #expect(verdict(request) == "404 BadPath")
    }

    @Test("A hexadecimal digit is distinguished from every other byte, at every place", arguments: 0..<19)
    func digits(_ place: Int) {
        for byte in UInt8.min...UInt8.max {
            var token = [UInt8](repeating: UInt8(ascii: "9"), count: 20)
            token[place] = byte
            let expected = "0123456789abcdef".utf8.contains(byte)
            #expect(token.withUnsafeBytes { FieldForm.isDeviceToken($0) } == expected, "byte \(byte)")
        }
    }

    @Test("Requests with random changes are checked without a crash")
    func noise() {
        let right = TestRequest(authorization: authorization)
        var random = SplitMix64(seed: 4)
        var accepted = 0
        var check = RequestCheck(keys: [authority.providerKey], limits: .init(), topics: nil)
        for _ in 0..<5000 {
            var request = right
            var connection = ConnectionIdentity()
            let field = Int(random.next() % UInt64(request.fields.count + 1))
            if field == request.fields.count {
                request.body = Self.changed(request.body, &random)
            } else {
                let value = Self.changed(Array(request.fields[field].value.utf8), &random)
                request.fields[field].value = String(decoding: value, as: UTF8.self)
            }
            accepted += request.withFields { fields in
                request.body.withUnsafeBytes { body in
                    let verdict = check.judge(
                        fields: fields, body: body, bodyTotal: body.count, on: &connection, now: TestAuthority.now)
                    return verdict.answer == .accepted ? 1 : 0
                }
            }
        }
        #expect(accepted > 500 && accepted < 4500)
    }

    /// Returns the bytes after one of them was changed, removed or doubled.
    private static func changed(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        guard !bytes.isEmpty else { return [UInt8(truncatingIfNeeded: random.next())] }
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(bytes[place], at: place)
        case 2: bytes.removeSubrange(place...)
        default: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        }
        return bytes
    }
}
