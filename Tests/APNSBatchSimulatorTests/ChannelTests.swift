import Foundation
import Testing

@testable import APNSBatchSimulator

/// Requests about channels and broadcasts, which are valid until a test changes a part.
extension Stage {
    static let requestID = "6b41e2e2-4d0c-4e0e-9a3b-0c2d5f7a1b11"

    func management(_ method: String, _ what: String = "channels", channel: String? = nil, body: String = "")
        -> TestRequest
    {
        var request = TestRequest(authorization: authorization)
        request.fields = [
            (":method", method), (":scheme", "https"), (":authority", "localhost"),
            (":path", "/1/apps/com.example.app/\(what)"), ("authorization", authorization),
            ("apns-request-id", Self.requestID),
        ]
        request["apns-channel-id"] = channel
        request.body = Array(body.utf8)
        return request
    }

    func create(storing policy: Int) -> TestRequest {
        management("POST", body: #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
    }

    func broadcast(_ channel: String) -> TestRequest {
        var request = management("POST", channel: channel)
        request[":path"] = "/4/broadcasts/apps/com.example.app"
        request["apns-push-type"] = "liveactivity"
        request["apns-priority"] = "10"
        request["apns-expiration"] = "0"
        request.body = Array(#"{"aps":{"timestamp":1685952000,"event":"update","content-state":{"score":1}}}"#.utf8)
        return request
    }
}

extension TestClient {
    func send(_ request: TestRequest) throws -> Answer {
        try send([request])[0]
    }
}

@Suite("Channels and broadcasts over TLS")
struct ChannelTests {
    @Test("A channel is created, read, listed and deleted")
    func life() throws {
        let stage = try Stage()
        let report = try stage.run { port in
            let client = try stage.client(port)
            let made = try client.send(stage.create(storing: 1))
            #expect(made.text == "201")
            #expect(made.fields["apns-request-id"] == Stage.requestID)
            #expect(made.id == nil)
            let id = try #require(made.fields["apns-channel-id"])
            #expect(Data(base64Encoded: id)?.count == 16)
            let other = try #require(try client.send(stage.create(storing: 0)).fields["apns-channel-id"])
            #expect(other != id)
            #expect(
                try client.send(stage.management("GET", channel: id)).text
                    == #"200 {"message-storage-policy":1,"push-type":"LiveActivity"}"#)
            #expect(
                try client.send(stage.management("GET", channel: other)).text
                    == #"200 {"message-storage-policy":0,"push-type":"LiveActivity"}"#)
            #expect(
                try client.send(stage.management("GET", "all-channels")).text
                    == #"200 {"channels":["\#(id)","\#(other)"]}"#)
            let removed = try client.send(stage.management("DELETE", channel: id))
            #expect(removed.text == "204")
            #expect(removed.fields["apns-request-id"] == Stage.requestID)
            for method in ["GET", "DELETE"] {
                #expect(
                    try client.send(stage.management(method, channel: id)).text
                        == #"400 {"reason":"ChannelNotRegistered"}"#)
            }
            #expect(try client.send(stage.management("GET", "all-channels")).text == #"200 {"channels":["\#(other)"]}"#)
        }
        #expect(report.channels == 1)
        #expect(report.tokens == 0)
        #expect(report.accepted == 0)
    }

    @Test("A broadcast is accepted, and gets a request id where none was sent")
    func broadcast() throws {
        let stage = try Stage()
        let report = try stage.run { port in
            let client = try stage.client(port)
            let id = try #require(try client.send(stage.create(storing: 0)).fields["apns-channel-id"])
            let answer = try client.send(stage.broadcast(id))
            #expect(answer.text == "200")
            #expect(answer.fields["apns-request-id"] == Stage.requestID)
            #expect(answer.fields["apns-unique-id"] == nil)
            var request = stage.broadcast(id)
            request["apns-request-id"] = nil
            let made = try #require(try client.send(request).fields["apns-request-id"])
            #expect(Array(made.utf8).withUnsafeBytes { FieldForm.isMessageID($0) })
            #expect(made != Stage.requestID)
        }
        #expect(report.broadcasts == 2)
        #expect(report.accepted == 0)
    }

    @Test("Accepted broadcasts and pushes get a unique id in the sandbox only")
    func uniqueID() throws {
        var stage = try Stage()
        stage.configuration.environment = .sandbox
        _ = try stage.run { port in
            let client = try stage.client(port)
            let id = try #require(try client.send(stage.create(storing: 0)).fields["apns-channel-id"])
            var seen: Set<String> = []
            for request in [stage.broadcast(id), stage.broadcast(id), stage.request(), stage.request()] {
                seen.insert(try #require(try client.send(request).fields["apns-unique-id"]))
            }
            #expect(seen.count == 4)
            #expect(try client.send(stage.request { $0.body = [] }).fields["apns-unique-id"] == nil)
        }
    }

    /// Each entry has a name, a change to a valid broadcast to a channel that stores nothing, and the expected answer.
    static let broadcasts: [(String, @Sendable (inout TestRequest) -> Void, String)] = [
        ("nothing", { _ in }, "200"),
        ("method", { $0[":method"] = "PUT" }, "405 MethodNotAllowed"),
        ("path", { $0[":path"] = "/4/broadcasts/apps/" }, "404 BadPath"),
        ("path with more", { $0[":path"] = "/4/broadcasts/apps/com.example.app/x" }, "404 BadPath"),
        ("path of version 3", { $0[":path"] = "/3/broadcasts/apps/com.example.app" }, "404 BadPath"),
        ("authorization", { $0["authorization"] = nil }, "403 MissingProviderToken"),
        ("two ids", { $0.fields.append(("apns-channel-id", "dGVzdA==")) }, "400 DuplicateHeaders"),
        ("app", { $0[":path"] = "/4/broadcasts/apps/com.example.b" }, "403 TopicMismatch"),
        ("request id", { $0["apns-request-id"] = "7" }, "400 BadRequestParams"),
        ("channel id", { $0["apns-channel-id"] = nil }, "400 MissingChannelId"),
        ("empty channel id", { $0["apns-channel-id"] = "" }, "400 MissingChannelId"),
        ("channel id without padding", { $0["apns-channel-id"] = "dGVzdA" }, "400 BadChannelId"),
        ("base64url", { $0["apns-channel-id"] = "__8=" }, "400 BadChannelId"),
        ("channel id with bits left", { $0["apns-channel-id"] = "dGVzdB==" }, "400 BadChannelId"),
        ("long channel id", { $0["apns-channel-id"] = String(repeating: "A", count: 68) }, "400 BadChannelId"),
        ("unknown channel", { $0["apns-channel-id"] = "dGVzdA==" }, "400 ChannelNotRegistered"),
        ("topic", { $0["apns-topic"] = "com.example.app" }, "400 BadTopic"),
        ("push type", { $0["apns-push-type"] = nil }, "400 MissingPushType"),
        ("wrong push type", { $0["apns-push-type"] = "alert" }, "400 InvalidPushType"),
        ("priority 5", { $0["apns-priority"] = "5" }, "200"),
        ("priority 1", { $0["apns-priority"] = "1" }, "200"),
        ("no priority", { $0["apns-priority"] = nil }, "200"),
        ("wrong priority", { $0["apns-priority"] = "7" }, "400 BadPriority"),
        ("no expiration", { $0["apns-expiration"] = nil }, "200"),
        ("an expiration", { $0["apns-expiration"] = "1700000000" }, "400 BadExpirationDate"),
        ("wrong expiration", { $0["apns-expiration"] = "soon" }, "400 BadExpirationDate"),
        ("no payload", { $0.body = [] }, "400 PayloadEmpty"),
        ("no JSON", { $0.body = Array("{".utf8) }, "400 BadRequestPayload"),
        (
            "start", { $0.body = Array(#"{"aps":{"timestamp":1,"event":"start","content-state":{}}}"#.utf8) },
            "400 BadRequestPayload"
        ),
        ("payload of an alert", { $0.body = Array(#"{"aps":{"alert":"a"}}"#.utf8) }, "400 InvalidPushType"),
        ("the largest payload", { $0.body = payload(5120) }, "200"),
        ("a larger payload", { $0.body = payload(5121) }, "413 PayloadTooLarge"),
    ]

    static func payload(_ length: Int) -> [UInt8] {
        let start = #"{"aps":{"timestamp":1,"event":"end","content-state":{}},"x":""#
        return Array((start + String(repeating: "x", count: length - start.utf8.count - 2) + "\"}").utf8)
    }

    @Test("Each part of a broadcast is checked")
    func broadcastParts() throws {
        let stage = try Stage()
        _ = try stage.run { port in
            let client = try stage.client(port)
            let id = try #require(try client.send(stage.create(storing: 0)).fields["apns-channel-id"])
            for (name, change, expected) in Self.broadcasts {
                var request = stage.broadcast(id)
                change(&request)
                #expect(try client.send(request).reason == expected, "\(name)")
            }
            let storing = try #require(try client.send(stage.create(storing: 1)).fields["apns-channel-id"])
            for (expiration, expected) in [("1700000000", "200"), ("0", "200"), ("x", "400 BadExpirationDate")] {
                var request = stage.broadcast(storing)
                request["apns-expiration"] = expiration
                #expect(try client.send(request).reason == expected, "\(expiration)")
            }
        }
    }

    /// Each entry has a method, the last part of the path, a channel id, a body and the expected answer.
    static let requests: [(String, String, String?, String, String)] = [
        ("PUT", "channels", nil, "{}", "405 MethodNotAllowed"),
        ("POST", "all-channels", nil, "", "405 MethodNotAllowed"),
        ("GET", "channel", nil, "", "404 BadPath"), ("GET", "", nil, "", "404 BadPath"),
        ("GET", "x/channels", nil, "", "404 BadPath"), ("GET", "channels/x", nil, "", "404 BadPath"),
        ("POST", "channels", nil, "", "400 BadRequestPayload"),
        ("POST", "channels", nil, "[]", "400 BadRequestPayload"),
        ("POST", "channels", nil, "{", "400 BadRequestPayload"),
        ("POST", "channels", nil, "{} x", "400 BadRequestPayload"),
        ("POST", "channels", nil, "{}", "400 MissingPushType"),
        ("POST", "channels", nil, #"{"message-storage-policy":0}"#, "400 MissingPushType"),
        ("POST", "channels", nil, #"{"message-storage-policy":0,"push-type":"alert"}"#, "400 InvalidPushType"),
        ("POST", "channels", nil, #"{"message-storage-policy":0,"push-type":1}"#, "400 InvalidPushType"),
        ("POST", "channels", nil, #"{"push-type":"LiveActivity"}"#, "400 BadRequestParams"),
        ("POST", "channels", nil, #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, "400 BadRequestParams"),
        (
            "POST", "channels", nil, #"{"message-storage-policy":"0","push-type":"LiveActivity"}"#,
            "400 BadRequestParams"
        ),
        ("GET", "channels", nil, "", "400 MissingChannelId"), ("DELETE", "channels", nil, "", "400 MissingChannelId"),
        ("GET", "channels", "a", "", "400 BadChannelId"), ("DELETE", "channels", "a b=", "", "400 BadChannelId"),
        ("GET", "channels", "dGVzdA==", "", "400 ChannelNotRegistered"),
        ("DELETE", "channels", "dGVzdA==", "", "400 ChannelNotRegistered"),
    ]

    @Test("Each part of a channel request is checked")
    func managementParts() throws {
        let stage = try Stage()
        _ = try stage.run { port in
            let client = try stage.client(port)
            for (method, what, channel, body, expected) in Self.requests {
                let answer = try client.send(stage.management(method, what, channel: channel, body: body))
                #expect(answer.reason == expected, "\(method) \(what) \(channel ?? "") \(body)")
            }
            for method in ["POST", "GET", "DELETE"] {
                var request = stage.management(method, body: "{}")
                request["apns-request-id"] = "7"
                #expect(try client.send(request).reason == "400 BadRequestParams")
                request[":path"] = "/1/apps/com.example.b/channels"
                #expect(try client.send(request).reason == "403 TopicMismatch")
                request["authorization"] = nil
                #expect(try client.send(request).reason == "403 MissingProviderToken")
            }
        }
    }

    @Test("Channels are limited in number, and to apps that may broadcast")
    func limits() throws {
        var stage = try Stage()
        stage.configuration.topics = nil
        stage.configuration.channelsMaximum = 2
        stage.configuration.broadcastApps = ["com.example.app"]
        _ = try stage.run { port in
            let client = try stage.client(port)
            let first = try #require(try client.send(stage.create(storing: 0)).fields["apns-channel-id"])
            #expect(try client.send(stage.create(storing: 0)).status == 201)
            #expect(try client.send(stage.create(storing: 0)).reason == "400 CannotCreateChannelConfig")
            #expect(try client.send(stage.management("DELETE", channel: first)).status == 204)
            #expect(try client.send(stage.create(storing: 0)).status == 201)
            for request in [stage.create(storing: 0), stage.management("GET", "all-channels"), stage.broadcast(first)] {
                var other = request
                other[":path"] = request[":path"]?.replacingOccurrences(of: "com.example.app", with: "com.example.b")
                #expect(try client.send(other).reason == "400 FeatureNotEnabled")
            }
        }
    }

    @Test("Channel management and pushes are separate on two ports")
    func ports() throws {
        var stage = try Stage()
        stage.configuration.managementPort = 0
        let simulator = try Simulator(stage.configuration)
        #expect(simulator.managementPort == nil)
        let port = try simulator.start()
        defer { simulator.stop() }
        let managementPort = try #require(simulator.managementPort)
        #expect(managementPort != port)
        let (pushes, management) = (try stage.client(port), try stage.client(managementPort))
        let id = try #require(try management.send(stage.create(storing: 0)).fields["apns-channel-id"])
        #expect(try pushes.send(stage.broadcast(id)).reason == "200")
        #expect(try pushes.send(stage.request()).reason == "200")
        #expect(try management.send(stage.broadcast(id)).reason == "404 BadPath")
        #expect(try management.send(stage.request()).reason == "404 BadPath")
        #expect(try pushes.send(stage.create(storing: 0)).reason == "404 BadPath")
        #expect(try pushes.send(stage.management("GET", "all-channels")).reason == "404 BadPath")
    }

    @Test("Broadcasts are answered by script for each channel")
    func script() throws {
        var stage = try Stage()
        stage.configuration.script = SimulatorScript(
            seed: 3,
            rules: [SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable", times: 1, retryAfter: 7)])
        let report = try stage.run { port in
            let client = try stage.client(port)
            let id = try #require(try client.send(stage.create(storing: 0)).fields["apns-channel-id"])
            let refused = try client.send(stage.broadcast(id))
            #expect(refused.reason == "503 ServiceUnavailable")
            #expect(refused.fields["retry-after"] == "7")
            #expect(try client.send(stage.broadcast(id)).reason == "200")
        }
        #expect(report.broadcasts == 1)
    }
}

extension TestClient.Answer {
    /// The status and reason, such as `400 BadTopic`.
    var reason: String {
        guard !body.isEmpty else { return "\(status)" }
        return "\(status) " + body.dropFirst(#"{"reason":""#.count).prefix { $0 != "\"" }
    }
}
