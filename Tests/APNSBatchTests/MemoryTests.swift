import APNSBatchBasics
import Testing

@testable import APNSBatch

@Suite("Send arena") struct SendArenaTests {
    @Test("gives nothing while every block holds live records, and room again after one is released")
    func isBounded() {
        var arena = SendArena(blocks: 2)
        var blocks: [Int32] = []
        while arena.reserve(1000) != nil { blocks.append(arena.commit(1000)) }
        #expect(blocks.count == 2 * (SendArena.blockBytes / 1000))
        for block in blocks where block == 0 { arena.release(block) }
        #expect(arena.reserve(1000) != nil)
    }

    @Test("records of one block do not overlap and stay as they were written")
    func keepsRecords() {
        var arena = SendArena(blocks: 4)
        var records: [(UnsafeMutableRawPointer, Int, UInt8)] = []
        for number in 1...300 {
            let length = number * 37 % 700 + 1
            guard let room = arena.reserve(700) else { break }
            room.initializeMemory(as: UInt8.self, repeating: UInt8(number % 251), count: length)
            _ = arena.commit(length)
            records.append((room, length, UInt8(number % 251)))
        }
        #expect(records.count == 300)
        for (base, length, byte) in records {
            #expect(UnsafeRawBufferPointer(start: base, count: length).allSatisfy { $0 == byte })
        }
    }

    @Test("a block whose records all ended is used again, so few blocks are ever touched")
    func reuses() {
        var arena = SendArena(blocks: 64)
        var largest: Int32 = 0
        for _ in 0..<10_000 {
            let room = arena.reserve(5000)
            #expect(room != nil)
            let block = arena.commit(400)
            largest = max(largest, block)
            arena.release(block)
        }
        #expect(largest <= 1)
    }
}

@Suite("Flight table") struct FlightTableTests {
    @Test("hands out every place once and takes them back")
    func takesAndReleases() {
        var table = FlightTable(capacity: 100)
        let first = (0..<100).map { _ in table.take() }
        #expect(Set(first).count == 100)
        let isFull = table.isFull
        #expect(isFull)
        for place in first.reversed() { table.release(place) }
        let left = table.count
        #expect(left == 0)
        let second = (0..<100).map { _ in table.take() }
        #expect(Set(second) == Set(first))
    }
}

extension FlightTableTests {
    @Test("a place that is taken again knows nothing of the row before")
    func isCleared() {
        let table = FlightTable(capacity: 2)
        func take(_ table: consuming FlightTable) -> (String, String) {
            var table = table
            let first = table.take()
            _ = table.take()
            let fresh = "\(table[first])"
            table[first] = Flight()
            table[first].row = 7
            table[first].attempts = 3
            table[first].refusals = 2
            table[first].limitedTries = 1
            table[first].lastStatus = 503
            table[first].lastReason = .serviceUnavailable
            table[first].mayHaveArrived = true
            table[first].provider = 1
            table[first].place = 9
            table[first].collapseLength = 4
            table[first].expirationLength = 4
            table[first].carriedLength = 5
            table.release(first)
            return (fresh, "\(table[table.take()])")
        }
        let (fresh, again) = take(table)
        #expect(again == fresh && !fresh.contains("503"))
    }
}

@Suite("Retry queue") struct RetryQueueTests {
    @Test("gives rows back in the order of their times, none before its time")
    func ordersByTime() {
        var queue = RetryQueue()
        var random = SplitMix64(seed: 1)
        let times = (0..<500).map { _ in random.next() % 1000 }
        for (flight, due) in times.enumerated() { queue.add(flight: flight, due: due) }
        var order: [UInt64] = []
        for now in UInt64(0)..<1000 {
            while let flight = queue.takeDue(now: now) {
                #expect(times[flight] == now)
                order.append(times[flight])
            }
        }
        #expect(order == times.sorted())
        #expect(queue.count == 0)
    }
}
