import APNSBatchBasics
import APNSBatchTransport
import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Send arena") struct SendArenaTests {
    /// Reserves a record, fills it and keeps it.
    private static func write(_ length: Int, of byte: UInt8 = 0, in arena: inout SendArena) -> RowRecord? {
        guard var record = arena.reserve(max(length, 700)) else { return nil }
        record.room(length).initializeMemory(as: UInt8.self, repeating: byte)
        record.add(.payload, length: length)
        arena.commit(record)
        return record
    }

    @Test("The arena gives no space while every block is in use, and space again after a release")
    func isBounded() {
        var arena = SendArena(blocks: 2)
        var records: [RowRecord] = []
        while let record = Self.write(1000, in: &arena) { records.append(record) }
        #expect(records.count == 2 * (SendArena.blockBytes / 1000))
        for record in records where record.block == 0 { arena.release(record) }
        #expect(Self.write(1000, in: &arena) != nil)
    }

    @Test("Records of a block do not overlap and stay unchanged, also when moved")
    func keepsRecords() {
        var arena = SendArena(blocks: 4)
        var records: [RowRecord] = []
        for number in 1...300 {
            guard var record = Self.write(number * 37 % 700 + 1, of: UInt8(number % 251), in: &arena) else { break }
            if number % 3 == 0 { arena.moveOut(&record) }
            records.append(record)
        }
        #expect(records.count == 300)
        for (index, record) in records.enumerated() {
            let (number, payload) = (index + 1, record[.payload])
            #expect(payload.count == number * 37 % 700 + 1 && payload.allSatisfy { $0 == UInt8(number % 251) })
            #expect((record.block == nil) == (number % 3 == 0))
            arena.release(record)
        }
    }

    @Test("A block whose records all ended is reused, so few blocks are touched")
    func reuses() {
        var arena = SendArena(blocks: 64)
        var largest = 0
        for _ in 0..<10_000 {
            guard var record = arena.reserve(5000) else {
                Issue.record("no room")
                return
            }
            record.add(.payload, length: 400)
            arena.commit(record)
            largest = max(largest, record.block ?? .max)
            arena.release(record)
        }
        #expect(largest <= 1)
    }
}

@Suite("Row record") struct RowRecordTests {
    private static func text(_ part: UnsafeRawBufferPointer) -> String { String(decoding: part, as: UTF8.self) }

    private static func record(_ parts: [(RowRecord.Part, String)], in arena: inout SendArena) -> RowRecord? {
        guard var record = arena.reserve(200) else { return nil }
        for (part, text) in parts { Array(text.utf8).withUnsafeBytes { record.add(part, copying: $0) } }
        arena.commit(record)
        return record
    }

    @Test("A row record gives each part as written, and names the recipient")
    func parts() throws {
        var arena = SendArena(blocks: 1)
        let device = try #require(
            Self.record(
                [(.path, "/3/device/abcd"), (.id, "an-id"), (.collapseID, "c"), (.payload, "{}"), (.carried, "xy")],
                in: &arena))
        #expect(Self.text(device[.path]) == "/3/device/abcd" && Self.text(device.recipient) == "abcd")
        #expect(Self.text(device[.id]) == "an-id" && Self.text(device[.collapseID]) == "c")
        #expect(Self.text(device[.payload]) == "{}" && Self.text(device[.carried]) == "xy")
        #expect(!device.has(.expiration) && !device.isBroadcast && device[.expiration].isEmpty)
        let broadcast = try #require(
            Self.record([(.path, "/4/broadcasts"), (.id, "i"), (.channelID, "QQ=="), (.expiration, "0")], in: &arena))
        #expect(broadcast.isBroadcast && Self.text(broadcast.recipient) == "QQ==")
        #expect(Self.text(broadcast[.expiration]) == "0")
    }

    @Test("All fields of a row reach the core, for every row of a batch")
    func batch() throws {
        var arena = SendArena(blocks: 2)
        var batch = RequestBatch()
        for number in 0..<3 {
            var flight = Flight()
            let parts: [(RowRecord.Part, String)] = [
                (.path, "/4/p"), (.id, "id\(number)"), (.collapseID, "k"), (.channelID, "QQ=="), (.expiration, "9"),
                (.payload, "{}"),
            ]
            flight.record = try #require(Self.record(parts, in: &arena))
            batch.add(&flight, ticket: number, connection: 1)
        }
        for (number, request) in batch.records.enumerated() {
            let fields = UnsafeBufferPointer(start: request.fields, count: Int(request.field_count))
            #expect(fields.map { Self.text($0.valueBytes) } == ["id\(number)", "QQ==", "k", "9"])
            #expect(request.ticket == UInt64(number) && request.body_length == 2)
        }
    }

    @Test("A part that does not fit ends the process and overwrites nothing")
    func traps() async {
        await #expect(processExitsWith: .failure) {
            var arena = SendArena(blocks: 1)
            var record = arena.reserve(8)!
            record.add(.path, length: 9)
        }
        await #expect(processExitsWith: .failure) {
            var flights = FlightTable(capacity: 4)
            _ = flights.take()
            flights[1].row = 1
        }
    }
}

@Suite("Flight table") struct FlightTableTests {
    @Test("Every slot is given out once and can be taken back")
    func takesAndReleases() {
        var table = FlightTable(capacity: 100)
        var arena = SendArena(blocks: 1)
        let first = (0..<100).map { _ in table.take() }
        #expect(Set(first).count == 100)
        let isFull = table.isFull
        #expect(isFull)
        for flight in first.reversed() { table.release(flight, in: &arena) }
        let left = table.count
        #expect(left == 0)
        let second = (0..<100).map { _ in table.take() }
        #expect(Set(second) == Set(first))
    }
}

extension FlightTableTests {
    @Test("A reused slot keeps nothing of the earlier row")
    func isCleared() {
        var table = FlightTable(capacity: 2)
        var arena = SendArena(blocks: 1)
        let first = table.take()
        _ = table.take()
        let fresh = "\(table[first])"
        table[first].row = 7
        table[first].attempts = 3
        table[first].refusals = 2
        table[first].limitedTries = 1
        table[first].lastStatus = 503
        table[first].lastReason = .serviceUnavailable
        table[first].mayHaveArrived = true
        table[first].provider = 1
        table[first].indexInRange = 9
        table.release(first, in: &arena)
        let again = "\(table[table.take()])"
        #expect(again == fresh && !fresh.contains("503"))
    }
}

@Suite("Retry queue") struct RetryQueueTests {
    @Test("Rows come back in the order of their times, none before its time")
    func ordersByTime() {
        var queue = RetryQueue()
        var random = SplitMix64(seed: 1)
        let times = (0..<500).map { _ in random.next() % 1000 }
        for (ticket, due) in times.enumerated() { queue.add(ticket: ticket, due: due) }
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
