import APNSBatchTestSupport
import Testing

@testable import APNSBatchSending

/// How many connections a pool opens, by how long answers take and what limits them.
@Suite("Connections follow the time of answers", .ownThread, .serialized) struct PoolGrowthTests {
    private static let times = [20.0, 100, 300, 1000, 3000]

    @Test(
        "All connections are in use after some fifteen answer times", arguments: times, [0, 1.0])
    func reachesTheMost(time: Double, sigma: Double) {
        for seed: UInt64 in 1...2 {
            var model = PoolModel(time: { _ in time }, sigma: sigma, connections: time < 200 ? 8 : 32, seed: seed)
            let mean = model.most(1) > 0 ? Double(model.streams) / model.most(1) : 0
            let bound = 3 + 15 * mean
            // Answers that came in a burst fall into one second or the next.
            model.run(until: bound + max(1, 4 * mean))
            let most = model.most(time < 200 ? 8 : 32)
            let last = model.seconds.suffix(Int(max(1, 4 * mean))).map { Double($0.answers) }
            #expect(last.reduce(0, +) / Double(last.count) >= 0.85 * most, "\(time) ms, \(sigma): \(model.seconds)")
            #expect(model.pool.up == (time < 200 ? 8 : 32))
        }
    }

    @Test("1,000 streams of 32 connections are in use within 10 s at 500 ms, and within 20 s at 1,000 ms")
    func bounds() {
        for (time, bound) in [(500.0, 10), (1000, 20)] {
            var model = PoolModel(time: { _ in time }, streams: 1000)
            model.run(until: Double(bound))
            let reached = model.second(of: 0.9 * model.most())
            #expect(reached.map { $0 <= bound } == true, "\(time) ms: \(model.seconds)")
        }
    }

    @Test("Connections stay when answers become slower or quicker", arguments: [0, 0.5])
    func changes(sigma: Double) {
        for seed: UInt64 in 1...2 {
            var model = PoolModel(time: { $0 < 8 ? 100 : $0 < 30 ? 1000 : 100 }, sigma: sigma, seed: seed)
            model.run(until: 36)
            let up = model.seconds.map(\.up)
            #expect(up[5...].allSatisfy { $0 >= 16 } && up.last == 32, "\(up)")
            let slow = model.seconds[20..<30].map { Double($0.answers) }
            #expect(slow.reduce(0, +) / 10 >= 0.9 * model.most() / 10, "within 12 s of the change: \(model.seconds)")
        }
    }

    @Test("Connections come when answers become slower at the start")
    func earlyChange() {
        for seed: UInt64 in 1...2 {
            var model = PoolModel(time: { $0 < 1 ? 100 : 1000 }, sigma: 0.3, seed: seed)
            model.run(until: 16)
            #expect(model.pool.up == 32, "\(model.seconds)")
        }
    }

    @Test(
        "A server that is the limit gets no queue of thousands of requests",
        arguments: [(20_000.0, 1.0, 0.0), (2000, 100, 0.5), (20_000, 20, 0.5), (500, 1000, 0)])
    func saturated(capacity: Double, time: Double, sigma: Double) {
        for seed: UInt64 in 1...2 {
            var model = PoolModel(time: { _ in time }, sigma: sigma, streams: 1000, seed: seed)
            model.capacity = capacity
            model.run(until: 90)
            let late = model.seconds[20...]
            #expect(late.allSatisfy { Double($0.answers) >= 0.95 * capacity }, "\(model.seconds)")
            #expect(late.allSatisfy { $0.inFlight <= 2000 }, "\(late.map(\.inFlight))")
            // Trials become ever rarer. One needs some five times the time that an answer takes with the queue.
            let trials = late.count { $0.inFlight > 1001 }
            #expect(trials <= 10 + Int(10 * 1000 / capacity), "\(late.map(\.inFlight))")
        }
    }

    @Test("A far server that is the limit gets twice the requests that it needs in flight, and no more")
    func saturatedFar() {
        var model = PoolModel(time: { _ in 1000 }, streams: 1000)
        model.capacity = 5000
        model.run(until: 100)
        let late = model.seconds[30...]
        #expect(late.allSatisfy { $0.answers >= 4900 && $0.inFlight <= 20_000 }, "\(late)")
        #expect(late.count { $0.inFlight > 10_000 } <= 25, "\(late.map(\.inFlight))")
    }

    @Test("A server with a limit for each connection gets all of them", arguments: [20.0, 500])
    func limitOfEach(time: Double) {
        var model = PoolModel(time: { _ in time }, sigma: 0.3, connections: 16, streams: 1000)
        model.capacityOfEach = 1000
        model.run(until: 30)
        #expect(model.pool.up == 16 && model.second(of: 15_000).map { $0 <= 25 } == true, "\(model.seconds)")
    }

    @Test("A lane that is busy gets no further connection")
    func busy() {
        var model = PoolModel(time: { _ in 500 })
        model.isBusy = { $0 >= 2.5 && $0 < 8 }
        model.run(until: 12)
        let up = model.seconds.map(\.up)
        #expect(up[3..<8].allSatisfy { $0 == up[3] && $0 < 32 } && up[11] == 32, "\(up)")
    }
}
