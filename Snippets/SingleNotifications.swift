// Sends single notifications, and looks at every way in which one can end.
import APNSBatch
import APNSSimulator

let token = String(repeating: "a1", count: 32)
let other = String(repeating: "b2", count: 32)

/// What a server does with the outcome of a notification.
enum Action: Equatable {
    case done
    case deleteToken
    case tryLater
    case repair
    case mayHaveArrived
}

// snippet.result
func action(after result: SendResult) -> Action {
    switch result.outcome {
    case .accepted: .done
    case .rejected where result.status == 410: .deleteToken
    case .rejected: .repair  // Token, topic, payload or key is wrong: `result.reason` says which.
    case .unavailable: .tryLater  // APNs answered 429 or 5xx to each attempt.
    case .unknown: .mayHaveArrived  // Sending it again may show it twice.
    case .invalid: .repair  // It was not sent: it breaks a rule, which `result.reason` names.
    case .expired: .done  // It was not sent: its expiration has passed.
    default: .repair
    }
}
// snippet.end

// snippet.error
func action(after error: SendError) -> Action {
    switch error.arrival {
    case .notSent, .answered: .tryLater  // It was not delivered: it may be sent again.
    default: .mayHaveArrived
    }
}
// snippet.end

try await withSimulator { simulator in
    try simulator.answer(other, with: .unregistered)
    // snippet.sender
    var configuration = Sender.Configuration(
        destination: simulator.destination, credentials: simulator.credentials)
    configuration.authorities = simulator.authorities
    let sender = try Sender(configuration)
    async let running: Void = sender.run()
    // snippet.end

    // snippet.send
    var notification = PushNotification(
        deviceToken: token, topic: "com.example.app", payload: #"{"aps":{"alert":"Your table is ready."}}"#)
    notification.expiration = .after(.seconds(600))
    notification.collapseID = "table-7"
    let next: Action
    do throws(SendError) {
        let result = try await sender.send(notification, timeout: .seconds(5))
        next = action(after: result)
    } catch {
        next = action(after: error)
    }
    // snippet.end
    precondition(next == .done)

    notification.deviceToken = other
    let gone = try await sender.send(notification)
    precondition(action(after: gone) == .deleteToken && gone.arrival == .answered)

    // A notification that breaks a rule of APNs is not sent.
    notification.payload = Array(#"{"aps":{"badge":"three"}}"#.utf8)
    let invalid = try await sender.send(notification)
    print(invalid.reason ?? "")
    precondition(invalid.outcome == .invalid && action(after: invalid) == .repair)

    // snippet.end-of-life
    sender.shutDown()
    try await running
    // snippet.end
    do throws(SendError) {
        _ = try await sender.send(notification)
        preconditionFailure("a sender that has ended took a notification")
    } catch {
        precondition(error.code == .shuttingDown && action(after: error) == .tryLater)
    }
    precondition(simulator.requests.count == 2)
}
