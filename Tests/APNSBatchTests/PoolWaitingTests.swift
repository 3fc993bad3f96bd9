import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Reasons for waiting") struct PoolWaitingTests {
    private static let failure = ConnectionFailure(isHopeless: false, addresses: 1, text: "cannot connect to a:1 (no)")

    @Test("A failed connection is reported with the time left, until one is up")
    func unreachable() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        #expect(pool.waiting(now: 0) == nil, "it may come up any moment")
        _ = pool.isDown(0, failure: Self.failure, now: 1 * ms, jitter: 1)
        #expect(
            pool.waiting(now: 1 * ms)?.description == "cannot connect to a:1 (no); trying for 60 s more")
        for step in 1...10 { _ = pool.tick(now: UInt64(step) * seconds, answered: 0) }
        #expect(pool.waiting(now: 10 * seconds) == .unreachable(cause: Self.failure.text, secondsLeft: 50))
        pool.isUp(0, streams: 1, now: 10 * seconds)
        #expect(pool.waiting(now: 10 * seconds) == nil)
    }

    @Test("A pool without rows reports no reason")
    func noRows() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        _ = pool.isDown(0, failure: Self.failure, now: 1 * ms, jitter: 1)
        _ = pool.tick(now: 2 * ms, answered: 0, hasWork: false)
        #expect(pool.waiting(now: 2 * ms) == nil)
    }

    @Test("Slow connections, missing streams and missing answers are reported, the last with seconds")
    func others() {
        var limits = ConnectionPool.Limits()
        limits.fallenPatience = 1 << 62
        var slow = ConnectionPool(limits: limits, now: 0)
        _ = slow.tick(now: 0, answered: 0)
        #expect(slow.waiting(now: 4 * seconds) == .connecting(stage: "a connection", seconds: 4))

        slow.isUp(0, streams: 0, now: 4 * seconds)
        for step in 4...10 { _ = slow.tick(now: UInt64(step) * seconds, answered: 0) }
        guard case .noStreams = slow.waiting(now: 10 * seconds) else {
            Issue.record("found \(String(describing: slow.waiting(now: 10 * seconds)))")
            return
        }
        slow.settings(0, streams: 1, now: 10 * seconds)
        slow.willSend(0)
        for step in 11...20 { _ = slow.tick(now: UInt64(step) * seconds, answered: 0) }
        #expect(slow.waiting(now: 20 * seconds)?.description == "no answer for 10 s")
    }

    @Test("A sending lane hides that others wait, and a lane without rows does not")
    func lanes() {
        let waits = LaneActivity.waiting(.noAnswer(seconds: 7))
        #expect(LaneActivity.waiting([.idle, waits]) == .noAnswer(seconds: 7))
        #expect(LaneActivity.waiting([waits, .sending]) == nil)
        #expect(LaneActivity.waiting([.idle]) == nil)
    }

    @Test("A reason is logged once, and again after a minute without it")
    func saidOnce() {
        var notices = WaitingNotices()
        let reason = CampaignProgress.Waiting.unreachable(cause: "a", secondsLeft: 3)
        #expect(notices.note(reason, now: 1 * seconds) == true)
        for step in 2...300 { #expect(notices.note(reason, now: UInt64(step) * seconds) == false) }
        #expect(notices.note(.noAnswer(seconds: 5), now: 300 * seconds) == true, "another reason")
        #expect(notices.note(reason, now: 360 * seconds) == false)
        #expect(notices.note(reason, now: 421 * seconds) == true)
    }

    @Test("Only rows that wait long for their next attempt are reported")
    func backingOff() {
        var notices = WaitingNotices()
        let reason = CampaignProgress.Waiting.backingOff(cause: "503 ServiceUnavailable")
        #expect(notices.note(reason, now: 0) == false)
        #expect(notices.note(reason, now: 500 * ms) == false)
        #expect(notices.note(reason, now: 5 * seconds) == false, "another moment")
        let said = (1...20).filter { notices.note(reason, now: 5 * seconds + UInt64($0) * 500 * ms) }
        #expect(said == [6], "after three seconds of one")
        #expect(notices.note(.paused, now: 0) == false)
    }
}
