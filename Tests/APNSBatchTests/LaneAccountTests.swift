import APNSBatchBasics
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords
@testable import APNSBatchSending

@Suite("Lane accounts") struct LaneAccountTests {
    @Test("Quantiles of answer times are right to one percent, also over several lanes")
    func answerTimes() throws {
        var (odd, even) = (AnswerTimeCounts(), AnswerTimeCounts())
        for time in 1...10_000 as ClosedRange<UInt32> {
            if time % 2 == 0 { even.note(time * 10) } else { odd.note(time * 10) }
        }
        odd.add(even)
        #expect(odd.total == 10_000 && odd.longest == 100_000)
        for (share, exact) in [(0.5, 50_000.0), (0.9, 90_000), (0.99, 99_000), (1, 100_000)] {
            let found = Double(try #require(odd.quantile(share)))
            #expect(found >= exact && found <= exact * 1.01, "\(share): \(found)")
        }
        #expect(AnswerTimeCounts().quantile(0.5) == nil)
    }

    @Test(
        "The smallest and largest times are exact",
        arguments: [0, 1, 15, 255, 256, 257, 1 << 31, .max] as [UInt32])
    func edges(time: UInt32) throws {
        var times = AnswerTimeCounts()
        times.note(time)
        #expect(times.quantile(0.5) == time && times.longest == time)
    }

    /// Times of which HdrHistogram has computed figures.
    struct Sample: CustomTestStringConvertible {
        enum Kind { case everyLength, usual, short }
        let (kind, seed, size): (Kind, UInt64, Int)
        /// The quantiles by share, the longest time, and the number and hash of all buckets, as the package hdrhistogram-swift 0.2.0
        /// has them with two significant digits.
        let (quantiles, longest, buckets, hash): ([UInt32], UInt32, Int, UInt64)
        static let shares = [0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1]

        init(_ kind: Kind, _ seed: UInt64, _ size: Int, _ quantiles: [UInt32], _ buckets: Int, _ hash: UInt64) {
            (self.kind, self.seed, self.size) = (kind, seed, size)
            (self.quantiles, longest, self.buckets, self.hash) = (quantiles, quantiles.last!, buckets, hash)
        }

        var testDescription: String { "\(kind), \(size)" }

        var times: [UInt32] {
            var numbers = SplitMix64(seed: seed)
            return (0..<size).map { _ in
                let word = numbers.next()
                switch kind {
                case .everyLength: return UInt32(truncatingIfNeeded: word >> (32 + numbers.next() % 32))
                case .usual:
                    return 15_000 + UInt32(word % 20_000)
                        + (word >> 60 == 0 ? 400_000 + UInt32(word >> 40 & 0xF_FFFF) : 0)
                case .short: return UInt32(word % 300)
                }
            }
        }

        static let all = [
            Sample(
                .everyLength, 1, 60_000,
                [
                    0, 4, 38_143, 258_998_271, 880_803_839, 2_852_126_719, 4_143_972_351, 4_278_190_079, 4_294_218_096,
                ], 3328, 0xC342_B478_D6B8_C38A),
            Sample(
                .usual, 2, 100_000,
                [15_039, 17_151, 25_599, 34_303, 630_783, 1_302_527, 1_458_175, 1_474_559, 1_479_220], 393,
                0x1A44_FD28_C609_F4BB),
            Sample(.short, 3, 5_000, [0, 29, 153, 269, 285, 297, 299, 299, 299], 278, 0x4C8_2430_FE20_D101),
            Sample(.everyLength, 4, 1, Array(repeating: 28_275, count: 9), 1, 0x9795_0F08_2EBD_A679),
            Sample(
                .usual, 5, 7, [15_615, 15_615, 28_159] + Array(repeating: 33_618, count: 6), 7, 0x66FA_92C7_3EAC_CB1C),
            Sample(.everyLength, 6, 2, [94, 94, 94] + Array(repeating: 3_692, count: 6), 2, 0xD48C_CF4C_67BF_06FF),
        ]
    }

    @Test("Quantiles and buckets are those of HdrHistogram", arguments: Sample.all)
    func known(sample: Sample) {
        var counts = AnswerTimeCounts()
        for time in sample.times { counts.note(time) }
        #expect(counts.longest == sample.longest && counts.total == UInt64(sample.size))
        #expect(Sample.shares.map { counts.quantile($0) } == sample.quantiles)
        var (buckets, hash): (Int, UInt64) = (0, 14_695_981_039_346_656_037)
        counts.forEach { time, count in
            buckets += 1
            for word in [UInt64(time), count] { hash = (hash ^ word) &* 1_099_511_628_211 }
        }
        #expect(buckets == sample.buckets && hash == sample.hash)
    }

    @Test("The buckets cover all times without a gap")
    func buckets() {
        for index in 0..<AnswerBucket.count {
            let longest = AnswerBucket.longestTime(at: index)
            #expect(AnswerBucket.index(of: longest) == index)
            #expect(longest == .max || AnswerBucket.index(of: longest + 1) == index + 1)
        }
        #expect(AnswerBucket.longestTime(at: AnswerBucket.count - 1) == .max)
    }

    @Test("Answers counted by several lanes have the same quantiles as all of them counted together")
    func merged() {
        let lanes = [AnswerTimeCounters(), AnswerTimeCounters(), AnswerTimeCounters()]
        var (all, numbers) = (AnswerTimeCounts(), SplitMix64(seed: 7))
        for number in 0..<60_000 {
            // Times of all lengths, from 1 to 32 bits.
            let time = UInt32(truncatingIfNeeded: numbers.next() >> (32 + numbers.next() % 32))
            lanes[number % lanes.count].note(time)
            all.note(time)
        }
        var (counts, sum) = (AnswerTimeCounts(), AnswerTimeCounts())
        for lane in lanes {
            lane.add(to: &counts)
            sum.add(lane.counts)
        }
        #expect(counts == all && sum == all && counts.total == 60_000)
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
        var (last, sum) = (AnswerTimeCounts(), AnswerTimeCounts())
        while last.total < answers {
            let counts = counters.counts
            sum.add(counts.since(last))
            last = counts
        }
        lane.join()
        #expect(last == counters.counts && sum == last && sum.total == answers && sum.longest == 4999)
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
        #expect(read == counted && read.answerTimes.total == 5 && read.answerTimes.longest == 2_000_000)
        #expect(read.answerTimes.quantile(0.99) == 1_236_991)
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
        #expect(strange.answerTimes.total == 3 && strange.answerTimes.longest == .max)
        var sum = strange
        sum.add(strange)
        #expect(sum.answerTimes.total == 6)
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
