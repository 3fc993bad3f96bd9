// Runs a sender beside another service in a group, which shuts both down in order.
import APNSBatch
import APNSSimulator
import Logging
import ServiceLifecycle

let token = String(repeating: "a1", count: 32)

// snippet.service
/// Sends a reminder for every number until it is asked to end.
struct Reminders: Service {
    let sender: Sender

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            for number in 1... {
                let payload = #"{"aps":{"alert":"Reminder","badge":\#(number)}}"#
                let result = try await sender.send(
                    PushNotification(deviceToken: token, topic: "com.example.app", payload: payload))
                precondition(result.outcome == .accepted, "\(result)")
            }
        }
    }
}
// snippet.end

try await withSimulator { simulator in
    var configuration = Sender.Configuration(
        destination: simulator.destination, credentials: simulator.credentials)
    configuration.authorities = simulator.authorities
    // snippet.group
    let logger = Logger(label: "reminders")
    let sender = try Sender(configuration, logger: logger)
    let group = ServiceGroup(
        configuration: .init(
            services: [
                // Services are shut down in the reverse order: first what submits, then the sender.
                .init(service: sender),
                .init(
                    service: Reminders(sender: sender), successTerminationBehavior: .ignore,
                    failureTerminationBehavior: .ignore),
            ],
            gracefulShutdownSignals: [.sigterm], logger: logger))
    // snippet.end
    async let running: Void = group.run()
    try await simulator.waitForRequests(100)
    // In place of SIGTERM.
    await group.triggerGracefulShutdown()
    try await running
    let requests = simulator.requests.count
    print("\(requests) requests")
    precondition(requests >= 100 && sender.status.pending == 0 && !sender.status.isRunning)
}
