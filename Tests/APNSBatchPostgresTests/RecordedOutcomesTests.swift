import APNSBatchModel
import APNSBatchRecords
import Glibc
import Testing

/// Tests of outcomes that are read from a ledger while it grows.
@Suite struct RecordedOutcomesTests {
    private final class Directory {
        let path: String

        init() {
            var template = Array("/tmp/apns-batch-outcomes-XXXXXX".utf8CString)
            path = String(cString: mkdtemp(&template))
        }

        deinit {
            for name in ["ledger", "ledger.board", "results.csv"] { unlink("\(path)/\(name)") }
            rmdir(path)
        }
    }

    private func begin(_ directory: Directory) throws -> RunRecord {
        let header = LedgerHeader(
            identity: (1, 2), start: 1_700_000_000, digest: [UInt8](repeating: 0, count: 32), inputBytes: 10,
            columnsSum: 0,
            inputName: "rows.csv", note: [])
        let session = LedgerSession(
            number: 1, process: UInt32(getpid()), time: 1_700_000_000, boot: (0, 0), policy: .resend)
        let files = DirectoryFiles(directory.path)
        return try RunRecord.open(
            .init(
                files: files, name: "run", header: header, session: session, past: nil, ledger: try files.makeLedger(),
                slots: 1),
            warn: { _ in }, stop: { Issue.record($0) })
    }

    private func record(_ rows: ClosedRange<UInt64>, in record: RunRecord) throws {
        let batch = OutcomeBatch()
        for row in rows {
            [UInt8](repeating: 0x61, count: 64).withUnsafeBytes { token in
                batch.append(
                    row: row, outcome: .accepted, code: 200, attempts: 1, timestamp: OutcomeEntry.noTimestamp,
                    token: token,
                    reason: UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
        try record.record(batch)
    }

    private struct NotBegun: Error {}

    private func reader(_ directory: Directory) throws -> RecordedOutcomes {
        guard let outcomes = try RecordedOutcomes(ifBegunIn: directory.path) else { throw NotBegun() }
        return outcomes
    }

    /// The rows that a reader gives next.
    private func rows(_ outcomes: inout RecordedOutcomes) throws -> [UInt64] {
        let batch = OutcomeBatch()
        guard try outcomes.next(into: batch) == .outcomes else { return [] }
        return batch.entries.map(\.row)
    }

    @Test func `outcomes are given when a mark covers them, and a reader continues at the place of another one`() throws
    {
        let directory = Directory()
        #expect(throws: NotBegun.self) { _ = try reader(directory) }
        let run = try begin(directory)
        var outcomes = try reader(directory)
        try record(1...3, in: run)
        try outcomes.look()
        var given = try rows(&outcomes)
        #expect(given == [])
        try run.mark()
        try record(4...5, in: run)
        try outcomes.look()
        given = try rows(&outcomes)
        var counts = [outcomes.rowsBefore, outcomes.rowsDurable]
        #expect(given == [1, 2, 3] && counts == [3, 3])
        given = try rows(&outcomes)
        #expect(given == [])

        var other = try reader(directory)
        try other.settle()
        try other.seek(to: outcomes.place)
        counts = [other.rowsBefore, other.rowsDurable]
        given = try rows(&other)
        #expect(given == [4, 5] && counts == [3, 5])
        // A place that the ledger does not have.
        try other.seek(to: other.place + 8)
        counts = [other.place, other.rowsBefore]
        #expect(counts == [0, 0])
    }

    @Test func `a record whose texts are torn is no part of the ledger, and neither is what follows`() throws {
        let directory = Directory()
        let run = try begin(directory)
        try record(1...2, in: run)
        try run.mark()
        try record(3...3, in: run)
        // The last record ends with the 32 bytes of a token, which are a multiple of eight.
        let file = open("\(directory.path)/ledger", O_RDWR)
        defer { close(file) }
        var facts = stat()
        fstat(file, &facts)
        #expect(pwrite(file, "x", 1, facts.st_size - 1) == 1)
        var outcomes = try reader(directory)
        try outcomes.settle()
        let durable = outcomes.rowsDurable
        #expect(durable == 2)
    }
}
