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

    @Test("Nothing is said of further attempts where there will be none, and of no time where there is no limit")
    func noPromise() {
        var final = ConnectionPool(limits: .init(), now: 0)
        _ = final.tick(now: 0, answered: 0)
        let untrusted = ConnectionFailure(isHopeless: true, addresses: 2, text: "cannot connect to a:1 (untrusted)")
        #expect(final.isDown(0, failure: untrusted, now: 1 * ms, jitter: 1) == [])
        #expect(final.waiting(now: 1 * ms)?.description == "cannot connect to a:1 (untrusted)")
        _ = final.tick(now: 50 * ms, answered: 0)
        #expect(final.isDown(0, failure: untrusted, now: 60 * ms, jitter: 1) == [.giveUp(untrusted.text)])
        #expect(final.waiting(now: 60 * ms) == nil, "the run has ended")

        var endless = ConnectionPool(limits: .init(), now: 0)
        _ = endless.tick(now: 0, answered: 0, othersAnswer: true)
        _ = endless.isDown(0, failure: Self.failure, now: 1 * ms, jitter: 1)
        #expect(endless.waiting(now: 1 * ms)?.description == "cannot connect to a:1 (no); trying again")
        #expect(CampaignProgress.Waiting.noStreams(secondsLeft: .max).description == "the server allows no streams")
    }

    @Test("A cause is kept when later attempts fail without one")
    func earlierCause() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        _ = pool.isDown(0, failure: Self.failure, now: 1 * ms, jitter: 0)
        var closed = Self.failure
        (closed.text, closed.saysNothing) = ("cannot connect to a:1 (closed by the peer)", true)
        for step in 1...62 {
            for action in pool.tick(now: UInt64(step) * seconds, answered: 0) {
                guard case .open(let member) = action else {
                    let text = "no connection for 60 seconds: cannot connect to a:1 (closed by the peer)"
                    #expect(action == .giveUp("\(text); earlier: cannot connect to a:1 (no)"))
                    return
                }
                _ = pool.isDown(member, failure: closed, now: UInt64(step) * seconds, jitter: 0)
            }
        }
        Issue.record("expected it to give up")
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
