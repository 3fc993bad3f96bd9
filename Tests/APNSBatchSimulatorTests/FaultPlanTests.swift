import Testing

@testable import APNSBatchSimulator

@Suite struct FaultPlanTests {
    private static let millisecond: UInt64 = 1_000_000

    private static func plan(_ faults: SimulatorFault...) -> FaultPlan { FaultPlan(faults, streams: 1000) }

    /// Returns which of the requests 1 to 20 of one connection trigger the fault.
    private static func hits(_ when: FaultOccasion) -> [Int] {
        var plan = plan(.init(.ignorePings, when: when))
        _ = plan.opened(7, ordinal: 1, at: 0)
        return (1...20).filter { !plan.received(7, stream: UInt32(2 * $0 - 1), at: 0).actions.isEmpty }
    }

    static let occasions: [(FaultOccasion, [Int])] = [
        (.init(after: 5), [5]),
        (.init(after: 0), []),
        (.init(every: 6), [6, 12, 18]),
        (.init(after: 3, every: 7), [3, 10, 17]),
        (.init(after: 0, every: 8), [8, 16]),
        (.init(every: 4, times: 2), [4, 8]),
        (.init(after: 5, of: .all), [5]),
        (.init(), []),
    ]

    @Test(arguments: occasions)
    func `a fault happens with the requests that its occasion names`(when: FaultOccasion, requests: [Int]) {
        #expect(Self.hits(when) == requests)
    }

