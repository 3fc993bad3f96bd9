import APNSBatchBasics
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

/// Numbers, one after the other, with a count of those that were taken.
private final class Numbers: AsyncSequence, Sendable {
    struct Broken: Error {}

    typealias Element = Int
    let taken = Guarded(0)
    private let count: Int
    private let failsAfter: Int?

    init(_ count: Int, failsAfter: Int? = nil) { (self.count, self.failsAfter) = (count, failsAfter) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let numbers: Numbers
        mutating func next() async throws -> Int? {
            try numbers.taken.withLock { taken in
                if taken == numbers.failsAfter { throw Broken() }
                guard taken < numbers.count else { return nil }
                taken += 1
                return taken - 1
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(numbers: self) }
}

/// Has an iterator, of which each caller takes from a copy of its own.
private actor Consumers {
    private let iterator: SendResults<Numbers>.AsyncIterator

    init(_ iterator: consuming sending SendResults<Numbers>.AsyncIterator) { self.iterator = iterator }

    func takeAll() async throws -> [Int] {
        var (copy, found) = (iterator, [Int]())
        while let item = try await copy.next(isolation: self)?.item { found.append(item) }
        return found
    }

    func takeOne() async throws -> [Int] {
        var copy = iterator
        return try await copy.next(isolation: self).map { [$0.item] } ?? []
    }
}

@Suite("Notifications of a sequence") struct SendResultsTests {
    @Test func `each item has one result`() async throws {
        let rule = SimulatorRule(share: 0.2, status: 400, reason: "BadDeviceToken")
        let script = SimulatorScript(seed: 9, rules: [rule])
        let stage = try Stage(script: script)
        let results = try await stage.withSender { sender in
            var results: [Int: SendResult] = [:]
            for try await (number, result) in sender.send(contentsOf: Numbers(3000), pending: 200, { push($0) }) {
                #expect(results.updateValue(try result.get(), forKey: number) == nil)
            }
            return results
        }
        #expect(results.count == 3000)
        for (number, result) in results {
            #expect(result.status == (script.answer(forToken: token(number)) == nil ? 200 : 400))
        }
        let report = stage.simulator.stop()
        #expect(report.requests == 3000 && report.mostStreamsTotal <= 200)
    }

    @Test func `a consumer that takes no results slows the sending`() async throws {
        let stage = try Stage()
        try await stage.withSender { sender in
            let numbers = Numbers(1000)
            var results = sender.send(contentsOf: numbers, pending: 50) { push($0) }.makeAsyncIterator()
            _ = try await results.next()
            await eventually { sender.status.pending == 0 && numbers.taken.withLock { $0 } >= 50 }
            // The result that was taken made room for one, and one more was taken to wait for room.
            #expect(numbers.taken.withLock { $0 } <= 52)
            var count = 1
            while try await results.next() != nil { count += 1 }
            #expect(count == 1000)
        }
        #expect(stage.simulator.stop().requests == 1000)
    }

    @Test func `a copy of an iterator goes on where the other one is`() async throws {
        let stage = try Stage()
        try await stage.withSender { sender in
            var one = sender.send(contentsOf: Numbers(500), pending: 100) { push($0) }.makeAsyncIterator()
            var found: Set<Int> = [try #require(try await one.next()?.item)]
            var other = one
            while let item = try await one.next()?.item {
                #expect(found.insert(item).inserted)
                if let item = try await other.next()?.item { #expect(found.insert(item).inserted) }
            }
            #expect(found.count == 500)
            #expect(try await other.next() == nil)
        }
    }

    @Test(.timeLimit(.minutes(2))) func `copies of an iterator in several tasks return each result once`() async throws
    {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(2)))
        try await stage.withSender { sender in
            let consumers = Consumers(
                sender.send(contentsOf: Numbers(3000), pending: 100) { push($0) }.makeAsyncIterator())
            let found = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<8 { group.addTask { try await consumers.takeAll() } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(found.count == 3000 && Set(found).count == 3000)
        }
    }

    @Test(.timeLimit(.minutes(2))) func `a task that takes one result and leaves holds up none of those that wait`()
        async throws
    {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(2)))
        try await stage.withSender { sender in
            let consumers = Consumers(
                sender.send(contentsOf: Numbers(400), pending: 4) { push($0) }.makeAsyncIterator())
            let found = try await withThrowingTaskGroup(of: [Int].self) { group in
                group.addTask { try await consumers.takeAll() }
                for _ in 0..<50 { group.addTask { try await consumers.takeOne() } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(found.count == 400 && Set(found).count == 400)
        }
    }

    @Test func `an error of the sequence comes after the results`() async throws {
        let stage = try Stage()
        try await stage.withSender { sender in
            var count = 0
            await #expect(throws: Numbers.Broken.self) {
                for try await _ in sender.send(contentsOf: Numbers(100, failsAfter: 30), { push($0) }) { count += 1 }
            }
            #expect(count == 30)
        }
    }

    @Test(arguments: ["leaves the loop", "is cancelled"])
    func `what is pending is cancelled when the consumer`(what: String) async throws {
        let stage = try Stage(script: SimulatorScript(seed: 1, latency: .fixed(300)))
        try await stage.withSender { sender in
            let numbers = Numbers(100_000)
            let consumer = Task {
                for try await _ in sender.send(contentsOf: numbers, pending: 20, { push($0) })
                where what == "leaves the loop" { break }
            }
            if what == "is cancelled" {
                await eventually { sender.status.inFlight > 0 }
                consumer.cancel()
            }
            _ = try await consumer.value
            await eventually { sender.status.pending == 0 }
            #expect(numbers.taken.withLock { $0 } < 100)
        }
    }
}

@Suite("Deadlines of a mailbox") struct DeadlineWheelTests {
    @Test func `places expire at their deadlines, however far away`() {
        var (wheel, random) = (DeadlineWheel(), SplitMix64(seed: 4))
        var (now, expected) = (1_000_000_000_000 as UInt64, [Int: UInt64]())
        var expired = 0
        for step in 0..<20_000 {
            now += random.next() % [1000, 3_000_000, 40_000_000, 9_000_000_000][step % 4]
            let place = Int(random.next() % 300)
            if let deadline = expected[place] {
                if random.next() % 4 == 0 {
                    wheel.remove(place)
                    expected[place] = nil
                } else {
                    #expect(deadline > 0)
                }
            } else {
                let deadline = now + random.next() % [5_000_000, 100_000_000, 30_000_000_000][step % 3]
                wheel.add(place, deadline: deadline)
                expected[place] = deadline
            }
            for place in wheel.expire(now: now) {
                #expect(expected.removeValue(forKey: place).map { $0 <= now } == true)
                expired += 1
            }
            #expect(expected.values.allSatisfy { $0 > now })
        }
        #expect(expired > 5000)
    }
}
