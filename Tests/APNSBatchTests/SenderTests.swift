import APNSBatchBasics
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

extension Sender.Configuration {
    /// Sets long time limits, like those of ``Campaign/bePatient()``.
    mutating func bePatient() {
        (requestTimeout, timeout, gracePeriod) = (.seconds(600), .seconds(600), .seconds(600))
    }
}

extension Stage {
    /// A configuration of a sender to the simulator.
    var senderConfiguration: Sender.Configuration {
        var configuration = Sender.Configuration(destination: .host("127.0.0.1", port: port), credentials: credentials)
        configuration.authorities = occasion.authorityPEM
        configuration.systemTrust = false
        configuration.bePatient()
        return configuration
    }

    /// Runs a sender for the time of a closure, and shuts it down.
    func withSender<R: Sendable>(
        _ change: (inout Sender.Configuration) -> Void = { _ in }, _ body: (Sender) async throws -> R
    ) async throws -> R {
        var configuration = senderConfiguration
        change(&configuration)
        return try await Sender(configuration).whileRunning(body)
    }
}

extension Sender {
    /// Runs the sender for the time of a closure, and shuts it down.
    func whileRunning<R: Sendable>(_ body: (Sender) async throws -> R) async throws -> R {
        async let running: Void = run()
        let result: Result<R, any Error>
        do { result = .success(try await body(self)) } catch { result = .failure(error) }
        shutDown()
        try await running
        return try result.get()
    }
}

