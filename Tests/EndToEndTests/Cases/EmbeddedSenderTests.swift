import APNSBatch
import Foundation
import Testing

extension EndToEnd {
    /// A sender in this process, and the simulator in another one.
    @Suite struct EmbeddedSender {
        private static let count = 100_000
        private static let places = 1_000

        @Test func `a hundred thousand tasks send at once through a thousand places, each notification once`()
            async throws
        {
            let stage = try EndToEndTests.Sender()
            let simulator = try SimulatorProcess(stage)
            let sender = try Self.sender(stage, to: simulator.port)
            async let running: Void = sender.run()
            let accepted = try await withThrowingTaskGroup { group in
                for number in 0..<Self.count {
                    group.addTask { try await sender.send(Self.notification(number)).outcome == .accepted }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            sender.shutDown()
            try await running
            #expect(accepted == Self.count)
            let counts = try simulator.stop()
            #expect(counts.count == Self.count && counts.values.allSatisfy { $0.received == 1 && $0.accepted == 1 })
            #expect(simulator.report.number("received_again") == 0)
        }

        private static func sender(_ stage: EndToEndTests.Sender, to port: UInt16) throws -> APNSBatch.Sender {
            func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
            var configuration = APNSBatch.Sender.Configuration(
                destination: .host("localhost", port: port),
                credentials: .providerToken(
                    keyPEM: try bytes(stage.credentials.providerKey), keyID: TestCredentials.keyID,
                    teamID: TestCredentials.teamID))
            configuration.authorities = try bytes(stage.credentials.authority)
            (configuration.timeout, configuration.requestTimeout) = (.seconds(600), .seconds(300))
            configuration.pending = places
            return try APNSBatch.Sender(configuration)
        }

        private static func notification(_ number: Int) -> PushNotification {
            let digits = String(number, radix: 16)
            return PushNotification(
                deviceToken: String(repeating: "0", count: 64 - digits.count) + digits, topic: TestCredentials.topic,
                payload: #"{"aps":{"alert":"Hello"}}"#)
        }
    }
}
