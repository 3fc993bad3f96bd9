import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchIdentities
import CAPNSTransport
import Foundation
import Synchronization
import Testing

@testable import APNSBatchSimulator

/// A simulator for a test, with everything that a client of it needs.
struct Stage {
    let authority: TestAuthority
    let identity: ServerIdentity
    /// The same token is used for all requests, because another one shortly afterwards would be refused.
    let authorization: String
    var configuration: SimulatorConfiguration

    init() throws {
        authority = try TestAuthority()
        identity = try ServerIdentity.make(hosts: ["localhost", "127.0.0.1"])
        authorization = try authority.authorization(issuedAt: SystemClock.milliseconds() / 1000)
        configuration = SimulatorConfiguration(
            certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM, providerKeys: [authority.configured])
        configuration.topics = ["com.example.app"]
    }

    func request(_ change: (inout TestRequest) -> Void = { _ in }) -> TestRequest {
        var request = TestRequest(authorization: authorization)
        change(&request)
        return request
    }

    /// Runs a simulator while `body` runs, and returns its report.
    func run(_ body: (_ port: UInt16) throws -> Void) throws -> SimulatorReport {
        let simulator = try Simulator(configuration)
        let port = try simulator.start()
        do {
            try body(port)
        } catch {
            simulator.stop()
            throw error
        }
        return simulator.stop()
    }

    func client(_ port: UInt16, loop: UInt32 = APNS_TRANSPORT_LOOP_AUTO.rawValue) throws -> TestClient {
        try TestClient(port: port, ca: identity.caPEM, loop: loop)
    }
}

@Suite("Simulator over TLS")
struct SimulatorTests {
    @Test(
        "A valid request is accepted, echoed and counted, on both event loops",
        arguments: [SimulatorConfiguration.Loop.epoll, .automatic])
    func accepts(_ loop: SimulatorConfiguration.Loop) throws {
        let clientLoop = loop == .epoll ? APNS_TRANSPORT_LOOP_EPOLL.rawValue : APNS_TRANSPORT_LOOP_AUTO.rawValue
        var stage = try Stage()
        stage.configuration.loop = loop
        let report = try stage.run { port in
            let request = stage.request()
            let answer = try stage.client(port, loop: clientLoop).send([request])[0]
            #expect(answer.text == "200")
            #expect(answer.id == request["apns-id"])
        }
        #expect(report.requests == 1)
        #expect(report.accepted == 1)
        #expect(report.answers == [.init(status: 200, reason: "", count: 1)])
        #expect(report.tokens == 1)
        #expect(report.tokensReceivedAgain == 0)
        #expect(report.connections == 1)
        #expect(report.mostStreams == 1)
        #expect(report.failures == [])
        #expect(report.loop == "epoll" || loop == .automatic && report.loop == "io_uring")
    }

