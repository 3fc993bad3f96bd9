import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000

@Suite("Load of a lane") struct LaneLoadTests {
    @Test("The load is the share of the last tenth of a second in which the thread worked")
    func share() {
        let worked = Counter()
        var load = LaneLoad(now: 0, worked: { worked.value })
        worked.value = 85 * ms
        load.look(now: 99 * ms)
        #expect(!load.isBusy, "not yet")
        load.look(now: 100 * ms)
        #expect(load.isBusy)
        worked.value += 79 * ms
        load.look(now: 200 * ms)
        #expect(!load.isBusy)
    }

    @Test("A lane created on a thread that worked before starts as not busy")
    func otherThread() {
        let worked = Counter()
        worked.value = 1000 * ms
        var load = LaneLoad(now: 0, worked: { worked.value })
        worked.value = 90 * ms
        load.look(now: 100 * ms)
        #expect(!load.isBusy)
    }
}

private final class Counter: @unchecked Sendable {
    // The value belongs to one thread.
    var value: UInt64 = 0
}
