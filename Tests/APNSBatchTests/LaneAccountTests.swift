import APNSBatchBasics
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords
@testable import APNSBatchSending

@Suite("Lane accounts") struct LaneAccountTests {
    @Test("Quantiles of answer times are right to one percent, also over several lanes")
    func answerTimes() throws {
        var (odd, even) = (AnswerTimes(), AnswerTimes())
        for time in 1...10_000 as ClosedRange<UInt32> {
            if time % 2 == 0 { even.note(time * 10) } else { odd.note(time * 10) }
        }
        odd.add(even)
        #expect(odd.count == 10_000 && odd.longest == 100_000)
        for (share, exact) in [(0.5, 50_000.0), (0.9, 90_000), (0.99, 99_000), (1, 100_000)] {
            let found = Double(try #require(odd.quantile(share)))
            #expect(found >= exact && found <= exact * 1.01, "\(share): \(found)")
        }
        #expect(AnswerTimes().quantile(0.5) == nil)
    }

    @Test(
        "The smallest and largest times are exact",
        arguments: [0, 1, 15, 255, 256, 257, 1 << 31, .max] as [UInt32])
    func edges(time: UInt32) throws {
        var times = AnswerTimes()
        times.note(time)
        #expect(times.quantile(0.5) == time && times.longest == time)
    }

    @Test("Each time has the bucket that the library gives it")
    func buckets() {
        for index in 0..<AnswerBucket.count {
            let longest = AnswerBucket.longestTime(at: index)
            #expect(AnswerBucket.index(of: longest) == index)
            #expect(longest == .max || AnswerBucket.index(of: longest + 1) == index + 1)
        }
        #expect(AnswerBucket.longestTime(at: AnswerBucket.count - 1) == .max)
    }

    @Test("Answers counted by several lanes have the same quantiles as one histogram of all of them")
    func merged() {
        let lanes = [AnswerTimeCounters(), AnswerTimeCounters(), AnswerTimeCounters()]
        var (all, numbers) = (AnswerTimes(), SplitMix64(seed: 7))
        for number in 0..<60_000 {
            // Times of all lengths, from 1 to 32 bits.
            let time = UInt32(truncatingIfNeeded: numbers.next() >> (32 + numbers.next() % 32))
            lanes[number % lanes.count].note(time)
            all.note(time)
        }
        var (counts, sum) = (AnswerTimeCounts(), AnswerTimes())
        for lane in lanes {
            lane.add(to: &counts)
            sum.add(lane.counts.times)
        }
        #expect(counts.times == all && sum == all && counts.total == 60_000)
        for share in [0.001, 0.1, 0.5, 0.9, 0.99, 0.9999, 1] { #expect(counts.quantile(share) == all.quantile(share)) }
    }

    @Test("The answers of an interval are those that came since its beginning")
    func interval() {
        let lane = AnswerTimeCounters()
        for _ in 0..<90 { lane.note(1_000_003) }
        let before = lane.counts
        for time in [50, 60, 70] as [UInt32] { lane.note(time) }
        let interval = lane.counts.since(before)
        #expect(interval.total == 3 && interval.quantile(0.5) == 60 && interval.longest == 70)
        #expect(lane.counts.longest == 1_000_003 && lane.counts.total == 93)
        #expect(lane.counts.since(lane.counts) == AnswerTimeCounts() && AnswerTimeCounts().quantile(0.5) == nil)
    }

    @Test("Between readings, no answer of a lane is lost or counted twice")
    func readWhileCounting() throws {
        let counters = AnswerTimeCounters()
        let answers: UInt64 = 200_000
        let lane = try NamedThread("lane") {
            for number in 0..<answers { counters.note(UInt32(number % 5000)) }
        }
        var (last, sum) = (AnswerTimeCounts(), AnswerTimes())
        while last.total < answers {
            let counts = counters.counts
            sum.add(counts.since(last).times)
            last = counts
        }
        lane.join()
        #expect(last == counters.counts && sum == last.times && sum.count == answers && sum.longest == 4999)
    }

    private func text(_ lanes: LaneAccount) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: LaneAccount.textMax) { bytes, count in
            count = lanes.write(to: UnsafeMutableRawPointer(bytes.baseAddress!))
        }
    }

    private func lanes(_ text: some Sequence<UInt8>) -> LaneAccount? {
        Array(text).withUnsafeBytes { LaneAccount(text: $0) }
    }

    @Test("An account is restored from its text in the ledger")
    func text() throws {
        var counted = LaneAccount()
        #expect(lanes(text(counted)) == counted)
        for time in [0, 5, 700, 700, 1_234_567] as [UInt32] { counted.answerTimes.note(time) }
        counted.answerTimes.note(longest: 2_000_000)
        counted.noteRetry(after: "503 \"a\\b\u{1}\"")
        counted.noteEnd(ofConnection: "goaway, ü")
        let read = try #require(lanes(text(counted)))
        #expect(read == counted && read.answerTimes.count == 5 && read.answerTimes.longest == 2_000_000)
        #expect(read.answerTimes.quantile(0.99) == 1_234_567)
    }

    @Test("An unknown account text is ignored, or counted as far as it is valid")
    func strangeTexts() throws {
        var counted = LaneAccount()
        counted.answerTimes.note(7)
        counted.noteRetry(after: "a")
        counted.noteEnd(ofConnection: "b")
        let whole = text(counted)
        for length in whole.indices { #expect(lanes(whole.prefix(length)) == nil) }
        #expect(lanes(whole + [1, 2, 3]) == counted, "a later version added to it")
        #expect(lanes(Array(repeating: 0xFF, count: 4096)) == nil)

        let times: [UInt64] = [4_294_967_295, .max, 3, .max, 7, 2, 9, 1]
        let numbers: [UInt32] = [.max, 0, 0, 4]
        let strange = try #require(
            lanes(
                numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
                    + times.flatMap { time in (0..<8).map { UInt8(truncatingIfNeeded: time >> (8 * $0)) } }))
        #expect(strange.answerTimes.count == 3 && strange.answerTimes.longest == .max)
        var sum = strange
        sum.add(strange)
        #expect(sum.answerTimes.count == 6)
    }

    @Test("Texts from a peer are grouped when there are many and cut when they are long")
    func manyTexts() {
        var (one, other) = (LaneAccount(), LaneAccount())
        for number in 0..<200 {
            (number % 2 == 0) ? one.noteRetry(after: "r\(number)") : other.noteRetry(after: "r\(number)")
        }
        one.add(other)
        #expect(one.retries.count == 65 && one.retries.values.reduce(0, +) == 200)
        one.noteEnd(ofConnection: String(repeating: "x", count: 5000))
        #expect(one.connectionEnds.keys.map(\.utf8.count) == [256])
        #expect(text(one).count < 4096)
    }
}
