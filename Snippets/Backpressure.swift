// Refuses notifications while too many are pending, and sends a sequence at the pace of its consumer.
import APNSBatch
import APNSSimulator

func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
}

struct Message: Sendable {
    var id: Int
    var text: String
}

/// The messages of a queue.
let messages = AsyncStream<Message> { queue in
    for id in 1...1_000 { queue.yield(Message(id: id, text: "Message \(id)")) }
    queue.finish()
}

try await withSimulator(.init(answer: .init(status: 200, delay: .milliseconds(20)))) { simulator in
    var configuration = Sender.Configuration(
        destination: simulator.destination, credentials: simulator.credentials)
    configuration.authorities = simulator.authorities
    configuration.pending = 100
    let sender = try Sender(configuration)
    async let running: Void = sender.run()

    // snippet.try-send
    func accept(_ message: Message) throws(SendError) -> SendTicket? {
        let payload = #"{"aps":{"alert":"\#(message.text)"}}"#
        let notification = PushNotification(
            deviceToken: token(message.id), topic: "com.example.app", payload: payload)
        // Nil while 100 notifications are pending: answer the client with 503, for instance.
        return try sender.trySend(notification)
    }
    // snippet.end
    var tickets: [SendTicket] = []
    var refused = 0
    for id in 1...1_000 {
        if let ticket = try accept(Message(id: id, text: "Hello")) { tickets.append(ticket) } else { refused += 1 }
    }
    for ticket in tickets {
        let result = try await ticket.result()
        precondition(result.outcome == .accepted, "\(result)")
    }
    print("\(tickets.count) sent, \(refused) refused")
    precondition(tickets.count >= 100 && refused > 0)

    // snippet.sequence
    let results = sender.send(contentsOf: messages, pending: 50) { message in
        PushNotification(
            deviceToken: token(message.id), topic: "com.example.app",
            payload: #"{"aps":{"alert":"\#(message.text)"}}"#)
    }
    var accepted = 0
    for try await (message, result) in results {
        switch result {
        case .success(let result) where result.outcome == .accepted: accepted += 1
        case .success(let result): print(message.id, result.outcome, result.reason ?? "")
        case .failure(let error): print(message.id, error.code, error.arrival)
        }
    }
    // snippet.end
    precondition(accepted == 1_000)
    sender.shutDown()
    try await running
}
