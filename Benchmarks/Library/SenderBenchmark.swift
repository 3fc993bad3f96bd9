import APNSBatch
import ArgumentParser
import Foundation

extension LibraryBenchmark {
    /// Runs a sender, and prints the quantiles of the times that a closure returns.
    func runSender(_ body: @escaping @Sendable (Sender) async throws -> Seen) async throws {
        let campaign = try self.campaign()
        var configuration = Sender.Configuration(destination: campaign.destination, providers: campaign.providers)
        configuration.authorities = campaign.authorities
        (configuration.lanes, configuration.loop) = (lanes, campaign.loop)
        let sender = try Sender(configuration)
        async let running: Void = sender.run()
        let seen = try await body(sender)
        sender.shutDown()
        try await running
        guard seen.accepted == rows else { throw ValidationError("\(seen.accepted) of \(rows) were accepted") }
        report(seen.times)
    }

    private func report(_ sample: [Times]) {
        func quantile(_ share: Double, _ time: (Times) -> Double) -> Double {
            let sorted = sample.map(time).sorted()
            return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
        }
        print(
            "{\"p50_us\": \(quantile(0.5, \.whole)), \"p99_us\": \(quantile(0.99, \.whole)), "
                + "\"over_p50_us\": \(quantile(0.5, \.over)), \"over_p99_us\": \(quantile(0.99, \.over))}")
    }

    /// Every how many notifications the time is taken: of 5000 in all, because the clock costs something, too.
    private var timed: Int { max(1, rows / 5000) | 1 }

    /// Sends with as many tasks as `--concurrent` says.
    func sendOneByOne(_ sender: Sender) async throws -> Seen {
        let (rows, concurrent, topic, timed) = (rows, concurrent, topic, timed)
        return try await withThrowingTaskGroup { group in
            for first in 0..<concurrent {
                group.addTask {
                    var seen = Seen()
                    for number in stride(from: first, to: rows, by: concurrent) {
                        let begin = number % timed == 0 ? ContinuousClock.now : nil
                        let result = try await sender.send(Self.push(number, topic))
                        seen.note(result, begin.map { $0.duration(to: .now) })
                    }
                    return seen
                }
            }
            return try await group.reduce(into: Seen()) { $0.add($1) }
        }
    }

    func sendSequence(_ sender: Sender) async throws -> Seen {
        let topic = topic
        var seen = Seen()
        let users = Users(count: rows)
        for try await (_, result) in sender.send(contentsOf: users, pending: concurrent, { Self.push($0, topic) }) {
            seen.note(try result.get(), nil)
        }
        return seen
    }

    /// Sends all notifications, and then nothing for a while. Prints what the process does meanwhile.
    func stayIdle(_ sender: Sender) async throws -> Seen {
        let seen = try await sendOneByOne(sender)
        try await Task.sleep(for: .seconds(1))
        let before = (try Self.wakeUps(), try Self.residentPages())
        try await Task.sleep(for: .seconds(seconds))
        let after = (try Self.wakeUps(), try Self.residentPages())
        print("{\"wake_ups\": \(after.0 - before.0), \"seconds\": \(seconds), \"pages\": \(after.1 - before.1)}")
        return seen
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

    /// What the tasks have seen.
    struct Seen: Sendable {
        var accepted = 0
        var times: [Times] = []

        mutating func note(_ result: SendResult, _ time: Duration?) {
            guard result.outcome == .accepted else { return }
            accepted += 1
            if let time { times.append(Times(time, result)) }
        }

        mutating func add(_ other: Seen) {
            accepted += other.accepted
            times += other.times
        }
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