func push(_ number: Int) -> PushNotification {
    PushNotification(deviceToken: token(number), topic: "com.example.app", payload: #"{ "aps": { "alert": "Hi" } }"#)
}

/// The error of a send that is expected to fail.
private func failure(_ body: () async throws(SendError) -> SendResult) async -> SendError? {
    do throws(SendError) {
        let result = try await body()
        Issue.record("expected an error, found \(result)")
        return nil
    } catch {
        return error
    }
}

@Suite("Sender") struct SenderTests {
    @Test func `each notification gets its answer`() async throws {
        let rule = SimulatorRule(share: 0.3, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000)
        let stage = try Stage(script: SimulatorScript(seed: 3, rules: [rule]))
        let script = SimulatorScript(seed: 3, rules: [rule])
        let results = try await stage.withSender { sender in
            try await withThrowingTaskGroup { group in
                for number in 0..<1000 { group.addTask { (number, try await sender.send(push(number))) } }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }
        for (number, result) in results {
            let isGone = script.answer(forToken: token(number)) != nil
            #expect(result.outcome == (isGone ? .rejected : .accepted) && result.arrival == .answered)
            #expect(result.status == (isGone ? 410 : 200) && result.reason == (isGone ? "Unregistered" : nil))
            #expect(result.inactiveSince == (isGone ? 1_700_000_000_000 : nil))
            #expect(result.attempts == 1 && (result.answerTime ?? .zero) > .zero)
        }
        #expect(Set(results.values.compactMap(\.messageID)).count == 1000)
        let report = stage.simulator.stop()
        #expect(report.requests == 1000 && report.tokensReceivedAgain == 0 && report.payloadsWithBlanks == 0)
    }

    @Test func `a notification has header fields of its own`() async throws {
        let stage = try Stage()
        try await stage.withSender { sender in
            var given = push(1)
            given.messageID = "0123ABCD-0000-4000-8000-000000000001"
            given.priority = .savingPower
            given.collapseID = "game"
            given.expiration = .after(.seconds(3600))
            let result = try await sender.send(given)
            #expect(result.outcome == .accepted && result.messageID == "0123abcd-0000-4000-8000-000000000001")
            let old = PushNotification(
                deviceToken: token(2), topic: "com.example.app", payload: "{}", expiration: .at(1_600_000_000))
            #expect(try await sender.send(old).outcome == .expired)
        }
        #expect(stage.simulator.stop().requests == 1)
    }

    @Test func `a notification that breaks a rule is not sent, and the cause names no place`() async throws {
        let stage = try Stage()
        try await stage.withSender { sender in
            var wrong = push(1)
            wrong.deviceToken = "not a token"
            let result = try await sender.send(wrong)
            #expect(result.outcome == .invalid && result.arrival == .notSent && result.messageID == nil)
            #expect(result.reason?.hasPrefix("token: ") == true, "\(result.reason ?? "")")
            for (field, change) in [
                "payload": { $0.payload = Array("{\"aps\":".utf8) }, "push_type": { $0.pushType = "letter" },
                "priority": { $0.priority = .init(7) }, "topic": { $0.topic = "" },
                "collapse_id": { $0.collapseID = String(repeating: "x", count: 65) }, "apns_id": { $0.messageID = "7" },
            ] as [String: (inout PushNotification) -> Void] {
                var wrong = push(1)
                change(&wrong)
                let result = try await sender.send(wrong)
                #expect(result.outcome == .invalid && result.reason?.hasPrefix("\(field): ") == true, "\(result)")
            }
            var large = push(1)
            large.payload = Array(#"{"aps":{"alert":"\#(String(repeating: "x", count: 9000))"}}"#.utf8)
            #expect(try await sender.send(large).reason?.hasPrefix("payload: expected at most 4096") == true)
            #expect(try await sender.send(push(1)).outcome == .accepted)
        }
        #expect(stage.simulator.stop().requests == 1)
    }

    @Test func `a topic selects its provider`() async throws {
        let stage = try TeamsStage()
        let campaign = try stage.campaign(rows: TeamsStage.rows(1)).campaign
        var configuration = Sender.Configuration(
            destination: campaign.destination, providers: try stage.providers())
        (configuration.authorities, configuration.systemTrust) = (campaign.authorities, false)
        configuration.bePatient()
        let sender = try Sender(configuration)
        async let running: Void = sender.run()
        for number in 0..<30 {
            var given = push(number)
            given.topic = TeamsStage.topics[number % 3]
            #expect(try await sender.send(given).outcome == .accepted)
        }
        var foreign = push(1)
        foreign.topic = "com.three.app"
        #expect(try await sender.send(foreign).outcome == .invalid)
        sender.shutDown()
        try await running
        #expect(stage.simulator.stop().connectionsWithTwoTeams == 0)
    }

    // MARK: Broadcasts

    private static func broadcast(_ channel: String, _ bundleID: String = "com.example.app") -> BroadcastNotification {
        BroadcastNotification(
            channelID: channel, bundleID: bundleID,
            payload: #"{"aps":{"timestamp":1685952000,"event":"update","content-state":{"score":"2:1"}}}"#,
            expiration: .after(.seconds(3600)))
    }

    @Test func `a sender makes channels and sends to them`() async throws {
        let stage = try Stage { $0.topics = nil }
        try await stage.withSender { sender in
            let channel = try await sender.channels(of: "com.example.app").create(storage: .mostRecent)
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 { group.addTask { try await sender.broadcast(Self.broadcast(channel)) } }
                for try await result in group { #expect(result.outcome == .accepted && result.messageID?.count == 36) }
            }
            #expect(try await sender.send(push(1)).outcome == .accepted)
            let unknown = try await sender.broadcast(Self.broadcast("YmJfnzLBE7PJiPkVPDIQlw=="))
            #expect(unknown.outcome == .rejected && unknown.reason == "ChannelNotRegistered", "\(unknown)")
            let wrong = try await sender.broadcast(Self.broadcast("no channel"))
            #expect(wrong.outcome == .invalid && wrong.reason?.hasPrefix("channel_id: ") == true, "\(wrong)")
            #expect(sender.status.pending == 0)
        }
        let report = stage.simulator.stop()
        #expect(report.broadcasts == 100 && report.accepted == 1)
    }

    @Test func `a broadcast without a provider, or after the end, is an error`() async throws {
        let stage = try TeamsStage()
        let campaign = try stage.campaign(rows: TeamsStage.rows(1)).campaign
        let sender = try Sender(.init(destination: campaign.destination, providers: try stage.providers()))
        await #expect(throws: CampaignError.self) {
            try await sender.broadcast(Self.broadcast("YmJfnzLBE7PJiPkVPDIQlw==", "com.three.app"))
        }
        #expect(throws: ChannelError.self) { try sender.channels(of: "com.three.app") }
        sender.shutDown()
        await #expect(throws: SendError(.shuttingDown, .notSent, "the sender takes no more notifications")) {
            try await sender.broadcast(Self.broadcast("YmJfnzLBE7PJiPkVPDIQlw==", TeamsStage.topics[0]))
        }
    }

    // MARK: Places

    @Test func `trySend refuses what has no place, and send waits for one`() async throws {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(30)))
        try await stage.withSender {
            $0.pending = 10
        } _: { sender in
            var tickets: [SendTicket] = []
            for number in 0..<10 { tickets.append(try #require(try sender.trySend(push(number)))) }
            #expect(try sender.trySend(push(10)) == nil)
            try await withThrowingTaskGroup { group in
                for number in 100..<200 { group.addTask { try await sender.send(push(number)) } }
                for try await result in group { #expect(result.outcome == .accepted) }
            }
            for ticket in tickets { #expect(try await ticket.result().outcome == .accepted) }
        }
        let report = stage.simulator.stop()
        #expect(report.requests == 110 && report.mostStreamsTotal <= 10)
    }

    @Test func `a result that is awaited late or never is no problem`() async throws {
        let stage = try Stage()
        try await stage.withSender { sender in
            let ticket = try #require(try sender.trySend(push(1)))
            _ = try sender.trySend(push(2))
            await eventually { sender.status.pending == 0 }
            #expect(try await ticket.result().outcome == .accepted)
        }
        #expect(stage.simulator.stop().requests == 2)
    }

    @Test func `thousands of tasks send at once, one for each place and many without`() async throws {
        let stage = try Stage()
        try await stage.withSender {
            $0.pending = 100
            $0.lanes = 2
        } _: { sender in
            try await withThrowingTaskGroup { group in
                for number in 0..<5000 { group.addTask { try await sender.send(push(number)).outcome } }
                for try await outcome in group { #expect(outcome == .accepted) }
            }
        }
        let report = stage.simulator.stop()
        #expect(report.requests == 5000 && report.tokensReceivedAgain == 0 && report.mostStreamsTotal <= 100)
    }

    // MARK: Cancellation

    @Test func `a task that is cancelled before the sender runs sends nothing`() async throws {
        let stage = try Stage()
        let sender = try Sender(stage.senderConfiguration)
        let task = Task { await failure { () throws(SendError) in try await sender.send(push(1)) } }
        await eventually { sender.status.pending == 1 }
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled && error?.arrival == .notSent)
        #expect(sender.status.pending == 0)
        async let running: Void = sender.run()
        #expect(try await sender.send(push(2)).outcome == .accepted)
        sender.shutDown()
        try await running
        #expect(stage.simulator.stop().requests == 1)
    }

    @Test func `a task that is cancelled from the start sends nothing`() async throws {
        let stage = try Stage()
        try await stage.withSender { sender in
            let task = Task { () -> SendError? in
                while !Task.isCancelled { await Task.yield() }
                return await failure { () throws(SendError) in try await sender.send(push(1)) }
            }
            task.cancel()
            #expect(await task.value?.code == .cancelled)
        }
    }

    @Test func `a request under way may have arrived when its task is cancelled`() async throws {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(600_000)))
        try await stage.withSender { sender in
            let task = Task { await failure { () throws(SendError) in try await sender.send(push(1)) } }
            await eventually { sender.status.inFlight == 1 }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .cancelled && error?.arrival == .maybeSent)
            #expect(sender.status.pending == 0)
        }
        #expect(stage.simulator.stop().requests == 1)
    }

    @Test func `a notification that waits for another attempt is not sent again when its task is cancelled`()
        async throws
    {
        let rule = SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable", times: 1, retryAfter: 3600)
        let stage = try Stage(script: SimulatorScript(seed: 1, rules: [rule]))
        try await stage.withSender { sender in
            let task = Task { await failure { () throws(SendError) in try await sender.send(push(1)) } }
            await eventually { sender.progress.retrying == 1 }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .cancelled && error?.arrival == .answered)
            // A lane that has work does not stop turning.
            let before = sender.turns
            await eventually { sender.progress.retrying == 0 || sender.turns > before + 100 }
            #expect(sender.progress.retrying == 0)
        }
        #expect(stage.simulator.stop().requests == 1)
    }

    // MARK: Time

    @Test func `a sender that is not started says so when the time is over`() async throws {
        let stage = try Stage()
        let sender = try Sender(stage.senderConfiguration)
        let error = await failure { () throws(SendError) in try await sender.send(push(1), timeout: .milliseconds(50)) }
        #expect(error?.code == .notRunning && error?.arrival == .notSent)
        let ended = Task { await failure { () throws(SendError) in try await sender.send(push(1)) } }
        await eventually { sender.status.pending == 1 }
        sender.shutDown()
        #expect(await ended.value?.code == .shuttingDown)
        await #expect(throws: SendError.self) { try await sender.run() }
    }

    @Test func `time runs out before an answer`() async throws {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(600_000)))
        try await stage.withSender { sender in
            let error = await failure { () throws(SendError) in
                try await sender.send(push(1), timeout: .milliseconds(300))
            }
            #expect(error?.code == .timedOut && error?.arrival != .answered, "\(error.debugDescription)")
        }
    }

    @Test func `a server out of reach is named, and the sender goes on when it is back`() async throws {
        let stage = try Stage()
        stage.simulator.stop()
        try await stage.withSender { sender in
            await eventually { sender.status.waiting != nil }
            let error = await failure { () throws(SendError) in
                try await sender.send(push(1), timeout: .milliseconds(50))
            }
            #expect(error?.code == .unreachable && error?.arrival == .notSent)
            #expect(
                error?.description.contains("cannot connect to 127.0.0.1:\(stage.port)") == true,
                "\(error.debugDescription)")
            let next = try stage.replaceSimulator()
            #expect(try await sender.send(push(2)).outcome == .accepted)
            #expect(next.stop().requests == 1)
        }
    }

    // MARK: Failures

    @Test(arguments: [UnknownPolicy.report, .resend])
    func `a request without an answer is sent again only if that is wanted`(policy: UnknownPolicy) async throws {
        let fault = SimulatorFault(.abort(.reset), when: FaultOccasion(after: 1, of: .all, times: 1))
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(50), faults: [fault]))
        try await stage.withSender {
            $0.onUnknown = policy
        } _: { sender in
            let result = try await sender.send(push(1))
            #expect(result.outcome == (policy == .report ? .unknown : .accepted), "\(result)")
            #expect(result.arrival == (policy == .report ? .maybeSent : .answered))
            #expect(try await sender.send(push(2)).outcome == .accepted)
        }
    }

    @Test func `credentials that are refused are an answer, and new ones are used at once`() async throws {
        let stage = try TeamsStage(unknown: [0])
        let campaign = try stage.campaign(rows: TeamsStage.rows(1)).campaign
        var configuration = Sender.Configuration(destination: campaign.destination, providers: try stage.providers())
        (configuration.authorities, configuration.systemTrust) = (campaign.authorities, false)
        configuration.bePatient()
        let sender = try Sender(configuration)
        async let running: Void = sender.run()
        var given = push(1)
        given.topic = TeamsStage.topics[0]
        let refused = try await sender.send(given)
        #expect(refused.outcome == .rejected && refused.status == 403 && refused.reason == "InvalidProviderToken")
        #expect(try sender.replaceCredentials(try stage.providers(1, 2)) == [0])
        await eventually { [given] in
            let outcome = Guarded<Outcome?>(nil)
            let done = DispatchSemaphore(value: 0)
            Task {
                let result = try? await sender.send(given)
                outcome.withLock { $0 = result?.outcome }
                done.signal()
            }
            done.wait()
            return outcome.withLock { $0 } == .accepted
        }
        sender.shutDown()
        try await running
    }

    @Test func `credentials are replaced while notifications are sent, and each is accepted once`() async throws {
        let stage = try TeamsStage(script: SimulatorScript(seed: 1, latency: .uniform(minimum: 0, maximum: 4)))
        let campaign = try stage.campaign(rows: TeamsStage.rows(1)).campaign
        var configuration = Sender.Configuration(destination: campaign.destination, providers: try stage.providers())
        (configuration.authorities, configuration.systemTrust) = (campaign.authorities, false)
        (configuration.pending, configuration.lanes) = (100, 2)
        configuration.bePatient()
        let sender = try Sender(configuration)
        async let running: Void = sender.run()
        let sent = Guarded(0)
        try await withThrowingTaskGroup { group in
            for first in 0..<50 {
                group.addTask {
                    for number in stride(from: first, to: 2000, by: 50) {
                        var given = push(number)
                        given.topic = TeamsStage.topics[number % 3]
                        let outcome = try await sender.send(given).outcome
                        #expect(outcome == .accepted)
                        sent.withLock { $0 += 1 }
                    }
                }
            }
            for round in 1...5 {
                await eventually { sent.withLock { $0 } >= round * 300 }
                #expect(try sender.replaceCredentials(try stage.providers(round % 2, 2 + round % 2)) == [0, 1])
            }
            try await group.waitForAll()
        }
        sender.shutDown()
        try await running
        let report = stage.simulator.stop()
        #expect(report.requests == 2000 && report.tokensReceivedAgain == 0 && report.connections > 4)
    }

    // MARK: The end

    @Test func `everything that was submitted gets its result before the sender ends`() async throws {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(20)))
        let sender = try Sender(stage.senderConfiguration)
        async let running: Void = sender.run()
        await eventually { sender.status.isRunning }
        let tickets = try (0..<500).map { try #require(try sender.trySend(push($0))) }
        sender.shutDown()
        let late = await failure { () throws(SendError) in try await sender.send(push(1)) }
        #expect(late?.code == .shuttingDown && late?.arrival == .notSent)
        var outcomes: [Outcome] = []
        for ticket in tickets { outcomes.append(try await ticket.result().outcome) }
        try await running
        #expect(outcomes == Array(repeating: .accepted, count: 500))
        #expect(stage.simulator.stop().requests == 500)
        #expect(!sender.status.isRunning)
    }

    @Test(arguments: [true, false])
    func `what has no answer when the sender ends may have arrived`(isCancelled: Bool) async throws {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(600_000)))
        var configuration = stage.senderConfiguration
        configuration.gracePeriod = .milliseconds(50)
        configuration.pending = 3
        let sender = try Sender(configuration)
        let running = Task { try await sender.run() }
        let errors = await withTaskGroup { group in
            for number in 0..<5 {
                group.addTask { await failure { () throws(SendError) in try await sender.send(push(number)) } }
            }
            await eventually { sender.status.pending == 5 && sender.status.inFlight > 0 }
            if isCancelled { running.cancel() } else { sender.shutDown() }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await running.value
        #expect(errors.allSatisfy { $0?.code == .shuttingDown }, "\(errors)")
        let requests = stage.simulator.stop().requests
        #expect(errors.count { $0?.arrival == .maybeSent } >= Int(requests) && requests > 0)
        #expect(errors.count { $0?.arrival == .notSent } >= 2)
    }

    @Test func `a sender that has nothing to do does nothing`() async throws {
        let stage = try Stage()
        try await stage.withSender { sender in
            for number in 0..<10 { _ = try await sender.send(push(number)) }
            let (isIdle, tries) = (Guarded(false), Guarded(30))
            await eventually {
                let before = sender.turns
                usleep(700_000)
                isIdle.withLock { $0 = sender.turns == before }
                return isIdle.withLock { $0 }
                    || tries.withLock {
                        $0 -= 1
                        return $0 == 0
                    }
            }
            #expect(isIdle.withLock { $0 })
            #expect(try await sender.send(push(11)).outcome == .accepted)
        }
    }
}
