import APNSBatch
import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// The ledger's share of a run: ranges announced, and how their rows ended.
///
/// - memory: what the code costs;
/// - file: with the calls of the file system, but nobody waits for the disk;
/// - synced: with every wait of a run, in real time: ranges are durable before their rows may go, and what is recorded
///   once in a while, here after the last row.
struct LedgerBenchmark {
    /// What the reader announces at once.
    private struct Group {
        var ranges: [LedgerRange] = []
        var ends: [OutcomeBatch] = []
    }

    /// Rows of a chunk of 256 KiB, and chunks that are announced together.
    private static let rangeRows = 3_400
    private static let groupRows = 6 * rangeRows
    /// So that a group is a whole number of them; a lane flushes that many, or a few more.
    private static let batchRows = 2_040

    private let rows: Int
    private var groups: [Group] = []

    static func figures(_ inputs: Inputs) throws -> [Figure] {
        let benchmark = try LedgerBenchmark(inputs)
        let path = inputs.directory + "/ledger"
        return try [
            benchmark.measure("memory", MemoryStorage(capacity: inputs.rows * 128 + 4096), .processor),
            benchmark.measure("file", UnsyncedStorage(FileStorage(path, .either)), .processor),
            benchmark.measure("synced", FileStorage(path, .either), .wall),
        ]
    }

    private init(_ inputs: Inputs) throws {
        rows = inputs.rows
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        var count = 0
        var groups: [Group] = []
        try inputs.plain.forEachRow { row in
            if count % Self.groupRows == 0 { groups.append(Group()) }
            let group = groups.count - 1
            if count % Self.rangeRows == 0 { groups[group].ranges.append(Self.range(after: count, of: inputs.rows)) }
            if count % Self.batchRows == 0 { groups[group].ends.append(OutcomeBatch()) }
            groups[group].ends[groups[group].ends.count - 1].append(
                row: row.row, outcome: .accepted, code: 200, attempts: 1, timestamp: 0, token: row.fields[0],
                reason: none)
            count += 1
        }
        self.groups = groups
    }

    private static func range(after row: Int, of rows: Int) -> LedgerRange {
        LedgerRange(
            start: RowPosition(row: UInt64(row + 1), line: UInt64(row + 2), offset: UInt64(row * 76)),
            rows: min(rangeRows, rows - row), bytes: rangeRows * 76, sum: UInt32(truncatingIfNeeded: row))
    }

    private func measure(
        _ kind: String, _ storage: any AppendFile, _ clock: Repetitions.Clock
    ) throws -> Figure {
        // Ranges are announced once in a session, so each repetition is one.
        var ledger = RunLedger(storage, handOvers: HandOverRecord(slots: 1))
        let prepare = {
            try storage.truncate(to: 0)
            ledger = RunLedger(storage, handOvers: HandOverRecord(slots: 1))
        }
        let nanoseconds = try Repetitions.median(clock, preparation: prepare) { try play(ledger) }
        // A token alone takes 32 bytes.
        guard storage.length > rows * 32 else { throw BenchmarkFailure("a ledger of \(storage.length) bytes") }
        return Figure("ledger.\(kind)", Double(rows) * 1e9 / nanoseconds, "rows/s")
    }

    private func play(_ ledger: RunLedger) throws {
        for group in groups {
            try ledger.announce(group.ranges, rows: group.ranges.reduce(0) { $0 + $1.rows })
            for ends in group.ends { try ledger.record(ends) }
        }
        try ledger.mark(covered: try ledger.confirmedLength(), results: (0, 0))
    }
}