    @Test func `requests are counted for each connection, or for all`() {
        var each = Self.plan(.init(.ignorePings, when: .init(after: 2)))
        var all = Self.plan(.init(.ignorePings, when: .init(after: 2, of: .all)))
        for id in 1...2 as ClosedRange<UInt64> {
            _ = each.opened(id, ordinal: Int(id), at: 0)
            _ = all.opened(id, ordinal: Int(id), at: 0)
        }
        let requests: [(UInt64, UInt32)] = [(1, 1), (2, 1), (1, 3), (2, 3)]
        #expect(
            requests.map { each.received($0, stream: $1, at: 0).actions } == [
                [], [], [.ignorePings(connection: 1)], [.ignorePings(connection: 2)],
            ])
        #expect(
            requests.map { all.received($0, stream: $1, at: 0).actions } == [
                [], [.ignorePings(connection: 2)], [], [],
            ])
    }

    @Test func `without a time a fault happens as soon as a connection is up, on the connections it names`() {
        var when = FaultOccasion()
        when.connectionEvery = 2
        when.times = 2
        var plan = Self.plan(.init(.ignorePings, when: when))
        let actions = (1...6).map { plan.opened(UInt64($0), ordinal: $0, at: 0) }
        #expect(actions == [[], [.ignorePings(connection: 2)], [], [.ignorePings(connection: 4)], [], []])
        #expect(plan.counts == [2])
    }

    @Test func `times count from the connection, or from the first one, and again and again`() {
        var when = FaultOccasion()
        when.afterMilliseconds = 10
        when.everyMilliseconds = 20
        var plan = Self.plan(.init(.ignorePings, when: when))
        #expect(plan.nextTime == .max)
        _ = plan.opened(1, ordinal: 1, at: 5 * Self.millisecond)
        #expect(plan.nextTime == 15 * Self.millisecond)
        #expect(plan.due(by: 14 * Self.millisecond) == [])
        #expect(plan.due(by: 15 * Self.millisecond) == [.ignorePings(connection: 1)])
        #expect(plan.due(by: 35 * Self.millisecond) == [.ignorePings(connection: 1)])
        plan.closed(1)
        #expect(plan.nextTime == .max)
    }

    @Test func `after a goaway requests on later streams are passed over`() {
        var goaway = GoAwayFault()
        goaway.debug = "bye"
        goaway.twice = true
        var plan = Self.plan(.init(.goaway(goaway), when: .init(after: 2)))
        _ = plan.opened(1, ordinal: 1, at: 0)
        #expect(plan.received(1, stream: 1, at: 0).treatment.way == .usual)
        let (treatment, actions) = plan.received(1, stream: 3, at: 0)
        #expect(treatment.way == .usual)
        let said = FaultAction.goaway(connection: 1, lastStream: 3, code: 0, debug: "bye")
        #expect(actions == [said, said])
        #expect(plan.received(1, stream: 5, at: 0).treatment.way == .passOver)
    }

    @Test func `a graceful goaway announces itself; a last stream that is given counts`() {
        var goaway = GoAwayFault()
        goaway.code = 11
        goaway.graceful = true
        goaway.lastStream = .number(0)
        var plan = Self.plan(.init(.goaway(goaway)))
        #expect(
            plan.opened(1, ordinal: 1, at: 0) == [
                .goaway(connection: 1, lastStream: 2_147_483_647, code: 0, debug: ""),
                .goaway(connection: 1, lastStream: 0, code: 11, debug: ""),
            ])
        #expect(plan.received(1, stream: 1, at: 0).treatment.way == .passOver)
    }

    @Test func `a refusal is not counted, any other reset is a request without its answer`() {
        var plan = Self.plan(
            .init(.reset(.init(code: 7)), when: .init(after: 1)), .init(.reset(.init(code: 8)), when: .init(after: 2)))
        _ = plan.opened(1, ordinal: 1, at: 0)
        #expect(plan.received(1, stream: 1, at: 0).treatment.way == .refuse)
        let second = plan.received(1, stream: 3, at: 0).treatment
        #expect(second.way == .usual)
        #expect(second.reset == .init(code: 8) && second.isUnusual)
    }

    @Test func `after an abort nothing more of the connection is looked at`() {
        var plan = Self.plan(.init(.abort(.reset), when: .init(after: 1)))
        _ = plan.opened(1, ordinal: 1, at: 0)
        let (treatment, actions) = plan.received(1, stream: 1, at: 0)
        #expect(treatment.way == .unanswered)
        #expect(actions == [.abort(connection: 1, .reset)])
        #expect(plan.received(1, stream: 3, at: 0).treatment.way == .passOver)
    }

    @Test func `a storm lasts for so many requests, on its connection or on all`() {
        let one = StormFault(status: 503, requests: 2)
        let other = StormFault(status: 429, requests: 1)
        var plan = Self.plan(
            .init(.storm(one), when: .init(after: 2)), .init(.storm(other), when: .init(after: 6, of: .all)))
        _ = plan.opened(1, ordinal: 1, at: 0)
        _ = plan.opened(2, ordinal: 2, at: 0)
        let storms = (1...5).map { plan.received(1, stream: UInt32(2 * $0 - 1), at: 0).treatment.storm }
        #expect(storms == [-1, 0, 0, -1, -1])
        #expect(plan.received(2, stream: 1, at: 0).treatment.storm == 1)
        #expect(plan.received(2, stream: 3, at: 0).treatment.storm == 0)
    }

    @Test func `a storm lasts for a time`() {
        var storm = StormFault(status: 503)
        storm.milliseconds = 5
        var plan = Self.plan(.init(.storm(storm), when: .init(after: 1)))
        _ = plan.opened(1, ordinal: 1, at: 0)
        let times: [UInt64] = [0, 4, 5]
        #expect(times.map { plan.received(1, stream: 1, at: $0 * Self.millisecond).treatment.storm } == [0, 0, -1])
    }

    @Test func `stalls end and settings are restored when their time is over`() {
        var settings = SettingsFault()
        settings.maxConcurrentStreams = 0
        settings.milliseconds = 20
        var plan = Self.plan(
            .init(.stall(.init(side: .both, milliseconds: 10))), .init(.settings(settings)),
            .init(.refuseConnects(milliseconds: 30)))
        #expect(
            plan.opened(1, ordinal: 1, at: 0) == [
                .stall(connection: 1, .both), .settings(connection: 1, [FaultSetting(id: 3, value: 0)]), .listen(false),
            ])
        #expect(plan.due(by: 10 * Self.millisecond) == [.stall(connection: 1, nil)])
        #expect(
            plan.due(by: 40 * Self.millisecond) == [
                .settings(connection: 1, [FaultSetting(id: 3, value: 1000)]), .listen(true),
            ])
    }

    @Test func `a fault outside its window does not happen`() {
        var when = FaultOccasion(every: 1)
        when.fromMilliseconds = 10
        when.untilMilliseconds = 20
        var plan = Self.plan(.init(.ignorePings, when: when))
        _ = plan.opened(1, ordinal: 1, at: 100 * Self.millisecond)
        let times: [UInt64] = [109, 110, 120, 121]
        let counts = times.map { plan.received(1, stream: 1, at: $0 * Self.millisecond).actions.count }
        #expect(counts == [0, 1, 1, 0])
    }

    @Test func `cuts are laid out for the connections that they name, so often as they may`() {
        var first = FaultOccasion()
        first.atByte = 100
        first.connectionEvery = 2
        first.times = 2
        var second = FaultOccasion()
        second.atByteReceived = 0
        second.connection = 3
        var cuts = FaultCuts([.init(.abort(.reset), when: first), .init(.abort(.alert), when: second)])
        #expect(
            (1...7).map { _ in cuts.layOut() } == [
                nil, .init(bytes: 100, isReceived: false, how: .reset), .init(bytes: 0, isReceived: true, how: .alert),
                .init(bytes: 100, isReceived: false, how: .reset), nil, nil, nil,
            ])
    }
}
