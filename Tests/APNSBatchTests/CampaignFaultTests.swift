import APNSBatchBasics
import APNSBatchSimulator
import APNSBatchTransport
import Glibc
import Logging
import Synchronization
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

/// Tests with faulty connections over real sockets and TLS.
@Suite("Campaign with faulty connections") struct CampaignFaultTests {
    private static func rows(_ count: Int) -> String {
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        return "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    private static func campaign(_ stage: Stage, _ server: ScriptedServer, rows count: Int) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows(count))
        campaign.destination = .host("127.0.0.1", port: server.port)
        campaign.credentials = .none
        campaign.lanes = 1
        campaign.connections = 1
        campaign.retryDelay = .milliseconds(5)
        campaign.requestTimeout = .milliseconds(120_000)
        return campaign
    }

    @Test(
        "Rows move to another connection when the stream limit falls to nearly nothing", arguments: [1, 0] as [UInt32])
    func fallingLimit(limit: UInt32) async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { request in
            request.connection == 0 && request.number == 10 ? [.streams(limit), .accept] : [.accept]
        }
        defer { server.stop() }
        var campaign = try Self.campaign(stage, server, rows: 30_000)
        campaign.connections = 2
        let log = LogKeeper()
        let summary = try await CampaignRun(campaign, logger: log.logger).send()
        #expect(summary.ending == .complete && summary.accepted == 30_000 && summary.attempts == 30_000)
        #expect(server.requests.count >= 2)
        #expect(!log.text.contains("goaway"), "not one stream too many")
    }

    @Test("Requests that stay unanswered after GOAWAY are sent on another connection after the deadline")
    func silentGoaway() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { request in
            guard request.connection == 0 else { return [.accept] }
            return request.number == 10 ? [.goaway("")] : request.number < 10 ? [.accept] : []
        }
        defer { server.stop() }
        var campaign = try Self.campaign(stage, server, rows: 100)
        campaign.goawayPatience = .seconds(1)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == 100)
        #expect(try stage.results(run).count == 100)
    }

    @Test("A connection without any sign of life is replaced long before its requests time out")
    func deadLink() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { request in
            request.connection == 0 && request.number == 10 ? [.freeze] : [.accept]
        }
        defer { server.stop() }
        var campaign = try Self.campaign(stage, server, rows: 100)
        (campaign.pingAfter, campaign.pingPatience) = (.seconds(1), .seconds(1))
        let log = LogKeeper { if $0.contains("does not answer") { server.thaw() } }
        let summary = try await CampaignRun(campaign, logger: log.logger).send()
        #expect(summary.ending == .complete && summary.accepted == 100)
        #expect(log.text.contains("closing a connection to 127.0.0.1:\(server.port) that does not answer"))
    }

    @Test("An unreachable address family delays the start by a second only")
    func deadFamily() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { _ in [.accept] }
        defer { server.stop() }
        let silent = try SilentListener(port: server.port)
        let log = LogKeeper()
        var surroundings = Surroundings.system
        surroundings.resolve = { _, port in
            try HostResolver.resolve(host: "::1", port: port) + HostResolver.resolve(host: "127.0.0.1", port: port)
        }
        surroundings.aside = { _, work in
            work()
            return true
        }
        let campaign = try Self.campaign(stage, server, rows: 100)
        let summary = try await CampaignRun(campaign, logger: log.logger, surroundings: surroundings).send()
        #expect(summary.ending == .complete && summary.accepted == 100)
        #expect(!log.text.contains("within 15 s"))
        withExtendedLifetime(silent) {}
    }

    @Test("Addresses of the same family that drop SYNs delay the start by a second each")
    func deadAddresses() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { _ in [.accept] }
        defer { server.stop() }
        let dead = try [FullListener(), FullListener()]
        var surroundings = Surroundings.system
        surroundings.resolve = { _, port in
            try (dead.map(\.port) + [port]).flatMap { try HostResolver.resolve(host: "127.0.0.1", port: $0) }
        }
        var campaign = try Self.campaign(stage, server, rows: 100)
        // A connect alone has 10 s.
        campaign.connectPatience = .seconds(9)
        let summary = try await (try CampaignRun(campaign, logger: LogKeeper().logger, surroundings: surroundings))
            .send()
        #expect(summary.ending == .complete && summary.accepted == 100)
    }

    @Test("Of a connection that was up it is said that it broke, and not that there was none")
    func broken() async throws {
        let fault = SimulatorFault(.abort(.reset), when: FaultOccasion(after: 1))
        let stage = try Stage(script: SimulatorScript(seed: 1, faults: [fault]))
        var campaign = try stage.campaign(rows: Self.rows(10))
        (campaign.lanes, campaign.connections, campaign.attempts) = (1, 1, 1000)
        (campaign.retryDelay, campaign.connectPatience) = (.milliseconds(5), .seconds(1))
        let log = LogKeeper()
        let run = try CampaignRun(campaign, logger: log.logger)
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure?.code == .unreachable)
        let text = run.failure?.description ?? ""
        #expect(text.hasPrefix("no connection for 1 seconds: the connection to 127.0.0.1:\(stage.port)"), "\(text)")
        #expect(text.contains(" broke ("), "\(text)")
        #expect(!log.text.contains("cannot connect"), "\(log.text)")
    }

    @Test("A server that is not trusted ends the run without a promise of further attempts")
    func untrusted() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { _ in [.accept] }
        defer { server.stop() }
        var campaign = try Self.campaign(stage, server, rows: 10)
        campaign.authorities = try Occasion.make(hosts: ["127.0.0.1"]).authorityPEM
        let log = LogKeeper()
        let run = try CampaignRun(campaign, logger: log.logger)
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure?.code == .unreachable)
        #expect(run.failure?.description.hasPrefix("cannot connect to 127.0.0.1") == true)
        #expect(!log.text.contains("trying"), "\(log.text)")
    }

    @Test("The resolver is asked again for the next connection, and its answer is used")
    func askedAgain() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { _ in [.accept] }
        defer { server.stop() }
        let asked = Guarded(0)
        var surroundings = Surroundings.system
        surroundings.resolve = { _, port in
            let number = asked.withLock { asked -> Int in
                asked += 1
                return asked
            }
            // The first address is one at which no server listens.
            return try HostResolver.resolve(host: "127.0.0.1", port: number < 3 ? 1 : port)
        }
        let campaign = try Self.campaign(stage, server, rows: 100)
        let summary = try await CampaignRun(campaign, logger: LogKeeper().logger, surroundings: surroundings).send()
        #expect(summary.ending == .complete && summary.accepted == 100)
        #expect(asked.withLock { $0 } >= 3)
    }

    /// Returns surroundings whose resolver fails to find the name for a number of times.
    private static func failing(_ times: Int) -> Surroundings {
        struct Unknown: Error, CustomStringConvertible { let description = "cannot resolve apns.test: no such name" }
        let asked = Guarded(0)
        var surroundings = Surroundings.system
        surroundings.resolve = { _, port in
            let number = asked.withLock { asked -> Int in
                asked += 1
                return asked
            }
            guard number > times else { throw Unknown() }
            return try HostResolver.resolve(host: "127.0.0.1", port: port)
        }
        return surroundings
    }

    @Test("A name that does not resolve at first is asked for again, and is logged once")
    func resolvedLate() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { _ in [.accept] }
        defer { server.stop() }
        let log = LogKeeper()
        let campaign = try Self.campaign(stage, server, rows: 100)
        let run = try CampaignRun(campaign, logger: log.logger, surroundings: Self.failing(2))
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == 100)
        #expect(log.text.components(separatedBy: "cannot resolve apns.test: no such name; trying for").count == 2)
    }

    @Test("A name that never resolves ends the run after its patience, and the run can be resumed")
    func neverResolved() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { _ in [.accept] }
        defer { server.stop() }
        var campaign = try Self.campaign(stage, server, rows: 100)
        campaign.connectPatience = .seconds(1)
        let run = try CampaignRun(campaign, logger: LogKeeper().logger, surroundings: Self.failing(.max))
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure?.code == .unreachable)
        #expect(run.failure?.description == "no connection for 1 seconds: cannot resolve apns.test: no such name")
        campaign.runDirectory = run.directory
        let resumed = try await CampaignRun(campaign, resuming: true).send()
        #expect(resumed.ending == .complete && resumed.accepted == 100)
    }

    @Test("A server that answers only PINGs has its connections replaced, and then ends the run")
    func noAnswers() async throws {
        let stage = try Stage()
        let server = try ScriptedServer(stage.occasion, streams: 100) { _ in [] }
        defer { server.stop() }
        var campaign = try Self.campaign(stage, server, rows: 10)
        campaign.requestTimeout = .milliseconds(500)
        campaign.attempts = 1000
        campaign.answerPatience = .seconds(1)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .failed)
        #expect(run.failure?.code == .unreachable)
        #expect(
            run.failure?.description.contains("no answer for 2 seconds") == true, "\(run.failure?.description ?? "")")
        #expect(server.requests.count >= 2)
    }
}

