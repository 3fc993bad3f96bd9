import APNSBatch
import APNSSimulator
import Glibc
import Testing

/// The library product APNSSimulator, through its public interface only, with real campaigns over TLS.
@Suite("Simulator for tests of other packages") struct SimulatorProductTests {
    @Test func `a push arrives as it was sent`() async throws {
        try await withSimulator(.init(topics: ["com.example.app"])) { simulator in
            let trial = try Trial([Push(token: token(1), text: "Grüße")], to: simulator) {
                $0.headers.collapseID = "news"
            }
            let (summary, results) = try await trial.send()
            #expect(summary.accepted == 1, "\(summary)")
            let request = try #require(simulator.requests(to: token(1).uppercased()).first)
            #expect(request.number == 1 && request.method == "POST" && request.path == "/3/device/\(token(1))")
            #expect(String(decoding: request.payload, as: UTF8.self) == #"{"aps":{"alert":"Grüße"}}"#)
            #expect(request.payloadLength == request.payload.count)
            #expect(request["apns-topic"] == "com.example.app" && request["APNS-Collapse-ID"] == "news")
            #expect(request["apns-id"] == results[token(1)]?.messageID)
            #expect(request.status == 200 && request.reason == nil)
            #expect(!request.headers.contains { $0.name == "authorization" || $0.name.hasPrefix(":") })
            let report = await simulator.report()
            #expect(report.requests == 1 && report.accepted == 1 && report.deviceTokens == 1)
            #expect(report.connections == 1 && report.count(status: 200) == 1 && report.failures == [])
        }
    }

    @Test func `a device gets the answers that the test gives, in order, and others are accepted`() async throws {
        try await withSimulator { simulator in
            try simulator.answer(
                token(1), with: .init(status: 410, reason: "Unregistered", inactiveSince: 1_700_000_000_123))
            try simulator.answer(token(2), with: .serviceUnavailable, times: 1)
            try simulator.answer(token(2), with: .init(status: 500, reason: "InternalServerError"), times: 1)
            try simulator.answer(token(3), with: .serviceUnavailable, times: 1)
            try simulator.answer(token(3).uppercased(), with: .unregistered)
            let trial = try Trial((1...4).map { Push(token: token($0)) }, to: simulator)
            let (summary, results) = try await trial.send()
            #expect(summary.accepted == 2 && summary.rejected == 2, "\(summary)")
            #expect(results[token(1)]?.status == 410 && results[token(1)]?.inactiveSince == 1_700_000_000_123)
            #expect(simulator.requests(to: token(2)).map(\.status) == [503, 500, 200])
            #expect(Set(simulator.requests(to: token(2)).map { $0["apns-id"] }).count == 1)
            #expect(simulator.requests(to: token(3)).map(\.reason) == ["ServiceUnavailable", "Unregistered"])
            #expect(results[token(3)]?.outcome == .rejected && results[token(4)]?.outcome == .accepted)
            let report = await simulator.report()
            #expect(report.count(status: 410, reason: "Unregistered") == 2 && report.deviceTokensAgain == 2)
            #expect(report.requests == 7 && simulator.requests.map(\.number) == Array(1...7))
        }
    }

    @Test func `a rule of APNs that a request breaks comes before the answer of the test`() async throws {
        try await withSimulator(.init(topics: ["com.example.other"])) { simulator in
            try simulator.answer(token(1), with: .accepted)
            let trial = try Trial([Push(token: token(1))], to: simulator)
            _ = try await trial.send()
            #expect(simulator.requests.first?.status == 400 && simulator.requests.first?.reason == "TopicDisallowed")
            #expect(await simulator.report().accepted == 0)
        }
    }

    @Test func `answers come after their delay, and that of a device replaces that of the configuration`() async throws
    {
        let slow = Simulator.Answer(status: 503, reason: "ServiceUnavailable", delay: .milliseconds(40))
        try await withSimulator(.init(answer: slow)) { simulator in
            try simulator.answer(token(2), with: .init(status: 200, delay: .milliseconds(80)))
            let trial = try Trial([Push(token: token(1)), Push(token: token(2))], to: simulator) { $0.attempts = 1 }
            let (_, results) = try await trial.send()
            #expect(results[token(1)]?.status == 503 && results[token(1)]!.answerTime! >= .milliseconds(40))
            #expect(results[token(2)]?.status == 200 && results[token(2)]!.answerTime! >= .milliseconds(80))
        }
    }

    @Test(
        arguments: [
            .goaway(reason: "Shutdown", at: .request(50)), .resetStream(.refusedStream, at: .request(5, every: 20)),
            .closeConnection(at: .request(70)), .stall(for: .milliseconds(30), at: .request(10)),
            .resetStream(.internalError, at: .request(1, of: .eachConnection).atMost(1)),
        ] as [Simulator.Fault])
    func `every row is accepted in spite of a fault, which the report counts`(_ fault: Simulator.Fault) async throws {
        try await withSimulator(.init(faults: [fault])) { simulator in
            let trial = try Trial((1...300).map { Push(token: token($0)) }, to: simulator)
            let (summary, _) = try await trial.send()
            #expect(summary.accepted == 300, "\(summary)")
            let report = await simulator.report()
            #expect(report.faults.count == 1 && report.faults[0] >= 1 && report.connectionsViolated == 0)
            #expect(report.deviceTokens == 300 && report.requests == simulator.requests.count)
        }
    }

