import APNSBatchBasics
import Glibc
import Testing

@testable import APNSBatchPlanning

@Suite("Rows by their keys") struct DigestSorterTests {
    struct Visited: Equatable {
        var row: KeyedRow
        var first: UInt64?
    }

    /// Rows in the order of their keys, each with the first row of its key: slow and obvious.
    private func model(_ rows: [KeyedRow]) -> [Visited] {
        var first: [[UInt64]: UInt64] = [:]
        for row in rows { first[[row.high, row.low]] = min(row.row, first[[row.high, row.low]] ?? .max) }
        return rows.sorted { ($0.high, $0.low, $0.row) < ($1.high, $1.low, $1.row) }.map { row in
            let least = first[[row.high, row.low]]
            return Visited(row: row, first: least == row.row ? nil : least)
        }
    }

    private func visited(
        _ rows: [KeyedRow], capacity: Int, pieces: Int = 7, file: PlanStorage = PlanStorage()
    ) throws -> [Visited] {
        var sorter = DigestSorter(capacity: capacity) { file }
        for start in stride(from: 0, to: rows.count, by: pieces) {
            try sorter.add(Array(rows[start..<min(rows.count, start + pieces)]).span)
        }
        var found: [Visited] = []
        try sorter.visit { found.append(Visited(row: $0, first: $1?.row)) }
        return found
    }

    /// Rows in a random order, with keys that are drawn from a few.
    private func rows(_ count: Int, keys: Int, seed: UInt64, samePartition: Bool = false) -> [KeyedRow] {
        var random = Seeded(seed)
        // Some keys have the same first half.
        let halves = (0..<max(1, keys / 2)).map { _ in random.next() >> (samePartition ? 6 : 0) }
        let drawn = (0..<keys).map { _ in (halves[Int(random.next() % UInt64(halves.count))], random.next() & 3) }
        return (0..<count).map { index in
            KeyedRow(digest: drawn[Int(random.next() % UInt64(keys))], row: UInt64(index + 1), note: random.next())
        }.shuffled(using: &random)
    }

    @Test("Rows with the same key come together, in their order", arguments: 0..<60 as Range<UInt64>)
    func model(seed: UInt64) throws {
        var random = Seeded(seed &* 77)
        let count = Int(random.next() % 2_000)
        let rows = rows(
            count, keys: 1 + Int(random.next() % 3_000), seed: seed, samePartition: seed % 3 == 0)
        let capacity = [1, 3, 64, 200, 5_000][Int(seed % 5)]
        #expect(try visited(rows, capacity: capacity, pieces: 1 + Int(random.next() % 600)) == model(rows))
    }

    @Test("All rows may have one key", arguments: [1, 10, 100, 1_000])
    func oneKey(capacity: Int) throws {
        let rows = rows(700, keys: 1, seed: 3)
        #expect(try visited(rows, capacity: capacity) == model(rows))
    }

    @Test("Nothing is written while all rows fit into memory")
    func inMemory() throws {
        let (rows, file) = (rows(512, keys: 400, seed: 1), PlanStorage())
        #expect(try visited(rows, capacity: 512, file: file) == model(rows))
        #expect(file.length == 0)
    }

    @Test("The file takes 32 bytes for each row, and a head for each block")
    func size() throws {
        let (rows, file) = (rows(10_000, keys: 10_000, seed: 1), PlanStorage())
        _ = try visited(rows, capacity: 1_000, file: file)
        let blocks = 10 * DigestSorter.partitions
        #expect(file.bytes.count <= 10_000 * KeyedRow.bytes + blocks * 16)
        #expect(file.bytes.count >= 10_000 * KeyedRow.bytes)
    }

    @Test("A disk that is full, or fails at any call, is an error")
    func failures() throws {
        let rows = rows(600, keys: 300, seed: 9, samePartition: true)
        let whole = PlanStorage()
        whole.callsLeft = 1_000
        _ = try visited(rows, capacity: 50, file: whole)
        for left in 0..<(1_000 - whole.callsLeft) {
            let file = PlanStorage()
            file.callsLeft = left
            #expect(throws: StorageError("write", "memory", code: EIO)) {
                _ = try visited(rows, capacity: 50, file: file)
            }
        }
        for capacity in stride(from: 0, to: whole.bytes.count, by: 997) {
            let file = PlanStorage()
            file.capacity = capacity
            #expect(throws: StorageError("write", "memory", code: ENOSPC)) {
                _ = try visited(rows, capacity: 50, file: file)
            }
        }
    }

    @Test("A file that another program has changed is an error")
    func changed() throws {
        final class Meddled: AppendFile, @unchecked Sendable {
            let file = PlanStorage()
            let isCut: Bool
            init(isCut: Bool) { self.isCut = isCut }
            var length: UInt64 { file.length }
            func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError) { try file.append(bytes) }
            func sync() throws(StorageError) {}
            func reserve(_ bytes: UInt64) throws(StorageError) {}
            func truncate(to length: UInt64) throws(StorageError) {}
            func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
                let count = try file.read(at: offset, into: buffer)
                if isCut { return count / 2 }
                buffer[count / 2] ^= 0x40
                return count
            }
        }
        let rows = rows(600, keys: 300, seed: 9)
        for isCut in [true, false] {
            let digests = SharedDigests(DigestSorter(capacity: 50) { Meddled(isCut: isCut) })
            digests.add(rows.span)
            let failed = #expect(throws: StorageError.self) { try digests.visit { _, _ in } }
            #expect(failed?.code == StorageError.changed)
        }
    }

    @Test("Threads share one sorter, and its failure is reported once, at the end")
    func shared() throws {
        let file = PlanStorage()
        file.capacity = 5_000
        let digests = SharedDigests(DigestSorter(capacity: 100) { file })
        NamedThread.together("digests", count: 4, failed: { _ in }) { number in
            for part in 0..<20 {
                let rows = (0..<10).map { index in
                    KeyedRow(digest: (UInt64(index), 0), row: UInt64(number * 1_000 + part * 10 + index + 1))
                }
                digests.add(rows.span)
            }
        }
        #expect(throws: StorageError("write", "memory", code: ENOSPC)) { try digests.visit { _, _ in } }
    }

    @Test("Duplicates are counted exactly, with the first three pairs")
    func tally() {
        var tally = DuplicateTally()
        let keys: [(key: UInt64, rows: [UInt64])] = [
            (1, [5, 90]), (2, [7]), (3, [2, 20, 30]), (4, [1, 3]), (5, [8, 25]),
        ]
        for (key, rows) in keys {
            for row in rows {
                let first = KeyedRow(digest: (key, 0), row: rows[0])
                tally.note(KeyedRow(digest: (key, 0), row: row), first: row == rows[0] ? nil : first)
            }
        }
        #expect(tally.rows == 10 && tally.distinct == 5 && tally.repeated == 5)
        #expect(tally.examples == [[1, 3], [2, 20], [8, 25]])
        #expect(tally.duplicateTokens?.isEstimate == false && tally.duplicateTokens?.rows == 5)
        #expect(DuplicateTally().duplicateTokens == nil)
    }
}
