import APNSBatchSimulation
import APNSBatchTestSupport
import Foundation
import Testing

@Suite("Connections in virtual time", .ownThread, .serialized)
struct VirtualGrowthTests {
    private func run(_ play: GrowthPlay) throws -> [GrowthPlay.Moment] {
        let input = FileManager.default.temporaryDirectory.appending(path: "growth-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: input) }
        return try play.run(input: input)
    }

    @Test(
        "All streams are in use after some fifteen answer times",
        arguments: [20.0, 100, 300, 1000, 3000], [0, 0.5])
    func reachesTheMost(median: Double, sigma: Double) throws {
        for (seed, lanes) in [(1, 1), (2, 1), (3, 2)] as [(UInt64, Int)] {
            let time = GrowthPlay.AnswerTime(median, sigma: sigma)
            // With gathering and the way, answers take a few milliseconds more.
            let bound = 3 + 15 * time.mean / 1000
            var play = GrowthPlay(time, seconds: bound)
            (play.seed, play.lanes, play.streams) = (seed, lanes, 20)
            if median < 200 { play.connections = 8 }
            let moments = try run(play)
            let rate = 0.9 * play.most(.init(time.mean + 8))
            #expect(
                moments.reaches(rate, over: max(0.5, 2 * time.mean / 1000)) != nil,
                "\(median) ms, \(sigma), seed \(seed): \(moments.last as Any)")
            #expect(moments.last?.connections == play.connections * lanes)
        }
    }

    @Test("100 streams of 32 connections are in use within 10 s at 500 ms, and within 20 s at 1,000 ms")
    func bounds() throws {
        for (median, bound) in [(500.0, 10.0), (1000, 20)] {
            var play = GrowthPlay(.init(median), seconds: bound)
            play.streams = 100
            let moments = try run(play)
            let reached = moments.reaches(0.9 * play.most(.init(median)), over: median / 1000)
            #expect(reached.map { $0 <= bound } == true, "\(median) ms: \(moments)")
        }
    }

    @Test("Connections follow when answers become slower and quick again")
    func changes() throws {
        for (seed, lanes) in [(1, 1), (2, 2)] as [(UInt64, Int)] {
            var play = GrowthPlay(.init(100, sigma: 0.3), seconds: 36)
            play.times += [(1, .init(1000, sigma: 0.3)), (25, .init(100, sigma: 0.3))]
            (play.seed, play.lanes, play.streams) = (seed, lanes, 10)
            let moments = try run(play)
            let slow = moments.filter { $0.time < 25 }
            #expect(slow.reaches(0.85 * play.most(.init(1050)), over: 4).map { $0 <= 22 } == true, "\(slow)")
            let end = moments.filter { $0.time > 29 }
            #expect(end.reaches(0.85 * play.most(.init(112)), over: 2) != nil, "\(end)")
        }
    }

    @Test("A server that is the limit gets no queue of thousands of requests", arguments: [1.0, 100])
    func saturated(median: Double) throws {
        for (seed, lanes) in [(1, 1), (2, 2)] as [(UInt64, Int)] {
            var play = GrowthPlay(.init(median), seconds: 30)
            (play.seed, play.lanes, play.streams, play.capacity) = (seed, lanes, 1000, 1000)
            let moments = try run(play)
            // The queue is twice as long with two lanes, and so is the time until more than one answer time has shown it.
            let late = moments.filter { $0.time > 8 * Double(lanes) && $0.time < 28 }
            let many = late.count { $0.inFlight > 1000 * lanes }
            #expect(
                late.allSatisfy { $0.inFlight <= 2000 * lanes } && many * 3 <= late.count, "\(late.map(\.inFlight))")
            #expect(late.reaches(950, over: 5) != nil, "\(late.map(\.accepted))")
        }
    }
}
