import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Gathering answers") struct GatheringTests {
    @Test(
        "Answers gather for a sixteenth of the answer time, between 300 µs and 5 ms",
        arguments: [(0, 300), (1000, 300), (4800, 300), (16_000, 1000), (50_000, 3125), (200_000, 5000), (.max, 5000)]
            as [(UInt32, UInt32)])
    func share(latency: UInt32, time: UInt32) {
        var gathering = Gathering(limit: 10_000)
        for _ in 0..<100 { gathering.note(latency: latency) }
        gathering.look()
        #expect(gathering.time == time)
    }

    @Test(
        "Answers gather for an eighth of their queueing time, up to 10 ms",
        arguments: [(1000, 7000, 750), (1000, 41_000, 5000), (100_000, 116_000, 5000), (1000, 400_000, 10_000)]
            as [(UInt32, UInt32, UInt32)])
    func queue(quickest: UInt32, latency: UInt32, time: UInt32) {
        var gathering = Gathering(limit: 10_000)
        gathering.note(latency: quickest)
        gathering.look()
        for _ in 0..<1000 { gathering.note(latency: latency) }
        gathering.look()
        let apart = Int(gathering.time) - Int(time)
        #expect(apart <= 0 && apart >= -60, "\(gathering.time)")
    }

    @Test("The mean is taken over the answers since the last update, once there are enough")
    func anew() {
        var gathering = Gathering(limit: 10_000)
        #expect(gathering.time == 300)
        for _ in 0..<99 { gathering.note(latency: 16_000) }
        gathering.look()
        #expect(gathering.time == 300)
        gathering.note(latency: 16_000)
        gathering.look()
        #expect(gathering.time == 1000)
        for _ in 0..<100 { gathering.note(latency: 20_000) }
        for _ in 0..<100 { gathering.note(latency: 28_000) }
        gathering.look()
        #expect(gathering.time == 1500)
    }

    @Test(
        "At a limit of requests per second answers gather for a hundredth of the answer time, up to 1.25 ms",
        arguments: [(1000, 300), (50_000, 500), (100_000, 1000), (400_000, 1250)] as [(UInt32, UInt32)])
    func rate(latency: UInt32, time: UInt32) {
        var gathering = Gathering(limit: 10_000)
        for _ in 0..<100 { gathering.note(latency: latency) }
        gathering.look()
        #expect(gathering.timeOfRate == time)
    }

    @Test("Answers never gather for longer than the campaign allows", arguments: [0, 200, 900, 2000] as [UInt32])
    func limit(limit: UInt32) {
        var gathering = Gathering(limit: limit)
        #expect(gathering.least == min(300, limit))
        for _ in 0..<100 { gathering.note(latency: 100_000) }
        gathering.look()
        #expect(gathering.time == limit)
        #expect(gathering.timeOfRate == min(1000, limit))
    }
}
