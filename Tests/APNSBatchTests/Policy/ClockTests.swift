import APNSBatchBasics
import APNSBatchNotification
import APNSBatchTestSupport
import Logging
import Synchronization
import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending
@testable import APNSBatchSimulator

/// The clock of the time of day may be set while a campaign goes on, by an hour in either direction. What lasts a while goes by
/// the monotonic clock.
@Suite("A clock that is set") struct ClockTests {
    private static let second: UInt64 = 1_000_000_000
    private static let begin: UInt64 = 1_800_000_000

    /// A time of day that a test sets, and a monotonic clock that goes on.
    private final class Clocks: Sendable {
        private let wallClock = Atomic(ClockTests.begin)
        private let monotonic = Atomic(5000 * ClockTests.second)

        func pass(_ seconds: UInt64) {
            wallClock.add(seconds, ordering: .relaxed)
            monotonic.add(seconds * ClockTests.second, ordering: .relaxed)
        }

        func set(by seconds: Int) {
            wallClock.store(UInt64(Int(wallClock.load(ordering: .relaxed)) + seconds), ordering: .relaxed)
        }

        var surroundings: Surroundings {
            var surroundings = Surroundings()
            surroundings.seconds = { self.wallClock.load(ordering: .relaxed) }
            surroundings.monotonic = { self.monotonic.load(ordering: .relaxed) }
            return surroundings
        }
    }

    @Test("Rows are spread over a time of the monotonic clock; earlier sessions have used up a part of it")
    func spread() {
        let rate = RunRate(Campaign.RateLimit(spread: .seconds(100)))
        let now = 77 * Self.second
        func perSecond(_ start: UInt64, after seconds: UInt64) -> Double? {
            var spread = RowSpread(rate, start: start, wallClock: Self.begin) { 600 }
            spread.look(now: now)
            spread.look(now: now + seconds * Self.second)
            return rate.inForce(now: now).map { ($0.perSecond * 1000).rounded() / 1000 }
        }
        #expect(perSecond(Self.begin, after: 0) == 6)
        #expect(perSecond(Self.begin, after: 40) == 10)
        #expect(perSecond(Self.begin - 40, after: 0) == 10)
        #expect(perSecond(Self.begin - 40, after: 30) == 20)
        // Nothing is left of it.
        #expect(perSecond(Self.begin - 40, after: 60) == nil && perSecond(Self.begin - 7000, after: 0) == nil)
        // The clock was set back since the start.
        #expect(perSecond(Self.begin + 3600, after: 40) == 10)
    }

    @Test("That a clock was set is noticed once, and small corrections are not")
    func watch() {
        var watch = ClockWatch()
        let begin = Int64(Self.begin)
        func look(_ wallClock: Int64, at monotonic: UInt64) -> Int64 {
            watch.look(wallClock: wallClock, monotonic: monotonic * Self.second)
        }
        #expect(look(begin, at: 10) == 0)
        #expect(look(begin + 5000, at: 5010) == 0)
        #expect(look(begin + 5000 + 30, at: 5010) == 0)
        #expect(look(begin + 5000 - 3600, at: 5010) == -3600)
        #expect(look(begin + 5000 - 3600, at: 5010) == 0)
        #expect(look(begin + 5000, at: 5010) == 3600)
        // Small ones add up.
        #expect(look(begin + 5040, at: 5010) == 0 && look(begin + 5080, at: 5010) == 80)
    }

    @Test(
        "A provider token is made anew by a clock that was set, and used for its whole time", arguments: [3600, -3600])
    func token(seconds: Int) throws {
        let occasion = try Occasion.make(hosts: ["localhost"])
        let clocks = Clocks()
        let source = try ProviderTokenSource(
            keyPEM: occasion.signingKeyPEM, keyID: Occasion.keyID, teamID: Occasion.teamID,
            rule: .init(mintAfter: 1800, retireAfter: 3120),
            log: RunLog(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, endpoint: "localhost:1"),
            surroundings: clocks.surroundings)
        func lease() throws -> (token: ProviderTokenRotation.Token, usableFor: UInt64)? {
            guard case .token(let token, _, let usableFor, _) = try source.lease() else { return nil }
            return (token, usableFor / Self.second)
        }
        let first = try #require(try lease())
        #expect(first.usableFor == 3120 && first.token.mintedAt == Int64(Self.begin))
        clocks.pass(600)
        clocks.set(by: 5)
        let same = try #require(try lease())
        #expect(same.token == first.token && same.usableFor == 2515)
        clocks.set(by: seconds)
        let next = try #require(try lease())
        #expect(next.token.number == 2 && next.usableFor == 3120)
        #expect(next.token.mintedAt == Int64(Self.begin) + 605 + Int64(seconds))
        #expect(try lease()?.token == next.token)
    }

    @Test(
        "A pause of new tokens lasts as long as it should, and the old token is used meanwhile",
        arguments: [3600, -3600])
    func pause(seconds: Int64) {
        let begin = Int64(Self.begin)
        var rotation = ProviderTokenRotation()
        let first = ProviderTokenRotation.Token(number: 1, mintedAt: begin)
        #expect(rotation.connectionStarts(now: begin) == .mint(first))
        rotation.tooManyUpdates(now: begin + 100)
        rotation.clockWasSet(by: seconds)
        let now = begin + seconds
        if seconds < 0 { #expect(rotation.connectionStarts(now: now + 1299) == .use(first)) }
        #expect(rotation.connectionStarts(now: now + 1300) == .mint(.init(number: 2, mintedAt: now + 1300)))
    }
}