/// A server that accepts connections at `[::1]` and sends nothing.
final class SilentListener {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        try #require(bound == 0 && listen(descriptor, 16) == 0)
    }

    deinit { close(descriptor) }
}

/// A listener at 127.0.0.1 that accepts no more connections. Its queue is full, and the kernel does not answer new attempts.
final class FullListener: Sendable {
    let port: UInt16
    private let listener: Int32
    private let waiting: [Int32]

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        func call(_ body: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
            }
        }
        try #require(call { bind(listener, $0, length) } == 0 && listen(listener, 0) == 0)
        try #require(call { getsockname(listener, $0, &length) } == 0)
        // There is one connection more than the queue holds, and none is ever accepted.
        waiting = (0..<4).map { _ in
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            _ = call { connect(client, $0, length) }
            return client
        }
        (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
    }

    deinit {
        for socket in waiting + [listener] { close(socket) }
    }
}

/// Stores the reports of a run.
final class LogKeeper: Sendable {
    private let lines = Mutex<[String]>([])
    private let onLine: @Sendable (String) -> Void

    init(onLine: @escaping @Sendable (String) -> Void = { _ in }) { self.onLine = onLine }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    var logger: Logger { Logger(label: "test") { _ in Handler(keeper: self) } }

    private func keep(_ line: String) {
        lines.withLock { $0.append(line) }
        onLine(line)
    }

    private struct Handler: LogHandler {
        let keeper: LogKeeper
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { keeper.keep("\(event.message)") }
    }
}
