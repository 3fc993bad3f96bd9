import APNSBatch
import APNSSimulator
import Foundation
import Hummingbird
import Testing

@testable import PushServer

@Suite("Notifications of users") struct NotifierTests {
    private static let topic = "com.example.app"
    private static let message = Message(title: "Hi", body: "Your table is ready.")
    private static let token = String(repeating: "0a", count: 32)
    /// The time at which the device of these tests was registered, and one after it.
    private static let (registered, later) = (UInt64(1_700_000_000_000), UInt64(1_700_000_100_000))

    /// Runs a simulator, a sender that sends to it, and `body`, which gets a notifier whose user "ada" has a device.
    private func withNotifier(
        _ simulation: Simulator.Configuration = .init(), change: (inout Sender.Configuration) -> Void = { _ in },
        _ body: (Notifier, Simulator) async throws -> Void
    ) async throws {
        try await withSimulator(simulation) { simulator in
            var configuration = Sender.Configuration(
                destination: simulator.destination, credentials: simulator.credentials)
            (configuration.authorities, configuration.systemTrust) = (simulator.authorities, false)
            change(&configuration)
            let notifier = Notifier(sender: try Sender(configuration), devices: DeviceStore(), topic: Self.topic)
            await notifier.devices.register(.init(token: Self.token, registeredAt: Self.registered), of: "ada")
            async let running: Void = notifier.sender.run()
            do {
                try await body(notifier, simulator)
            } catch {
                notifier.sender.shutDown()
                throw error
            }
            notifier.sender.shutDown()
            try await running
        }
    }

    @Test func `a notification arrives as it was given`() async throws {
        try await withNotifier { notifier, simulator in
            let delivery = try await notifier.notify("ada", Self.message)
            let requests = simulator.requests(to: Self.token)
            let request = try #require(requests.first)
            #expect(delivery == .accepted(messageID: request["apns-id"]) && requests.count == 1)
            #expect(request["apns-topic"] == Self.topic && request["apns-push-type"] == "alert")
            let json = try JSONSerialization.jsonObject(with: Data(request.payload)) as? NSDictionary
            #expect(json == ["aps": ["alert": ["title": "Hi", "body": "Your table is ready."]]])
        }
    }

    @Test func `a device that is gone is forgotten`() async throws {
        try await withNotifier { notifier, simulator in
            try simulator.answer(
                Self.token, with: .init(status: 410, reason: "Unregistered", inactiveSince: Self.later))
            #expect(try await notifier.notify("ada", Self.message) == .deviceGone)
            #expect(try await notifier.notify("ada", Self.message) == .noDevice)
            #expect(simulator.requests.count == 1)
        }
    }

    @Test func `a device that was registered again since is kept`() async throws {
        try await withNotifier { notifier, simulator in
            let answer = Simulator.Answer(
                status: 410, reason: "Unregistered", inactiveSince: Self.registered - 1)
            try simulator.answer(Self.token, with: answer, times: 1)
            #expect(try await notifier.notify("ada", Self.message) == .deviceGone)
            #expect(try await notifier.notify("ada", Self.message) != .noDevice)
        }
    }

    @Test(arguments: [Simulator.Answer.tooManyRequests, .serviceUnavailable])
    func `when APNs is busy, so is the server`(answer: Simulator.Answer) async throws {
        try await withNotifier(.init(answer: answer)) {
            $0.attempts = 1
        } _: { notifier, _ in
            let delivery = try await notifier.notify("ada", Self.message)
            #expect(delivery == .tryLater)
            #expect(delivery.response.status == .serviceUnavailable)
            #expect(delivery.response.headers[.retryAfter] != nil)
        }
    }

    @Test func `when the sender has as much to do as it takes on, the server is busy`() async throws {
        try await withNotifier {
            $0.pending = 1
        } _: { notifier, simulator in
            try simulator.answer(Self.token, with: .init(status: 200, delay: .milliseconds(300)))
            async let first = notifier.notify("ada", Self.message)
            try await simulator.waitForRequests(1)
            #expect(try await notifier.notify("ada", Self.message) == .tryLater)
            #expect(try await first != .tryLater)
            #expect(simulator.requests.count == 1)
        }
    }

    @Test func `a request without an answer is not sent again, and the caller learns that it may have arrived`()
        async throws
    {
        try await withNotifier(.init(faults: [.resetStream(.internalError, at: .request(1))])) { notifier, simulator in
            let delivery = try await notifier.notify("ada", Self.message)
            #expect(delivery == .undecided)
            #expect(await simulator.report().faults == [1])
        }
    }

    @Test func `a request that APNs did not process is sent again`() async throws {
        try await withNotifier(.init(faults: [.resetStream(.refusedStream, at: .request(1))])) { notifier, simulator in
            let delivery = try await notifier.notify("ada", Self.message)
            #expect(delivery.response.status == .ok)
            #expect(simulator.requests.count == 1)
        }
    }

    @Test func `a message that is too long is not sent`() async throws {
        try await withNotifier { notifier, simulator in
            let message = Message(title: "Hi", body: String(repeating: "long ", count: 1000))
            let delivery = try await notifier.notify("ada", message)
            #expect(delivery.response.status == .unprocessableContent)
            #expect(simulator.requests.isEmpty)
        }
    }

    @Test func `health is that of the sender`() async throws {
        try await withNotifier { notifier, _ in
            _ = try await notifier.notify("ada", Self.message)
            let health = Health(notifier.sender.status)
            #expect(health.isReady && health.connections == 1 && health.pending == 0)
        }
    }
}
