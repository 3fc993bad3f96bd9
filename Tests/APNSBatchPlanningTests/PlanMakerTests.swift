import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatchPlanning
@testable import APNSBatchRecords
@testable import APNSBatchRows

@Suite("Making a plan") struct PlanMakerTests {
    /// Suppresses rows whose second field is `no`, and compares the first fields.
    private struct TestRule: RowRule {
        func decide(_ row: Row) -> RowDecision {
            if row.error != nil { return .send }
            return row.fields[1].elementsEqual("no".utf8) ? .suppressed : .send
        }

        func key(of row: Row) -> (UInt64, UInt64)? {
            guard row.error == nil else { return nil }
            return (row.fields[0].reduce(0) { $0 &* 31 &+ UInt64($1) } &* 0x9E37_79B9_7F4A_7C15, 0)
        }
    }

    struct Given {
        var keys: [Int]
        var isSuppressed: [Bool]

        init(_ count: Int, seed: UInt64) {
            var random = Seeded(seed)
            keys = (0..<count).map { _ in Int(random.next() % UInt64(2 * count)) }
            isSuppressed = (0..<count).map { _ in random.next() % 5 == 0 }
        }

        var text: String {
            "key,send\n" + zip(keys, isSuppressed).map { "k\($0),\($1 ? "no" : "\"yes\"")\n" }.joined()
        }
    }

    static func reader(_ text: String, threads: Int) throws -> ChunkReader {
        let path = FileManager.default.temporaryDirectory.appending(path: "plan-\(UUID().uuidString).csv").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let limits = RowLimits(chunkBytes: 4_096, fieldBytes: 100, recordBytes: 400)
        let reader = try ChunkReader(input: .file(path), limits: limits, buffers: threads + 2)
        _ = try reader.readColumns()
        return reader
    }

    /// Makes a plan of some rows.
    static func plan(of given: Given) throws -> (PlanStorage, MadePlan) {
        let storage = PlanStorage()
        let made = try PlanMaker(reader(given.text, threads: 2), threads: 2)
            .make(PlanFileTests.header, to: storage) { TestRule() }
        return (storage, made)
    }

    private func digests(_ capacity: Int = 500) -> SharedDigests {
        SharedDigests(DigestSorter(capacity: capacity) { PlanStorage() })
    }

    @Test("A plan has the decision about each row, and exact totals", arguments: [1, 2, 5], [1, 40, 6_000])
    func model(threads: Int, rows: Int) throws {
        let (given, storage) = (Given(rows, seed: UInt64(rows)), PlanStorage())
        let made = try PlanMaker(Self.reader(given.text, threads: threads), threads: threads)
            .make(PlanFileTests.header, to: storage, digests: digests()) { TestRule() }
        var plan = try PlanReader(storage)
        var (decisions, facts): ([RowDecision], [LedgerRange]) = ([], [])
        while let range = try plan.next() {
            facts.append(range.facts)
            decisions += (0..<range.decisions.count).map { range.decisions[$0] }
        }
        #expect(decisions == given.isSuppressed.map { $0 ? .suppressed : .send })
        #expect(made.facts.rows == UInt64(rows) && plan.facts == made.facts)
        #expect(made.facts.suppressed == UInt64(given.isSuppressed.count { $0 }))
        let sent = zip(given.keys, given.isSuppressed).filter { !$1 }.map(\.0)
        #expect(made.facts.duplicates?.rows == UInt64(sent.count))
        #expect(made.facts.duplicates?.distinct == UInt64(Set(sent).count))
        let second = try Self.reader(given.text, threads: 1)
        for range in facts {
            let chunk = try #require(try second.next())
            #expect(LedgerRange(chunk) == range)
            chunk.recycle()
        }
        #expect(try second.next() == nil)
    }

    @Test("A disk that fails at any call ends the pass with its error")
    func failures() throws {
        let given = Given(9_000, seed: 1)
        for left in 0..<2 {
            let storage = PlanStorage()
            storage.callsLeft = left
            let maker = try PlanMaker(Self.reader(given.text, threads: 2), threads: 2)
            #expect(throws: PlanMaker.Failure.self) {
                try maker.make(PlanFileTests.header, to: storage) { TestRule() }
            }
        }
        let full = SharedDigests(
            DigestSorter(capacity: 10) {
                let file = PlanStorage()
                file.capacity = 100
                return file
            })
        let maker = try PlanMaker(Self.reader(given.text, threads: 2), threads: 2)
        do throws(PlanMaker.Failure) {
            _ = try maker.make(PlanFileTests.header, to: PlanStorage(), digests: full) { TestRule() }
            Issue.record("a full disk is no error")
        } catch .storage(let error) {
            #expect(error == StorageError("write", "memory", code: ENOSPC))
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("An input that becomes shorter is an error")
    func shorter() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "plan-\(UUID().uuidString).csv").path
        try Given(9_000, seed: 1).text.write(toFile: path, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let limits = RowLimits(chunkBytes: 4_096, fieldBytes: 100, recordBytes: 400)
        let reader = try ChunkReader(input: .file(path), limits: limits, buffers: 4)
        _ = try reader.readColumns()
        #expect(truncate(path, 20_000) == 0)
        do throws(PlanMaker.Failure) {
            _ = try PlanMaker(reader, threads: 2).make(PlanFileTests.header, to: PlanStorage()) { TestRule() }
            Issue.record("a short input is no error")
        } catch .input(let error) {
            #expect(error.message(input: "rows.csv").contains("rows.csv"))
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("A pass can be stopped")
    func stopped() throws {
        let maker = try PlanMaker(Self.reader(Given(9_000, seed: 1).text, threads: 2), threads: 2)
        maker.stop()
        do throws(PlanMaker.Failure) {
            _ = try maker.make(PlanFileTests.header, to: PlanStorage()) { TestRule() }
            Issue.record("it was not stopped")
        } catch .stopped {
        } catch {
            Issue.record("\(error)")
        }
    }
}