    @Test func `a simulator that refuses connections is found again`() async throws {
        let faults: [Simulator.Fault] = [
            .refuseConnections(for: .milliseconds(50), at: .request(1)), .closeConnection(.fin, at: .request(1)),
        ]
        try await withSimulator(.init(faults: faults)) { simulator in
            let trial = try Trial([Push(token: token(1))], to: simulator)
            #expect(try await trial.send().summary.accepted == 1)
            #expect(await simulator.report().faults == [1, 1])
        }
    }

    @Test func `two simulators run side by side, and neither trusts what belongs to the other`() async throws {
        try await withSimulator { one in
            try await withSimulator { other in
                #expect(one.port != other.port && one.signingKey != other.signingKey)
                try one.answer(token(1), with: .unregistered)
                let (first, second) = (
                    try Trial([Push(token: token(1))], to: one), try Trial([Push(token: token(1))], to: other)
                )
                async let rejected = first.send().summary.rejected
                async let accepted = second.send().summary.accepted
                #expect(try await rejected == 1)
                #expect(try await accepted == 1)
                let stranger = try Trial([Push(token: token(2))], to: other) { $0.credentials = one.credentials }
                _ = try await stranger.send()
                #expect(stranger.run.failure?.code == .fatalAnswer)
                #expect(other.requests(to: token(2)).map(\.reason).allSatisfy { $0 == "InvalidProviderToken" })
                #expect(one.requests.count == 1)
            }
        }
    }

    @Test func `a body that is cancelled ends the simulator, and requests are not answered`() async throws {
        let endless = Simulator.Answer(status: 200, delay: .seconds(3600))
        let (ports, port) = AsyncStream<UInt16>.makeStream()
        let test = Task {
            try await withSimulator(.init(answer: endless)) { simulator in
                let trial = try Trial([Push(token: token(1))], to: simulator)
                async let summary = trial.send().summary
                try await simulator.waitForRequests(1)
                port.yield(simulator.port)
                let ending = try await summary.ending
                await #expect(throws: CancellationError.self) { try await simulator.waitForRequests(2) }
                return ending
            }
        }
        var iterator = ports.makeAsyncIterator()
        let used = try #require(await iterator.next())
        #expect(Self.isListening(used))
        test.cancel()
        #expect(try await test.value == .interrupted)
        #expect(!Self.isListening(used))
    }

    @Test @MainActor func `an error of the body is passed on after the end, on the actor of the caller`() async throws {
        struct Wrong: Error {}
        var used: Simulator?
        await #expect(throws: Wrong.self) {
            try await withSimulator { simulator in
                MainActor.assertIsolated()
                used = simulator
                throw Wrong()
            }
        }
        let simulator = try #require(used)
        #expect(!Self.isListening(simulator.port))
        #expect(await simulator.report().requests == 0)
        await #expect {
            try await simulator.waitForRequests(1)
        } throws: {
            ($0 as? SimulatorError)?.code == .ended
        }
    }

    @Test(arguments: [0, 1, 7, 20])
    func `the last requests are kept, and the others are counted`(_ kept: Int) async throws {
        var configuration = Simulator.Configuration()
        configuration.requestsKept = kept
        try await withSimulator(configuration) { simulator in
            let trial = try Trial((1...20).map { Push(token: token($0)) }, to: simulator)
            #expect(try await trial.send().summary.accepted == 20)
            #expect(simulator.requests.map(\.number) == Array((1...20).suffix(kept)))
            #expect(simulator.requestsForgotten == 20 - kept)
            #expect(await simulator.report().requests == 20)
        }
    }

    // MARK: What is wrong

    @Test(
        arguments: [
            (.init(answer: .init(status: 99)), "answer: status: expected 200 to 599, found 99"),
            (
                .init(answer: .init(status: 200, delay: .seconds(3601))),
                "answer: delay: expected 0 to 3600000 milliseconds, found 3601000.0"
            ),
            (.init(topics: [""]), "topics: expected no empty topic"),
            (.init(faults: [.goaway(at: .request(0))]), "faults[0]: request: expected at least 1, found 0"),
            (
                .init(faults: [.goaway(reason: "\"", at: .connected)]),
                "faults[0]: reason: expected 1 to 128 printable ASCII characters without quotation marks and "
                    + "backslashes"
            ),
            (
                .init(faults: [.stall(at: .connected), .resetStream(.cancel, at: .connected)]),
                "faults[1]: resetStream needs an occasion that counts requests"
            ),
            (
                .init(faults: [.refuseConnections(for: .zero, at: .elapsed(.seconds(1)))]),
                "faults[0]: time: expected 1 to 3600000 milliseconds, found 0.0"
            ),
        ] as [(Simulator.Configuration, String)])
    func `a configuration that is wrong is refused`(_ configuration: Simulator.Configuration, _ text: String) async {
        await #expect {
            try await withSimulator(configuration) { _ in Issue.record("the simulator started") }
        } throws: { error in
            #expect("\(error)" == text)
            return (error as? SimulatorError)?.code == .configuration
        }
    }

    @Test func `an answer for what is no device token is refused`() async throws {
        try await withSimulator { simulator in
            for token in ["", "abc", "not a token!"] {
                #expect(throws: SimulatorError.self) { try simulator.answer(token, with: .accepted) }
            }
            #expect(throws: SimulatorError.self) { try simulator.answer(token(1), with: .accepted, times: 0) }
        }
    }

    /// Whether something listens on a port of the loopback interface.
    private static func isListening(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, UInt32(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
