import Testing

@testable import APNSBatchMetrics

/// The clients of a small server: who has how long, and who goes when there are too many.
@Suite struct ClientTableTests {
    private static let second: UInt64 = 1_000_000_000

    private func table(_ clients: Int = 3) -> ClientTable {
        ClientTable(
            .init(clients: clients, request: 20, patience: 5 * Self.second), endOfRequest: Array("\r\n\r\n".utf8))
    }

    private func ids(_ table: ClientTable) -> [Int32] { table.clients.map(\.id) }

    @Test func `a request is complete at its mark, wherever the pieces end`() {
        let request = Array("GET / H\r\n\r\n".utf8)
        for cut in 0...request.count {
            var table = table()
            let surplus = table.accept(7, now: 0)
            let (first, second) = (
                table.received(request[..<cut], from: 7), table.received(request[cut...] + [1, 2], from: 7)
            )
            #expect(surplus == nil && first == (cut == request.count ? request : nil) && second == request)
        }
    }

    @Test func `a request without an end is passed on when it is as long as it may be`() {
        var table = table()
        _ = table.accept(7, now: 0)
        let first = table.received(Array("0123456789".utf8), from: 7)
        #expect(first == nil && table.room(for: 7) == 10)
        let all = table.received(Array("0123456789abc".utf8), from: 7)
        #expect(all == Array("01234567890123456789".utf8))
    }

    @Test func `the oldest of those that ask nothing goes first, and never the newest`() {
        var table = table()
        var gone = ([1, 2, 3, 4] as [Int32]).map { table.accept($0, now: 1) }
        #expect(gone == [nil, nil, nil, 1])
        table.answer([1, 2], to: 2, now: 1)
        gone = [table.accept(5, now: 1)]
        #expect(gone == [3] && ids(table) == [2, 4, 5])
        // One that has its answer waits for nothing more.
        let isSent = table.sent(2, to: 2, now: 2)
        #expect(isSent)
        gone = [table.accept(6, now: 2)]
        for id in [4, 5, 6] as [Int32] { table.answer([1], to: id, now: 2) }
        gone.append(table.accept(7, now: 2))
        #expect(gone == [2, 4] && ids(table) == [5, 6, 7])
    }

    @Test func `each phase has its own time`() {
        var table = table()
        #expect(table.nextDeadline == nil)
        _ = table.accept(1, now: 0)
        _ = table.accept(2, now: Self.second)
        let early = table.expire(now: 5 * Self.second - 1)
        #expect(table.nextDeadline == 5 * Self.second && early == [])
        table.answer([1, 2, 3], to: 1, now: 4 * Self.second)
        let isPartAll = table.sent(1, to: 1, now: 4 * Self.second)
        #expect(!isPartAll && table.clients[0].answer == [2, 3])
        let late = table.expire(now: 6 * Self.second)
        #expect(late == [2] && ids(table) == [1])
        let isAll = table.sent(2, to: 1, now: 8 * Self.second)
        #expect(isAll && table.clients[0].phase == .leaving && table.nextDeadline == 9 * Self.second)
        let left = table.expire(now: 9 * Self.second)
        #expect(left == [1])
    }

    @Test func `what is not expected changes nothing`() {
        var table = table()
        _ = table.accept(1, now: 0)
        let before = table
        let requests = [table.received([1], from: 2)]
        table.answer([1], to: 2, now: 0)
        table.remove(2)
        let sent = [table.sent(1, to: 2, now: 0), table.sent(1, to: 1, now: 0)]
        #expect(requests == [nil] && sent == [false, false] && table.room(for: 2) == 0)
        #expect(table == before)
        table.answer([1], to: 1, now: 0)
        let late = table.received([1], from: 1)
        #expect(late == nil && table.room(for: 1) == 0)
    }
}
