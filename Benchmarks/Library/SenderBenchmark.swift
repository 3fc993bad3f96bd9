import APNSBatch
import ArgumentParser
import Foundation

extension LibraryBenchmark {
    /// Runs a sender, and prints the quantiles of the times that a closure returns.
    func runSender(_ body: @escaping @Sendable (Sender) async throws -> [Times]) async throws {
        let campaign = try self.campaign()
        var configuration = Sender.Configuration(destination: campaign.destination, providers: campaign.providers)
        configuration.authorities = campaign.authorities
        (configuration.lanes, configuration.loop) = (lanes, campaign.loop)
        let sender = try Sender(configuration)
        async let running: Void = sender.run()
        let times = try await body(sender)
        sender.shutDown()
        try await running
        guard times.count == rows else { throw ValidationError("\(times.count) of \(rows) were accepted") }
        report(times)
    }

    private func report(_ times: [Times]) {
        // A sample of them, because sorting all would be a part of what is measured.
        let sample = stride(from: 0, to: times.count, by: max(1, times.count / 5000) | 1).map { times[$0] }
        func quantile(_ share: Double, _ time: (Times) -> Double) -> Double {
            let sorted = sample.map(time).sorted()
            return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
        }
        print(
            "{\"p50_us\": \(quantile(0.5, \.whole)), \"p99_us\": \(quantile(0.99, \.whole)), "
                + "\"over_p50_us\": \(quantile(0.5, \.over)), \"over_p99_us\": \(quantile(0.99, \.over))}")
    }

    /// Sends with as many tasks as `--concurrent` says.
    func sendOneByOne(_ sender: Sender) async throws -> [Times] {
        let (rows, concurrent, topic) = (rows, concurrent, topic)
        return try await withThrowingTaskGroup { group in
            for first in 0..<concurrent {
                group.addTask {
                    var times: [Times] = []
                    for number in stride(from: first, to: rows, by: concurrent) {
                        let begin = ContinuousClock.now
                        let result = try await sender.send(Self.push(number, topic))
                        if result.outcome == .accepted { times.append(Times(begin.duration(to: .now), result)) }
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    func sendSequence(_ sender: Sender) async throws -> [Times] {
        let topic = topic
        var times: [Times] = []
        let users = Users(count: rows)
        for try await (_, result) in sender.send(contentsOf: users, pending: concurrent, { Self.push($0, topic) }) {
            let result = try result.get()
            if result.outcome == .accepted { times.append(Times(result.answerTime ?? .zero, result)) }
        }
        return times
    }

    /// Sends all notifications, and then nothing for a while. Prints what the process does meanwhile.
    func stayIdle(_ sender: Sender) async throws -> [Times] {
        let times = try await sendOneByOne(sender)
        try await Task.sleep(for: .seconds(1))
        let before = (try Self.wakeUps(), try Self.residentPages())
        try await Task.sleep(for: .seconds(seconds))
        let after = (try Self.wakeUps(), try Self.residentPages())
        print("{\"wake_ups\": \(after.0 - before.0), \"seconds\": \(seconds), \"pages\": \(after.1 - before.1)}")
        return times
    }

    /// How often the threads of senders have waited for something. Swift's runtime has a thread that wakes up every second
    /// in any program that has run a task, which does not count.
    private static func wakeUps() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").reduce(0) { sum, task in
            // A thread of the runtime may have ended meanwhile.
            let status = (try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8)) ?? ""
            let values = status.split(separator: "\n").map { $0.split(separator: "\t") }
            guard values.first?.last?.hasPrefix("lane") == true || values.first?.last == "sender" else { return sum }
            let waits = values.first { $0[0] == "voluntary_ctxt_switches:" }?.last.flatMap { Int($0) }
            return sum + (waits ?? 0)
        }
    }

    private static func residentPages() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// The time of a send, and that part of it which is not the time of the answer, in microseconds.
    struct Times: Sendable {
        let whole: Double
        let over: Double

        init(_ time: Duration, _ result: SendResult) {
            whole = time / .microseconds(1)
            over = (time - (result.answerTime ?? .zero)) / .microseconds(1)
        }
    }

    private static func push(_ number: Int, _ topic: String) -> PushNotification { push(User(number), topic) }

    /// The notification that the template of the campaign makes of a row.
    private static func push(_ user: User, _ topic: String) -> PushNotification {
        PushNotification(deviceToken: user.token, topic: topic, payload: payload(user.name))
    }

    private static let start = #"{"aps":{"alert":{"title":"Your order is on its way","body":"Hello "#
    private static let end = #", it leaves our house today, and is with you tomorrow."},"sound":"default"}}"#

    private static func payload(_ name: String) -> [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(start.utf8.count + name.utf8.count + end.utf8.count)
        for part in [start, name, end] { payload.append(contentsOf: part.utf8) }
        return payload
    }
}
