// A program of another package that tests against the simulator: compiled and run by scripts/check-dependency.
import APNSBatch
import APNSSimulator

struct User: CampaignRow {
    let number: Int

    static let columns = ["token", "name"]

    func encode(into row: inout RowEncoder) {
        row.append(token)
        row.append("user \(number)")
    }

    var token: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }
}

struct Users: AsyncSequence {
    struct AsyncIterator: AsyncIteratorProtocol {
        var next = 0

        mutating func next() async -> User? {
            guard next < 1000 else { return nil }
            defer { next += 1 }
            return User(number: next)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
}

/// A campaign of rows that this program makes.
func campaign(_ simulator: Simulator) async throws -> CampaignSummary {
    var campaign = Campaign(
        destination: simulator.destination, topic: "com.example.app", credentials: simulator.credentials)
    campaign.redirect(to: simulator)
    campaign.template = .init(json: Array(#"{"aps":{"alert":"Hello {{name}}"}}"#.utf8), name: "template")
    campaign.runDirectory = CommandLine.arguments[0] + "-run"
    return await (try CampaignRun(campaign, rows: Users())).send()
}

/// A notification that a sender sends.
func notification(_ simulator: Simulator, to user: User) async throws -> SendResult {
    var configuration = Sender.Configuration(
        destination: simulator.destination, credentials: simulator.credentials)
    (configuration.authorities, configuration.systemTrust) = (simulator.authorities, false)
    let sender = try Sender(configuration)
    async let running: Void = sender.run()
    let result = try await sender.send(
        PushNotification(
            deviceToken: user.token, topic: "com.example.app", payload: #"{"aps":{"alert":"Hello again"}}"#))
    sender.shutDown()
    try await running
    return result
}

let (summary, result, requests) = try await withSimulator { simulator in
    try simulator.answer(User(number: 7).token, with: .unregistered)
    let summary = try await campaign(simulator)
    let result = try await notification(simulator, to: User(number: 7))
    return (summary, result, simulator.requests(to: User(number: 7).token).count)
}
precondition(summary.accepted == 999 && summary.rejected == 1, "\(summary)")
precondition(result.status == 410 && requests == 2, "\(result), \(requests) requests")
print("the simulator answers: \(summary.accepted) of a campaign, \(result.status ?? 0) to a notification")