    @Test("Every invalid request is answered as APNs does, with a new id where none was sent")
    func faults() throws {
        let stage = try Stage()
        let cases: [(expected: String, change: (inout TestRequest) -> Void)] = [
            (#"404 {"reason":"BadPath"}"#, { $0[":path"] = "/" }),
            (#"405 {"reason":"MethodNotAllowed"}"#, { $0[":method"] = "PUT" }),
            (#"400 {"reason":"MissingDeviceToken"}"#, { $0[":path"] = "/3/device/" }),
            (#"400 {"reason":"BadDeviceToken"}"#, { $0[":path"] = "/3/device/xyz" }),
            (#"400 {"reason":"DuplicateHeaders"}"#, { $0.fields.append(("apns-topic", "com.example.app")) }),
            (#"403 {"reason":"MissingProviderToken"}"#, { $0["authorization"] = nil }),
            (#"403 {"reason":"InvalidProviderToken"}"#, { $0["authorization"] = "bearer a.b.c" }),
            (#"400 {"reason":"BadMessageId"}"#, { $0["apns-id"] = "7" }),
            (#"400 {"reason":"MissingTopic"}"#, { $0["apns-topic"] = nil }),
            (#"400 {"reason":"BadTopic"}"#, { $0["apns-topic"] = "a b" }),
            (#"400 {"reason":"TopicDisallowed"}"#, { $0["apns-topic"] = "com.example.b" }),
            (#"400 {"reason":"DeviceTokenNotForTopic"}"#, { $0["apns-topic"] = "com.example.app.voip" }),
            (#"400 {"reason":"InvalidPushType"}"#, { $0["apns-push-type"] = "loud" }),
            (#"400 {"reason":"BadPriority"}"#, { $0["apns-priority"] = "7" }),
            (#"400 {"reason":"BadExpirationDate"}"#, { $0["apns-expiration"] = "x" }),
            (#"400 {"reason":"BadCollapseId"}"#, { $0["apns-collapse-id"] = String(repeating: "x", count: 65) }),
            (#"400 {"reason":"PayloadEmpty"}"#, { $0.body = [] }),
            (#"413 {"reason":"PayloadTooLarge"}"#, { $0.body = [UInt8](repeating: 0x20, count: 4097) }),
            (#"413 {"reason":"PayloadTooLarge"}"#, { $0.body = [UInt8](repeating: 0x20, count: 60_000) }),
            (#"400 {"reason":"BadRequestPayload"}"#, { $0.body = Array("{".utf8) }),
            (#"400 {"reason":"InvalidPushType"}"#, { $0.body = Array("{}".utf8) }), ("200", { _ in }),
        ]
        let report = try stage.run { port in
            let client = try stage.client(port)
            for (expected, change) in cases {
                var request = stage.request()
                change(&request)
                let answer = try client.send([request])[0]
                #expect(answer.text == expected)
                let id = answer.id ?? ""
                #expect(Array(id.utf8).withUnsafeBytes { FieldForm.isMessageID($0) })
                #expect((id == request["apns-id"]) == (expected != #"400 {"reason":"BadMessageId"}"#))
            }
            let first = try client.send([stage.request { $0["apns-id"] = nil }])[0].id
            let second = try client.send([stage.request { $0["apns-id"] = nil }])[0].id
            #expect(first != nil && first != second)
        }
        #expect(report.requests == UInt64(cases.count + 2))
        #expect(report.count(status: 413, reason: "PayloadTooLarge") == 2)
        #expect(report.count(status: 200) == 3)
        #expect(report.accepted == 3)
        #expect(report.failures == [])
    }

    @Test("One stream is allowed until a valid token was answered, and then a thousand")
    func streams() throws {
        let stage = try Stage()
        let report = try stage.run { port in
            let client = try stage.client(port)
            #expect(client.streamsMax == 1)
            let wrong = try client.send([stage.request { $0["authorization"] = "bearer a.b.c" }])
            #expect(wrong[0].status == 403)
            #expect(client.streamsMax == 1)
            let bad = try client.send([stage.request { $0["apns-priority"] = "7" }])
            #expect(bad[0].status == 400)
            try client.poll(until: { client.streamsMax == 1000 })
            let answers = try client.sendAtOnce((0..<1000).map { _ in stage.request() })
            #expect(answers.allSatisfy { $0.status == 200 })
        }
        #expect(report.requests == 1002)
        #expect(report.mostStreams > 1 && report.mostStreams <= 1000)
        #expect(report.mostStreamsTotal == report.mostStreams)
        #expect(report.tokens == 1)
        #expect(report.tokensReceivedAgain == 1)
    }

    @Test("The age and interval of tokens follow the given clock")
    func clock() throws {
        var stage = try Stage()
        let clock = TestClock(SystemClock.milliseconds())
        stage.configuration.clock = { clock.now }
        let start = clock.now / 1000
        let report = try stage.run { port in
            let client = try stage.client(port)
            func send(issuedAt: Int64) throws -> String {
                let authorization = try stage.authority.authorization(issuedAt: issuedAt)
                return try client.send([TestRequest(authorization: authorization)])[0].text
            }
            let old = try stage.authority.authorization(issuedAt: start)
            #expect(try client.send([TestRequest(authorization: old)])[0].text == "200")
            #expect(try send(issuedAt: start + 1) == #"429 {"reason":"TooManyProviderTokenUpdates"}"#)
            clock.advance(seconds: 3601)
            let late = try client.send([TestRequest(authorization: old)])[0].text
            #expect(late == #"403 {"reason":"ExpiredProviderToken"}"#)
            #expect(try send(issuedAt: start + 3600) == "200")
        }
        #expect(report.accepted == 2)
    }

    @Test("Tokens are answered by script as computed, and requests are counted")
    func script() throws {
        var stage = try Stage()
        stage.configuration.script = SimulatorScript(
            seed: 11,
            rules: [
                SimulatorRule(share: 0.2, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
                SimulatorRule(share: 0.2, status: 503, reason: "ServiceUnavailable", times: 1),
            ])
        let path = NSTemporaryDirectory() + "counts-\(UUID().uuidString).csv"
        stage.configuration.countsPath = path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var random = SplitMix64(seed: 8)
        let tokens = (0..<500).map { _ in SimulatorScriptTests.token(&random) }
        var expectedLines: [String] = []
        let report = try stage.run { port in
            let client = try stage.client(port)
            _ = try client.send([stage.request { $0[":path"] = "/3/device/00" }])
            try client.poll(until: { client.streamsMax == 1000 })
            for round in 0..<2 {
                let requests = tokens.map { token in stage.request { $0[":path"] = "/3/device/" + token } }
                let answers = try client.sendAtOnce(requests)
                for (token, answer) in zip(tokens, answers) {
                    let expected =
                        switch SimulatorScriptTests.expected(stage.configuration.script, token) {
                        case 0: #"410 {"reason":"Unregistered","timestamp":1700000000000}"#
                        case 1 where round == 0: #"503 {"reason":"ServiceUnavailable"}"#
                        default: "200"
                        }
                    #expect(answer.text == expected)
                }
            }
        }
        for token in tokens {
            let accepted = [0: 0, 1: 1][SimulatorScriptTests.expected(stage.configuration.script, token)] ?? 2
            expectedLines.append("\(token),2,\(accepted)")
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines[0] == "token,received,accepted")
        #expect(lines[1].hasPrefix("00,1,"))
        #expect(Array(lines[2...]).sorted() == expectedLines.sorted())
        #expect(report.tokens == 501)
        #expect(report.tokensReceivedAgain == 500)
        #expect(report.requests == 1001)
    }

    @Test("Answers are delayed, and a later request can be answered first")
    func latency() throws {
        var stage = try Stage()
        stage.configuration.script.latency = .uniform(minimum: 1, maximum: 40)
        let report = try stage.run { port in
            let client = try stage.client(port)
            _ = try client.send([stage.request()])
            try client.poll(until: { client.streamsMax == 1000 })
            let start = ContinuousClock.now
            let requests = (0..<300).map { number in
                stage.request { $0["apns-id"] = String(format: "00000000-0000-4000-8000-%012d", number) }
            }
            let answers = try client.sendAtOnce(requests)
            #expect(ContinuousClock.now - start >= .milliseconds(20))
            for (request, answer) in zip(requests, answers) {
                #expect(answer.text == "200")
                #expect(answer.id == request["apns-id"])
            }
        }
        #expect(report.mostStreams == 300)
        #expect(report.accepted == 301)
    }

    @Test("The simulator stops with outstanding answers and a lost connection")
    func abandoned() throws {
        var stage = try Stage()
        stage.configuration.script.latency = .fixed(3_600_000)
        stage.configuration.streamsBeforeToken = 100
        let simulator = try Simulator(stage.configuration)
        let port = try simulator.start()
        do {
            let gone = try stage.client(port)
            #expect(throws: TestClient.Failure.self) {
                try gone.sendAtOnce([stage.request()], seconds: 0.05)
            }
        }
        let staying = try stage.client(port)
        #expect(throws: TestClient.Failure.self) {
            try staying.sendAtOnce([stage.request(), stage.request()], seconds: 0.05)
        }
        let report = simulator.stop()
        #expect(report.requests == 3)
        #expect(report.connections == 2)
        #expect(report.mostStreams == 2)
    }

    @Test("Simulators run side by side in one process, and a stopped one stays stopped")
    func several() throws {
        let stage = try Stage()
        let simulators = try (0..<3).map { _ in try Simulator(stage.configuration) }
        let ports = try simulators.map { try $0.start() }
        #expect(Set(ports).count == 3)
        #expect(throws: SimulatorError.alreadyStarted) { try simulators[0].start() }
        for (number, port) in ports.enumerated() {
            let client = try stage.client(port)
            for _ in 0...number {
                _ = try client.send([stage.request()])
            }
        }
        for (number, simulator) in simulators.enumerated() {
            let report = simulator.stop()
            #expect(report.requests == UInt64(number + 1))
            #expect(simulator.stop() == report)
            #expect(throws: SimulatorError.alreadyStarted) { try simulator.start() }
        }
        #expect(try Simulator(stage.configuration).stop() == SimulatorReport())
    }

    @Test("The error states what is wrong with the configuration")
    func configuration() throws {
        let stage = try Stage()
        func error(_ change: (inout SimulatorConfiguration) -> Void) -> SimulatorError? {
            var configuration = stage.configuration
            change(&configuration)
            do throws(SimulatorError) {
                let simulator = try Simulator(configuration)
                _ = try simulator.start()
                simulator.stop()
                return nil
            } catch {
                return error
            }
        }
        #expect(error { _ in } == nil)
        #expect(
            error { $0.script.rules = [.init(share: 2, status: 410)] }
                == .script("rules[0].share: expected 0 to 1, found 2.0"))
        #expect(
            error { $0.host = "example.com" }
                == .configuration("host: expected an IPv4 or IPv6 address in numbers, found \"example.com\""))
        #expect(
            error { $0.connections = 0 } == .configuration("connections: expected 1 to 65535, found 0"))
        #expect(error { $0.topics = [""] } == .configuration("topics: expected no empty topic"))
        #expect(error { $0.providerKeys[0].topics = ["a", ""] } == .configuration("topics: expected no empty topic"))
        #expect(
            error { $0.clientAuthorityPEM = [] }
                == .configuration("clientAuthorityPEM: expected a certificate, found nothing"))
        #expect(
            error { $0.channelsMaximum = -1 } == .configuration("channelsMaximum: expected 0 or more, found -1"))
        #expect(
            error { $0.clockOffset = .min }
                == .configuration("clockOffset: expected at most 4294967296 seconds, found \(Int64.min)"))
        #expect(error { $0.providerKeys[0].publicKeyPEM = [] }?.description.hasPrefix("key ABC123DEFG: ") == true)
        #expect(error { $0.host = "192.0.2.1" }?.description.hasPrefix("192.0.2.1 port 0: ") == true)
        guard case .transport = error({ $0.keyPEM = $0.certificatePEM }) else {
            Issue.record("a certificate was taken for a key")
            return
        }
    }
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let time: Mutex<Int64>

    init(_ milliseconds: Int64) {
        time = Mutex(milliseconds)
    }

    var now: Int64 { time.withLock { $0 } }

    func advance(seconds: Int64) {
        time.withLock { $0 += seconds * 1000 }
    }
}
