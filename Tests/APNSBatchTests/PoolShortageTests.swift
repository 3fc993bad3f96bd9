import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000

/// Tests that what holds a lane back is named for what it is.
@Suite("What a pool lacks") struct PoolShortageTests {
    /// A pool whose first connection allows so many streams.
    private static func pool(streams: Int) -> ConnectionPool {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        pool.isUp(0, streams: streams, now: 1 * ms)
        pool.allow(.max, answered: 10_000)
        return pool
    }

    private static func fill(_ pool: inout ConnectionPool) {
        while let member = pool.pick() { pool.willSend(member) }
    }

    @Test("Streams are named when all are in use, and a connection when none is up")
    func streams() {
        #expect(ConnectionPool(limits: .init(), now: 0).shortage == .connections)
        var pool = Self.pool(streams: 10)
        #expect(pool.shortage == nil)
        Self.fill(&pool)
        #expect(pool.inFlight == 10 && pool.shortage == .streams)
    }

    @Test("At the start of a run, answers are awaited while streams are free")
    func start() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        pool.isUp(0, streams: 1000, now: 1 * ms)
        pool.allow(.max, answered: 0)
        Self.fill(&pool)
        #expect(pool.inFlight == 32 && pool.shortage == .answers)
    }

    @Test("A connection that takes no request is not one whose streams are in use")
    func held() {
        var pool = Self.pool(streams: 10)
        pool.hold(0, until: 50 * ms)
        #expect(pool.shortage == .connections)
    }

    @Test("While answers are late, streams are free and are not named")
    func late() {
        // Answers come quickly at first; then the server works off a tenth of what it did, so that the pace falls.
        var model = PoolModel(time: { $0 < 10 ? 20 : 2_000 }, connections: 1, streams: 1000)
        model.run(until: 10)
        #expect(model.pool.shortage != .answers)
        model.capacity = 100
        var shortages: Set<ConnectionPool.Shortage> = []
        for tenth in 101...600 {
            model.run(until: Double(tenth) / 10)
            guard let shortage = model.pool.shortage else { continue }
            let isFree = model.pool.inFlight < model.pool.members.streams
            #expect(!isFree || shortage == .answers, "\(shortage) at \(tenth)")
            shortages.insert(shortage)
        }
        #expect(shortages.contains(.answers), "\(shortages)")
    }
}
