import APNSBatchBasics
import APNSBatchModel

/// Makes `results.csv` agree with the ledger: lines known to be right are kept, the others are written anew.
struct ResultsRepair: ~Copyable {
    private let results: any AppendFile
    private let ledger: any AppendFile
    private let name: String
    /// The offset in the ledger at which unavailable rows were last reopened. Unavailable rows before it have no line any
    /// more.
    private let reopenedAt: UInt64
    private let isSound: Bool
    /// The carried columns.
    private let columns: [String]
    private var lines: ResultLines
    /// The checksum of `results.csv`.
    private(set) var sum: UInt32
    private let batch = OutcomeBatch()

    init(results: any AppendFile, past: RunPast, name: String) {
        self.results = results
        ledger = past.ledger
        self.name = name
        reopenedAt = past.reading.reopenedAt
        isSound = past.hasSoundResults
        sum = past.reading.history.resultsSum ?? 0
        columns = past.header.resultColumns
        lines = ResultLines(campaign: past.header.identity, carried: columns.count)
    }

    /// - Parameter reading: the content of the ledger, whose torn end is already cut.
    mutating func run(_ reading: LedgerReader.Reading) throws(CampaignError) {
        do {
            let length = reading.history.resultsLength
            if isSound {
                try results.truncate(to: length)
                try project(reading.afterMark)
            } else {
                // From here on no byte of the file counts.
                try RunLedger.settle(ledger, resultsLength: 0)
                try results.truncate(to: 0)
                sum = 0
                let header = ResultLines.header(columns)
                try unsafe header.withUnsafeBytes { try unsafe append($0) }
                try projectAll(upTo: reading.length)
            }
            try flush()
            try results.sync()
        } catch let failure as LedgerReader.Failure {
            throw RunPast.explain(failure, name: name)
        } catch {
            throw CampaignError(.results, "\(error)", cause: error)
        }
    }

    private mutating func project(_ offsets: [UInt64]) throws {
        var reader = LedgerReader(ledger)
        for offset in offsets { try project(offset, &reader) }
    }

    private mutating func projectAll(upTo end: UInt64) throws {
        var reader = LedgerReader(ledger)
        var offset: UInt64 = 0
        while offset < end, let frame = try reader.record(at: offset) {
            if frame.kind == .outcomes { try project(offset, &reader) }
            offset += UInt64(frame.recordLength)
        }
    }

    private mutating func project(_ offset: UInt64, _ reader: inout LedgerReader) throws {
        _ = try reader.outcomes(at: offset, into: batch)
        for index in unsafe batch.entries.indices {
            let entry = unsafe batch.entries[index]
            if offset < reopenedAt, entry.outcome.canBeReopened { continue }
            if !lines.hasRoom { try flush() }
            lines.append(entry, of: batch)
        }
    }

    private mutating func flush() throws {
        try unsafe append(lines.bytes)
        lines.removeAll()
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        try unsafe results.append(bytes)
        sum = unsafe CRC32C.of(bytes, after: sum)
    }
}
