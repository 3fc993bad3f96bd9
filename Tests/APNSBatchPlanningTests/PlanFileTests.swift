import APNSBatchBasics
import APNSBatchRows
import Glibc
import Testing

@testable import APNSBatchPlanning
@testable import APNSBatchRecords

@Suite("The file of a plan") struct PlanFileTests {
    static let header = PlanHeader(identity: (7, 8), time: 1_800_000_000, inputBytes: 4711, columnsSum: 99)

    /// Ranges one behind the other, with random decisions.
    static func ranges(_ count: Int, seed: UInt64) -> [PlanRange] {
        var random = Seeded(seed)
        var (row, offset): (UInt64, UInt64) = (1, 12)
        return (0..<count).map { _ in
            let rows = 1 + Int(random.next() % 150)
            let start = RowPosition(row: row, line: row + 1, offset: offset)
            let facts = LedgerRange(
                start: start, rows: rows, bytes: rows * 70, sum: UInt32(truncatingIfNeeded: random.next()))
            var decisions = RowDecisions(count: rows)
            for index in 0..<rows { decisions[index] = RowDecision.allCases[Int(random.next() % 4)] }
            (row, offset) = (row + UInt64(rows), offset + UInt64(rows * 70))
            return PlanRange(facts, decisions)
        }
    }

    private func write(
        _ ranges: [PlanRange], _ tally: DuplicateTally?, to storage: PlanStorage
    ) throws(StorageError) -> MadePlan {
        var writer = try PlanWriter(storage, Self.header)
        for range in ranges { try writer.append(range) }
        let (facts, seal) = try writer.finish(duplicates: tally)
        return MadePlan(facts: facts, seal: seal)
    }

    private func read(_ bytes: [UInt8]) throws(PlanReader.Failure) -> (ranges: [PlanRange], facts: PlanFacts?) {
        var reader = try PlanReader(PlanStorage(bytes))
        var ranges: [PlanRange] = []
        while let range = try reader.next() { ranges.append(range) }
        return (ranges, reader.facts)
    }

    private var tally: DuplicateTally { DuplicateTally(rows: 12, repeated: 3, examples: [[1, 2], [4, 9], [4, 10]]) }

    @Test("What was written is read", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        let (ranges, storage) = (Self.ranges(Int(seed) * 3 + 1, seed: seed), PlanStorage())
        let made = try write(ranges, seed % 2 == 0 ? tally : nil, to: storage)
        let found = try read(storage.bytes)
        #expect(found.ranges == ranges && found.facts == made.facts)
        #expect(try PlanReader.prove(storage, made.seal) == made.facts)
        #expect(try PlanReader(storage).header == Self.header)
        let all = ranges.flatMap { range in (0..<range.decisions.count).map { range.decisions[$0] } }
        #expect(made.facts.rows == UInt64(all.count) && made.facts.ranges == UInt64(ranges.count))
        #expect(made.facts.suppressed == UInt64(all.count { $0 == .suppressed }))
        #expect(made.facts.later == UInt64(all.count { $0 == .later }))
        #expect(made.facts.heldBack == UInt64(all.count { $0 == .heldBack }))
        #expect(made.facts.sent == UInt64(all.count { $0 == .send }))
        #expect(storage.bytes.count % 8 == 0)
    }

    @Test("A writer that was killed at any write leaves no plan")
    func kills() throws {
        let ranges = Self.ranges(2_000, seed: 5)
        let whole = PlanStorage()
        _ = try write(ranges, tally, to: whole)
        var calls = 0
        while true {
            let storage = PlanStorage()
            storage.callsLeft = calls
            guard (try? write(ranges, tally, to: storage)) == nil else { break }
            // All that is missing may be the sync.
            if storage.bytes != whole.bytes {
                #expect(throws: PlanReader.Failure.self, "after \(calls) calls") { try read(storage.bytes) }
            }
            calls += 1
        }
        #expect(calls > 3)
    }

    @Test("A full disk is an error")
    func full() throws {
        let storage = PlanStorage()
        storage.capacity = 1_000
        #expect(throws: StorageError("write", "memory", code: ENOSPC)) {
            try write(Self.ranges(100, seed: 5), nil, to: storage)
        }
    }

    @Test("A plan that was cut at any byte is refused")
    func cut() throws {
        let storage = PlanStorage()
        let made = try write(Self.ranges(3, seed: 2), tally, to: storage)
        for length in 0..<storage.bytes.count {
            let part = PlanStorage(Array(storage.bytes[..<length]))
            #expect(throws: PlanReader.Failure.self) { try read(part.bytes) }
            #expect(throws: PlanReader.Failure.self) { try PlanReader.prove(part, made.seal) }
        }
        #expect(throws: PlanReader.Failure.damaged(at: UInt64(storage.bytes.count - 128))) {
            try read(storage.bytes + [0, 0, 0, 0, 0, 0, 0, 0])
        }
    }

    @Test("A plan with any changed byte is refused")
    func flipped() throws {
        let storage = PlanStorage()
        let made = try write(Self.ranges(2, seed: 4), tally, to: storage)
        for index in storage.bytes.indices {
            let changed = PlanStorage(storage.bytes)
            changed.bytes[index] ^= 0x10
            #expect(throws: PlanReader.Failure.self, "byte \(index)") { try read(changed.bytes) }
            #expect(throws: PlanReader.Failure.self, "byte \(index)") { try PlanReader.prove(changed, made.seal) }
        }
    }

    @Test("A whole plan that is not the sealed one is foreign")
    func foreign() throws {
        let (storage, other) = (PlanStorage(), PlanStorage())
        let made = try write(Self.ranges(2, seed: 4), nil, to: storage)
        _ = try write(Self.ranges(2, seed: 6), nil, to: other)
        #expect(throws: PlanReader.Failure.foreign) { try PlanReader.prove(other, made.seal) }
    }

    @Test("Other files and later versions are told apart")
    func others() throws {
        let storage = PlanStorage()
        _ = try write(Self.ranges(1, seed: 4), nil, to: storage)
        #expect(throws: PlanReader.Failure.notOne) { try read([]) }
        #expect(throws: PlanReader.Failure.notOne) {
            try read(Array("token,name\n".utf8) + Array(repeating: 0, count: 90))
        }
        storage.bytes[1] = 2
        #expect(throws: PlanReader.Failure.newer) { try read(storage.bytes) }
    }

    @Test("Decisions take two bits each", arguments: [1, 31, 32, 33, 64, 1_000])
    func decisions(count: Int) {
        var random = Seeded(UInt64(count))
        var decisions = RowDecisions(count: count)
        var model = Array(repeating: RowDecision.send, count: count)
        for _ in 0..<(3 * count) {
            let (index, decision) = (Int(random.next() % UInt64(count)), RowDecision.allCases[Int(random.next() % 4)])
            decisions[index] = decision
            model[index] = decision
        }
        #expect((0..<count).map { decisions[$0] } == model)
        for decision in RowDecision.allCases {
            #expect(decisions.count(of: decision) == model.count { $0 == decision }, "\(decision)")
        }
        #expect(decisions.words.count == (count + 31) / 32)
        #expect(RowDecisions(count: count, words: decisions.words) == decisions)
        #expect(RowDecisions(count: count, words: decisions.words + [0]) == nil)
        if count % 32 != 0 {
            var words = decisions.words
            words[words.count - 1] |= 1 << 63
            #expect(RowDecisions(count: count, words: words) == nil)
        }
    }
}
