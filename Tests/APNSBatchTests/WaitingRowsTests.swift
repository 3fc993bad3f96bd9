import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Rows set aside for a provider") struct WaitingRowsTests {
    @Test("Rows leave in order of arrival, separately for each provider")
    func order() {
        var flights = FlightTable(capacity: 8)
        var (one, other) = (WaitingRows(), WaitingRows())
        let slots = (0..<6).map { _ in flights.take() }
        for slot in slots {
            if slot % 2 == 0 { one.add(slot, in: &flights) } else { other.add(slot, in: &flights) }
        }
        #expect(one.count == 3 && other.count == 3)
        #expect(one.takeFirst(in: &flights) == slots[0])
        one.add(slots[0], in: &flights)
        #expect([one.takeFirst(in: &flights), one.takeFirst(in: &flights)] == [slots[2], slots[4]])
        #expect([one.takeFirst(in: &flights), one.takeFirst(in: &flights)] == [slots[0], nil])
        #expect(one.count == 0)
        one.add(slots[2], in: &flights)
        #expect(one.takeFirst(in: &flights) == slots[2])
        #expect((0..<4).map { _ in other.takeFirst(in: &flights) } == [slots[1], slots[3], slots[5], nil])
    }

    @Test("Rows of a stalled provider do not delay due rows of others")
    func lookAhead() {
        let (few, many) = (LaneLimits.lookAhead, LaneLimits.asideMost)
        #expect(LookAhead.allowed(setAside: few - 1, most: few - 1, hasStream: false) == .anyRow)
        #expect(LookAhead.allowed(setAside: few, most: few, hasStream: false) == .nothing)
        #expect(LookAhead.allowed(setAside: few, most: few, hasStream: true) == .anyRow)
        #expect(LookAhead.allowed(setAside: many, most: many, hasStream: true) == .dueRow)
        #expect(LookAhead.allowed(setAside: many, most: many, hasStream: false) == .nothing)
        #expect(LookAhead.allowed(setAside: 2 * many, most: many - 1, hasStream: true) == .anyRow)
    }
}
