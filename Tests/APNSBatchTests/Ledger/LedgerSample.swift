import APNSBatchNotification
import APNSBatchRows

@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Ledgers and their contents, for tests.
enum LedgerSample {
    static let header = LedgerHeader(
        identity: (1, 2), start: 1_700_000_000, digest: Array(0..<32), inputBytes: 12_345, columnsSum: 77,
        inputName: "rows.csv", resultColumns: ["user_id", "ü"], note: Array("note".utf8))

    static func session(_ number: UInt32) -> LedgerSession {
        LedgerSession(number: number, process: 42, time: 1_700_000_001, boot: (3, 4), policy: .report)
    }

    static func range(_ first: UInt64, rows: Int, bytes: Int? = nil, firstLine: UInt64? = nil) -> LedgerRange {
        LedgerRange(
            start: RowPosition(row: first, line: firstLine ?? first + 1, offset: first * 100), rows: rows,
            bytes: bytes ?? rows * 100, sum: 9)
    }

    /// The outcome of a row, as written in a test.
    struct End: Equatable, CustomStringConvertible {
        var row: UInt64
        var outcome: Outcome
        var status: UInt16 = 0
        var attempts: Attempts = 1
        var timestamp = OutcomeEntry.noTimestamp
        var token = ""
        var reason = ""
        var ownID: String?
        var carried: [UInt8] = []

        var description: String {
            "\(row) \(outcome) \(status) \(attempts) \(timestamp) \(token) \(reason) \(ownID ?? "")"
        }
    }

    static func batch(_ ends: [End]) -> OutcomeBatch {
        let batch = OutcomeBatch()
        for end in ends {
            let id = end.ownID.map { Array($0.utf8) }
            Array(end.token.utf8).withUnsafeBytes { token in
                Array(end.reason.utf8).withUnsafeBytes { reason in
                    (id ?? []).withUnsafeBytes { id in
                        batch.append(
                            row: end.row, outcome: end.outcome, code: end.status, attempts: end.attempts,
                            timestamp: end.timestamp, token: token, reason: reason,
                            ownID: end.ownID == nil ? nil : id.baseAddress)
                        end.carried.withUnsafeBytes { batch.carry($0) }
                    }
                }
            }
        }
        return batch
    }

    static func ends(_ batch: OutcomeBatch) -> [End] {
        func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
        return batch.entries.map { entry in
            End(
                row: entry.row, outcome: entry.outcome, status: entry.code, attempts: entry.attempts,
                timestamp: entry.timestamp, token: text(batch.token(of: entry)), reason: text(batch.reason(of: entry)),
                ownID: entry.hasOwnID ? text(batch.ownID(of: entry)) : nil,
                carried: Array(batch.carried(of: entry)))
        }
    }

    /// A ledger whose first session announced one range of rows, and how some of them ended.
    static func ledger(rows: Int, _ ends: [End]) -> [UInt8] {
        ledger([
            { encoder, _ in encoder.add(header) }, { encoder, _ in encoder.add(session(1)) },
            { encoder, _ in encoder.add(range(1, rows: rows)) }, { encoder, _ in encoder.add(batch(ends)) },
        ]).bytes
    }

    /// A ledger of some records; where each begins.
    static func ledger(_ add: [(inout LedgerEncoder, UInt64) -> Void]) -> (bytes: [UInt8], starts: [Int]) {
        var bytes: [UInt8] = []
        var starts: [Int] = []
        for add in add {
            var encoder = LedgerEncoder()
            add(&encoder, UInt64(bytes.count))
            starts.append(bytes.count)
            bytes += Array(encoder.bytes)
        }
        return (bytes, starts)
    }

    static let ends: [End] = [
        End(row: 1, outcome: .accepted, status: 200, token: String(repeating: "0fa9", count: 16)),
        End(
            row: 3, outcome: .rejected, status: 410, timestamp: 1_700_000_000_000, token: "00ff", reason: "Unregistered"
        ),
        End(
            row: 2, outcome: .rejected, status: 400, attempts: 3, timestamp: 0, token: "ABCD", reason: "SomethingNew",
            carried: [0]),
        End(
            row: 4, outcome: .invalid, attempts: 0, token: "not hex", reason: "rows.csv:5:1: ü",
            carried: [3] + Array("u-4".utf8)),
        End(row: 6, outcome: .unknown, token: "0", reason: "lost", ownID: "123e4567-e89b-12d3-a456-426614174000"),
    ]

    /// Two sessions with a mark between them.
    static let usual = ledger([
        { encoder, _ in encoder.add(header) },
        { encoder, _ in encoder.add(session(1)) },
        { encoder, _ in encoder.add(range(1, rows: 5)) },
        { encoder, _ in encoder.add(batch(Array(ends.prefix(3)))) },
        { encoder, at in encoder.addMark(position: at, covered: at, resultsLength: 300) },
        { encoder, _ in encoder.add(range(6, rows: 3)) },
        { encoder, _ in encoder.addHanded(firstRow: 6, rows: 2) },
        { encoder, _ in encoder.add(session(2)) },
        { encoder, _ in encoder.add(range(6, rows: 3)) },
        { encoder, _ in encoder.add(batch(Array(ends.suffix(2)))) },
    ])

    static func read(_ bytes: [UInt8]) throws(LedgerReader.Failure) -> LedgerReader.Reading {
        var reader = LedgerReader(MemoryStorage(bytes))
        return try reader.read()
    }
}
