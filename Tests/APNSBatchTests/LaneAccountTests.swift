import Testing

@testable import APNSBatch

@Suite("What lanes count besides outcomes") struct LaneAccountTests {
    @Test("answer times: quantiles are right to a sixteenth, and of several lanes together")
    func answerTimes() throws {
        var (odd, even) = (AnswerTimes(), AnswerTimes())
        for time in 1...10_000 as ClosedRange<UInt32> {
            if time % 2 == 0 { even.note(time * 10) } else { odd.note(time * 10) }
        }
        odd.add(even)
        #expect(odd.count == 10_000 && odd.longest == 100_000)
        for (share, exact) in [(0.5, 50_000.0), (0.9, 90_000), (0.99, 99_000), (1, 100_000)] {
            let found = Double(try #require(odd.quantile(share)))
            #expect(found >= exact && found <= exact * 17 / 16, "\(share): \(found)")
        }
        #expect(AnswerTimes().quantile(0.5) == nil)
    }

    @Test(
        "small and the largest times have their bucket",
        arguments: [0, 1, 15, 16, 31, 32, 33, 1 << 31, .max] as [UInt32])
    func edges(time: UInt32) throws {
        var times = AnswerTimes()
        times.note(time)
        #expect(times.quantile(0.5) == time)
    }

    @Test("all of the first answers are taken, then every sixteenth")
    func sample() {
        var gathering = Gathering()
        for _ in 0..<1000 { gathering.note(latency: 50) }
        #expect(gathering.times.count == 1000)
        gathering.look()
        for _ in 0..<1600 { gathering.note(latency: 50) }
        #expect(gathering.times.count == 1100)
    }

    @Test("invalid rows are counted by rule, with the first three places of the input")
    func invalid() {
        func finding(_ line: UInt64) -> RowFinding {
            RowFinding(.deviceToken, file: "rows.csv", line: line, column: 1, "token")
        }
        var (one, other) = (LaneAccount(), LaneAccount())
        for line in [9, 4, 30] as [UInt64] { one.note(finding(line)) }
        for line in [2, 7, 40] as [UInt64] { other.note(finding(line)) }
        one.add(other)
        let rows = one.invalid["device-token"]
        #expect(rows?.count == 6)
        #expect(rows?.places.map(\.text) == ["rows.csv:2:1", "rows.csv:4:1", "rows.csv:7:1"])
    }
}
