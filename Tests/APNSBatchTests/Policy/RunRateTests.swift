import APNSBatchBasics
import APNSBatchSimulation
import APNSBatchTestSupport
import Foundation
import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Limit of requests per second", .ownThread, .serialized) struct RunRateTests {
    private static let second: UInt64 = 1_000_000_000
    private static let start: UInt64 = 7_000_000_000_123

    private static let rates = [
        Campaign.Rate(500, per: .second), .init(5000, per: .second), .init(50_000, per: .second),
        .init(1_000_003, per: .second), .init(1019, per: .minute), .init(100, per: .second), .init(7, per: .hour),
        .init(3_000_000, per: .hour), .init(1, per: .second),
    ]

    /// Lanes that ask for requests at random times, and use only a part of them.
    private struct Play {
        var time = RunRateTests.start
        var random: SplitMix64
        var requests = 0

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        mutating func below(_ limit: UInt64) -> UInt64 { random.next() % max(1, limit) }
    }

    @Test("No interval has more requests than promised", arguments: rates)
    func promise(rate: Campaign.Rate) {
        for seed in 1...40 as ClosedRange<UInt64> {
            let limit = RunRate(Campaign.RateLimit(rate: rate))
            var (play, bound) = (Play(seed: seed), RateBound(perSecond: rate.perSecond))
            let longest = [20_000, 2_000_000, 40_000_000, 3_000_000_000][Int(seed % 4)] as UInt64
            for _ in 0..<4000 {
                play.time += play.below(longest)
                let grant = limit.take(upTo: Int(play.below(2000)), now: play.time)
                let used = play.below(3) == 0 ? Int(play.below(UInt64(grant.requests) + 1)) : grant.requests
                limit.giveBack(grant, used: used)
                // Reserved requests are handed over later, and leave up to a millisecond after that. Slow rates have no room
                // for the latter.
                play.time += play.below(play.below(10) == 0 ? 50_000_000 : 100_000)
                limit.handedOver(grant, used: used, at: play.time)
                if rate.perSecond >= 200 { play.time += play.below(1_000_000) }
                bound.note(used, at: play.time)
            }
            #expect(bound.isKept, "seed \(seed): \(bound.excess) too many")
        }
    }

    @Test("A lane that comes back in time reaches the rate", arguments: rates)
    func mean(rate: Campaign.Rate) {
        let limit = RunRate(Campaign.RateLimit(rate: rate))
        var (play, sent) = (Play(seed: 3), 0)
        let end = Self.start + UInt64(max(10, 3000 / rate.perSecond) * 1e9)
        let isFast = rate.perSecond > 101
        while play.time < end {
            sent += limit.take(upTo: 100_000, now: play.time).requests
            // A fast rate bears being late; at a slow one the lane wakes at the very moment.
            let next = limit.next(now: play.time)
            play.time = isFast ? play.time + play.below(7_000_000) : max(play.time, next)
        }
        let wanted = rate.perSecond * Double(end - Self.start) / 1e9
        #expect(abs(Double(sent) / wanted - 1) < 0.005, "\(sent) instead of \(wanted)")
    }

    @Test("What was not sent is not made up for")
    func noCatchingUp() {
        let limit = RunRate(Campaign.RateLimit(rate: .init(1000, per: .second)))
        #expect(limit.take(upTo: 500, now: Self.start).requests == 9)
        #expect(limit.take(upTo: 500, now: Self.start).requests == 0)
        #expect(limit.take(upTo: 500, now: Self.start + 30 * Self.second).requests == 9)
    }

    @Test("A turn gives back what it did not use, unless another lane has reserved since")
    func givesBack() {
        let limit = RunRate(Campaign.RateLimit(rate: .init(1000, per: .second)))
        let first = limit.take(upTo: 10, now: Self.start)
        limit.giveBack(first, used: 4)
        let second = limit.take(upTo: 10, now: Self.start)
        #expect((first.requests, second.requests) == (9, 5))
        let (mine, others) = (
            limit.take(upTo: 2, now: Self.start + 3_000_000), limit.take(upTo: 1, now: Self.start + 3_000_000)
        )
        #expect((mine.requests, others.requests) == (2, 1))
        limit.giveBack(mine, used: 0)
        #expect(limit.take(upTo: 10, now: Self.start + 3_000_000).requests == 0)
    }

    @Test("The time of the next request is exact")
    func nextRequest() {
        let limit = RunRate(Campaign.RateLimit(rate: .init(1019, per: .minute)))
        var time = Self.start
        #expect(limit.take(upTo: 5, now: time).requests == 1)
        for _ in 0..<1019 {
            time = limit.next(now: time)
            #expect(limit.take(upTo: 5, now: time - 1).requests == 0)
            #expect(limit.take(upTo: 5, now: time).requests == 1)
        }
        #expect(time >= Self.start + 60 * Self.second && time < Self.start + 60 * Self.second + 2000)
    }

    @Test("A higher rate applies at once, however low the rate was before")
    func changes() {
        let limit = RunRate(Campaign.RateLimit(rate: .init(1, per: .hour)))
        #expect(limit.take(upTo: 5, now: Self.start).requests == 1)
        limit.change(to: Campaign.RateLimit(rate: .init(1000, per: .second)))
        var (sent, time) = (0, Self.start)
        for _ in 0..<1000 {
            time += 1_000_000
            sent += limit.take(upTo: 100, now: time).requests
        }
        #expect((990...1010).contains(sent))
        limit.change(to: Campaign.RateLimit())
        #expect(limit.take(upTo: 100, now: time).requests == .max)
        #expect(limit.inForce(now: time) == nil)
    }

    // MARK: Sharing

    /// A path at which there is no file, and which is removed at the end.
    private final class TemporaryFile: Sendable {
        let path = FileManager.default.temporaryDirectory.appending(path: "rate-\(UUID().uuidString)").path
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    @Test("Runs that name the same file share one limit, and one that is new finds what the others have sent")
    func shares() throws {
        let file = TemporaryFile()
        let given = Campaign.RateLimit(rate: .init(1000, per: .second))
        let (one, other) = (try RunRate(given, sharedBy: file.path), try RunRate(given, sharedBy: file.path))
        #expect(one.take(upTo: 4, now: Self.start).requests == 4)
        #expect(other.take(upTo: 100, now: Self.start).requests == 5)
        #expect(try RunRate(given, sharedBy: file.path).take(upTo: 100, now: Self.start).requests == 0)
    }

    @Test("Threads that share a file keep one limit together")
    func sharesBetweenThreads() async throws {
        let file = TemporaryFile()
        let given = Campaign.RateLimit(rate: .init(100_000, per: .second))
        let sent = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    guard let rate = try? RunRate(given, sharedBy: file.path) else { return 0 }
                    // All of them see the same times.
                    return (0..<2000).reduce(0) { sum, step in
                        let grant = rate.take(upTo: 3, now: Self.start + UInt64(step) * 10_000)
                        if step % 7 == 0 { rate.giveBack(grant, used: 0) }
                        return sum + (step % 7 == 0 ? 0 : grant.requests)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        // 20 ms at this rate, and what may come at once.
        #expect(sent <= 3000 && sent > 1000, "\(sent)")
    }

    @Test("A file that holds something else is refused, and stays as it is")
    func foreignFile() throws {
        let file = TemporaryFile()
        let text = "This is a letter to somebody else."
        try text.write(toFile: file.path, atomically: false, encoding: .utf8)
        #expect(throws: CampaignError.self) {
            _ = try RunRate(Campaign.RateLimit(rate: .init(1, per: .second)), sharedBy: file.path)
        }
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
    }

    /// What another program does to the file while runs share it.
    @Test("A file that is cut off, overwritten or removed costs no run more than the sharing", arguments: 0..<5)
    func damagedFile(way: Int) throws {
        let file = TemporaryFile()
        let given = Campaign.RateLimit(rate: .init(1000, per: .second))
        let (one, other) = (try RunRate(given, sharedBy: file.path), try RunRate(given, sharedBy: file.path))
        #expect(one.take(upTo: 100, now: Self.start).requests == 9)
        switch way {
        case 0: #expect(truncate(file.path, 0) == 0)
        case 1: #expect(truncate(file.path, 17) == 0)
        case 2: #expect(truncate(file.path, 0) == 0 && truncate(file.path, 1 << 20) == 0)
        case 3:
            let text = "a letter to somebody else, which is longer than the words of the limit"
            try Data(text.utf8).write(to: URL(filePath: file.path), options: [])
        default: #expect(unlink(file.path) == 0)
        }
        // It knows by itself what it has sent.
        #expect(one.take(upTo: 100, now: Self.start).requests == 0)
        // What it knows is in the file again.
        if way < 3 { #expect(other.take(upTo: 100, now: Self.start).requests == 0) }
        #expect(one.take(upTo: 100, now: Self.start + Self.second).requests > 0)
        if way == 3 { #expect(try String(contentsOfFile: file.path, encoding: .utf8).hasPrefix("a letter")) }
    }

    @Test("A file that others may write to is refused, and so is what is no file")
    func unsafeFile() throws {
        let given = Campaign.RateLimit(rate: .init(1, per: .second))
        func complaint(_ path: String) -> String {
            do throws(CampaignError) {
                _ = try RunRate(given, sharedBy: path)
                return ""
            } catch {
                return error.description
            }
        }
        let (file, fifo, link) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
        #expect(complaint(file.path) == "")
        #expect(chmod(file.path, 0o620) == 0)
        #expect(complaint(file.path).contains("others may write to it; run chmod 600 \(file.path)"))
        #expect(chmod(file.path, 0o644) == 0)
        #expect(complaint(file.path) == "")
        #expect(mkfifo(fifo.path, 0o600) == 0 && symlink(file.path, link.path) == 0)
        #expect(complaint(fifo.path).contains("it is not a regular file"))
        #expect(complaint(link.path) != "" && complaint("/dev/null") != "" && complaint("/tmp") != "")
        // Only root can give a file away.
        if chown(file.path, 1, 1) == 0 { #expect(complaint(file.path).contains("it belongs to another user")) }
    }

    /// A process that is stopped while it holds the lock holds up nobody for long.
    @Test("A lock that is never released is not waited for")
    func heldLock() throws {
        let file = TemporaryFile()
        let rate = try RunRate(Campaign.RateLimit(rate: .init(1000, per: .second)), sharedBy: file.path)
        let holder = open(file.path, O_RDWR)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        #expect(rate.take(upTo: 100, now: Self.start).requests == 9)
        #expect(rate.take(upTo: 100, now: Self.start).requests == 0)
    }

    /// The state of another clock (of a container), or of a damaged file: the mark, the boot id, the due time and the start of a ramp.
    @Test(
        "Times in a file that cannot be true hold up no request, and end no process",
        arguments: [0, 1, start + 864_000 * second, .max - 15, .max],
        [0, 1, start + 864_000 * second, .max - 1, .max]
            as [UInt64])
    func foreignTimes(due: UInt64, rampBegan: UInt64) throws {
        let file = TemporaryFile()
        let given = Campaign.RateLimit(rate: .init(1000, per: .second), ramp: .seconds(10))
        _ = try RunRate(given, sharedBy: file.path).take(upTo: 1, now: Self.start)
        let writer = open(file.path, O_WRONLY)
        defer { close(writer) }
        #expect(pwrite(writer, [due, rampBegan], 16, 24) == 16)
        let rate = try RunRate(given, sharedBy: file.path)
        var (now, sent) = (Self.start, 0)
        for _ in 0..<2000 {
            now += 10_000_000
            _ = (rate.next(now: now), rate.inForce(now: now))
            sent += rate.take(upTo: 100, now: now).requests
        }
        #expect((12_000...20_000).contains(sent), "20 s, with a ramp of 10 s, or after it")
    }

    // MARK: Ramps

    /// The sum of a ramp after so many seconds.
    private static func line(_ full: Double, over time: Double, at seconds: Double) -> Double {
        let first = max(1, full / 100)
        return first * seconds + (full - first) * seconds * seconds / 2 / time
    }

    @Test("A ramp fits its line", arguments: [(500.0, 60), (5000, 20), (50_000, 10), (30, 30)])
    func ramp(full: Double, time: Int) {
        let limit = RunRate(Campaign.RateLimit(rate: .init(UInt64(full), per: .second), ramp: .seconds(time)))
        var (sent, now) = (0, Self.start)
        var bound = RateBound(perSecond: full)
        while now < Self.start + UInt64(time) * Self.second {
            let requests = limit.take(upTo: 10_000, now: now).requests
            sent += requests
            bound.note(requests, at: now)
            let seconds = Double(now - Self.start) / 1e9
            let wanted = Self.line(full, over: Double(time), at: seconds)
            // At most what may come at once is ahead of the line.
            #expect(Double(sent) <= wanted + max(1, full / 100) + 1e-3)
            #expect(Double(sent) >= (wanted - 1).rounded(.down) - full * 0.001, "after \(seconds) s")
            // A slow lane wakes when the next request is due.
            let next = limit.next(now: now)
            now = next > now ? min(next, now + 1_000_000) : now + 1_000_000
        }
        #expect(bound.isKept)
        let end = limit.inForce(now: now)
        #expect(end?.isRamp == false && abs((end?.perSecond ?? 0) - full) < 1e-6)
    }

    @Test("A ramp begins again after a gap of more than a minute, and not after a shorter one")
    func rampAgain() {
        let limit = RunRate(Campaign.RateLimit(rate: .init(1000, per: .second), ramp: .seconds(10)))
        _ = limit.take(upTo: 1, now: Self.start)
        #expect(limit.inForce(now: Self.start + 5 * Self.second)?.isRamp == true)
        var now = Self.start + 11 * Self.second
        _ = limit.take(upTo: 1, now: now)
        #expect(limit.inForce(now: now)?.isRamp == false)
        now += 59 * Self.second
        _ = limit.take(upTo: 1, now: now)
        #expect(limit.inForce(now: now)?.isRamp == false)
        now += 61 * Self.second
        _ = limit.take(upTo: 1, now: now)
        let again = limit.inForce(now: now)
        #expect(again?.isRamp == true && abs((again?.perSecond ?? 0) - 10) < 1e-6)
    }

    // MARK: Spreading

    @Test("Rows are spread over the time that is left, and never faster than the rate")
    func spreads() {
        let limit = RunRate(Campaign.RateLimit(rate: .init(1000, per: .second), spread: .seconds(3600)))
        limit.spread(rows: 360_000, over: 3600)
        #expect(abs((limit.inForce(now: Self.start)?.perSecond ?? 0) - 100) < 1e-6)
        limit.spread(rows: 360_000, over: 1)
        #expect(limit.inForce(now: Self.start)?.perSecond == 1000)
        limit.spread(rows: nil, over: 100)
        #expect(limit.inForce(now: Self.start)?.perSecond == 1000)
        limit.spread(rows: 100, over: 100)
        limit.change(to: Campaign.RateLimit())
        #expect(limit.inForce(now: Self.start) == nil)
    }

    // MARK: Texts

    @Test(
        "A rate is a whole number and a unit",
        arguments: [
            ("2000/s", 2000.0), ("120000/min", 2000), ("3000000/h", 3_000_000.0 / 3600), ("1/h", 1 / 3600.0),
            ("0/s", nil), ("-1/s", nil), ("2000", nil), ("2000/d", nil), ("2e3/s", nil), ("1/s/s", nil), ("/s", nil),
            ("99999999999999999999/s", nil), (" 5/s", nil),
        ])
    func texts(text: String, perSecond: Double?) {
        #expect(Campaign.Rate(text)?.perSecond == perSecond)
        if let rate = Campaign.Rate(text) { #expect("\(rate)" == text) }
    }

    @Test("Limits out of range are refused")
    func ranges() {
        func error(_ limit: Campaign.RateLimit, isFile: Bool = true) -> String? {
            do throws(CampaignError) {
                try limit.check(of: "<stdin>", isFile: isFile)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(error(.init()) == nil)
        #expect(error(.init(rate: .init(1, per: .hour), ramp: .seconds(86_400), spread: .seconds(2_592_000))) == nil)
        #expect(error(.init(rate: .init(0, per: .hour)))?.hasPrefix("rate: expected 1 to ") == true)
        #expect(error(.init(ramp: .seconds(5))) == "ramp: needs a rate")
        #expect(
            error(.init(rate: .init(1, per: .hour), ramp: .seconds(-1)))?.hasPrefix("ramp: expected at most") == true)
        #expect(error(.init(spread: .zero))?.hasPrefix("spread: expected 1 to ") == true)
        #expect(
            error(.init(spread: .seconds(5)), isFile: false) == "spread: the number of rows of <stdin> is not known")
    }
}
