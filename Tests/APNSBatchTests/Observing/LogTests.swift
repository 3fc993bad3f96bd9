import APNSBatchSimulator
import InMemoryLogging
import Logging
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Log of the library") struct LogTests {
    @TaskLocal private static var request = ""

    @Test func `messages have the caller's metadata and say what they are about`() async throws {
        let rule = SimulatorRule(share: 0.3, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000)
        let (stage, handler) = (try Stage(script: SimulatorScript(seed: 3, rules: [rule])), InMemoryLogHandler())
        let provider = Logger.MetadataProvider { Self.request.isEmpty ? [:] : ["request": "\(Self.request)"] }
        var logger = Logger(label: "test") { _ in
            var handler = handler
            handler.metadataProvider = provider
            return handler
        }
        logger.logLevel = .trace
        logger[metadataKey: "service"] = "shop"
        let sender = try Self.$request.withValue("r1") { [logger] in
            try Sender(stage.senderConfiguration, logger: logger)
        }
        try await sender.whileRunning { sender in
            for number in 0..<50 { _ = try await sender.send(push(number)) }
        }
        let entries = handler.entries
        #expect(entries.allSatisfy { $0.level <= .info }, "\(entries.filter { $0.level > .info })")
        #expect(entries.allSatisfy { $0.metadata["service"] == "shop" && $0.metadata["request"] == "r1" })
        let connected = try #require(entries.first { "\($0.message)".hasPrefix("connected to") })
        #expect(connected.metadata["apns.provider"] == "team \(Occasion.teamID)")
        #expect(connected.metadata["apns.endpoint"] == "127.0.0.1:\(stage.port)")
        #expect(connected.metadata["apns.connection"] != nil)
        #expect(!entries.contains { "\($0)".contains(token(1)) })
        #expect(stage.simulator.stop().requests == 50)
    }

    @Test func `a warning of GOAWAY has its reason`() async throws {
        let goaway = SimulatorFault(
            .goaway(GoAwayFault(debug: #"{"reason":"Shutdown"}"#)), when: FaultOccasion(after: 10, of: .all, times: 1))
        let (stage, handler) = (try Stage(script: SimulatorScript(faults: [goaway])), InMemoryLogHandler())
        let sender = try Sender(stage.senderConfiguration, logger: Logger(label: "test") { _ in handler })
        try await sender.whileRunning { sender in
            for number in 0..<50 { _ = try await sender.send(push(number)) }
        }
        let entry = try #require(handler.entries.first { "\($0.message)".hasPrefix("GOAWAY") })
        #expect(entry.metadata["apns.reason"] == "Shutdown", "\(entry)")
        #expect(entry.metadata["apns.connection"] != nil)
    }
}
