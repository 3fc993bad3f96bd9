import APNSBatchBasics
import APNSBatchSimulator
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Grace period") struct GracePeriodTests {
    @Test(
        arguments: [
            (10, nil, 5), (10, 1, 5), (10, 6, 4), (10, 10, 0), (10, 60, 0), (0, nil, 0), (0, 3, 0), (1, nil, 1),
        ] as [(UInt64, UInt64?, UInt64)])
    func `requests are started while they can be answered`(length: UInt64, answerTime: UInt64?, starting: UInt64) {
        #expect(GracePeriod(length, answerTime: answerTime).starting == starting)
    }

    @Test func `nearly all answers count, and those that took longest do not`() {
        let counters = AnswerTimeCounters()
        for _ in 0..<995 { counters.note(100_000) }
        for _ in 0..<5 { counters.note(9_000_000) }
        let period = GracePeriod(150_000_000, counters.counts)
        #expect((1_000_000...50_000_000).contains(period.starting))
    }

    private final class Owner: SubmissionOwner {
        let ends = Guarded<[Mailbox.End]>([])

        func submissionDidEnd(_ end: consuming Mailbox.End, tag: Int) -> WaitingTask? {
            let end = end
            ends.withLock { $0.append(end) }
            return nil
        }
    }

    @Test func `what waits ends when nothing is started any more, and what a lane has ends with the period`() throws {
        let (mailbox, owner) = (Mailbox(lanes: 2, most: 1), Owner())
        for number in 0..<3 {
            _ = try mailbox.submit(SubmittedFields.of(push(number), seconds: { 0 }), deadline: .max, owner: owner)
        }
        var taken: [Submission] = []
        mailbox.take(10, lane: 1, into: &taken)
        #expect(taken.count == 1)
        #expect(mailbox.isWatched(by: 0) && !mailbox.isWatched(by: 1))
        mailbox.close(now: 100, grace: 50, answers: AnswerTimeCounts())
        #expect(mailbox.isWatched(by: 0) && mailbox.isWatched(by: 1))
        #expect(mailbox.tick(now: 124) == .none && mailbox.pending == 3)
        #expect(mailbox.tick(now: 125) == .startsNothing && mailbox.pending == 1)
        #expect(mailbox.tick(now: 149) == .startsNothing && mailbox.tick(now: 150) == .now)
        let arrivals = owner.ends.withLock { $0 }.map { end -> Arrival? in
            if case .failure(let error) = end, error.code == .shuttingDown { error.arrival } else { nil }
        }
        #expect(arrivals == [.notSent, .notSent])
        mailbox.close(graceEnds: 0)
        #expect(mailbox.tick(now: 126) == .now)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [1, 2])
    func `a sender under load leaves no request without an answer`(lanes: Int) async throws {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(100)))
        var configuration = stage.senderConfiguration
        (configuration.gracePeriod, configuration.pending, configuration.lanes) = (.seconds(8), 100, lanes)
        let sender = try Sender(configuration)
        async let running: Void = sender.run()
        let ends = await withTaskGroup(of: Mailbox.End.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    do throws(SendError) {
                        return .success(try await sender.send(push(number)))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            await eventually { sender.progress.accepted > 0 }
            sender.shutDown()
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await running
        var (accepted, arrivals) = (0, [Arrival: Int]())
        for end in ends {
            switch end {
            case .success(let result): accepted += result.outcome == .accepted ? 1 : 0
            case .failure(let error): arrivals[error.arrival, default: 0] += error.code == .shuttingDown ? 1 : 100_000
            }
        }
        #expect(accepted > 100 && arrivals == [.notSent: 10_000 - accepted])
        #expect(stage.simulator.stop().requests == accepted)
    }

    @Test(.timeLimit(.minutes(5))) func `a notification that APNs put off is not said to have arrived perhaps`()
        async throws
    {
        let rule = SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable")
        let stage = try Stage(script: SimulatorScript(seed: 1, rules: [rule], latency: .fixed(50)))
        var configuration = stage.senderConfiguration
        (configuration.gracePeriod, configuration.attempts) = (.seconds(4), 1000)
        let sender = try Sender(configuration)
        async let running: Void = sender.run()
        let tickets = try (0..<20).map { try #require(try sender.trySend(push($0))) }
        await eventually { sender.progress.retrying == 20 }
        sender.shutDown()
        for ticket in tickets {
            let error = await #expect(throws: SendError.self) { try await ticket.result() }
            #expect(error?.code == .shuttingDown && error?.arrival == .answered)
        }
        try await running
    }
}
