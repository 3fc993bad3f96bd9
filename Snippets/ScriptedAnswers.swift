// Tests a program's code against a simulator that answers and fails as it is told.
import APNSBatch
import APNSSimulator

let token = String(repeating: "a1", count: 32)
let busy = String(repeating: "b2", count: 32)

/// The code under test.
func remind(_ token: String, by sender: Sender) async throws -> SendResult {
    try await sender.send(
        PushNotification(deviceToken: token, topic: "com.example.app", payload: #"{"aps":{"alert":"Hello"}}"#))
}

func makeSender(_ simulator: Simulator) throws -> Sender {
    var configuration = Sender.Configuration(
        destination: simulator.destination, credentials: simulator.credentials)
    (configuration.authorities, configuration.systemTrust) = (simulator.authorities, false)
    return try Sender(configuration)
}

// snippet.answers
try await withSimulator { simulator in
    let sender = try makeSender(simulator)
    async let running: Void = sender.run()

    try simulator.answer(busy, with: .tooManyRequests, times: 1)
    try simulator.answer(token, with: .unregistered)

    let second = try await remind(busy, by: sender)
    precondition(second.outcome == .accepted && second.attempts == 2)

    let gone = try await remind(token, by: sender)
    precondition(gone.status == 410 && gone.inactiveSince != nil)

    let request = simulator.requests(to: busy)[0]
    precondition(request["apns-topic"] == "com.example.app" && request["apns-push-type"] == "alert")
    precondition(String(decoding: request.payload, as: UTF8.self) == #"{"aps":{"alert":"Hello"}}"#)

    sender.shutDown()
    try await running
}
// snippet.end

// snippet.faults
// The connection is reset after the first request was processed: nobody knows whether the push arrived.
try await withSimulator(.init(faults: [.closeConnection(at: .request(1))])) { simulator in
    let sender = try makeSender(simulator)
    async let running: Void = sender.run()

    let lost = try await remind(token, by: sender)
    precondition(lost.outcome == .unknown && lost.arrival == .maybeSent)
    let next = try await remind(token, by: sender)
    precondition(next.outcome == .accepted)

    sender.shutDown()
    try await running
    let report = await simulator.report()
    precondition(report.requests == 2 && report.faults == [1] && report.connections == 2, "\(report)")
}
// snippet.end
