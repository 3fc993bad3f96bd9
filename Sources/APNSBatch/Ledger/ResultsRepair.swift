/// Makes `results.csv` what the ledger says: lines that are surely right stay, the others are written anew.
struct ResultsRepair: ~Copyable {
    private let results: any LedgerStorage
    private let ledger: any LedgerStorage
    private let name: String
    private var lines: ResultLines
    private let batch = OutcomeBatch()

    init(results: any LedgerStorage, past: RunPast, name: String) {
        self.results = results
        ledger = past.ledger
        self.name = name
        lines = ResultLines(campaign: past.header.identity)
    }

    /// - Parameter reading: of the ledger, whose torn tail is cut.
    mutating func run(_ reading: LedgerReader.Reading) throws(CampaignError) {
        do {
            let length = reading.history.resultsLength
            if length > 0, length <= results.length {
                try results.truncate(to: length)
                try project(reading.afterMark)
            } else {
                try results.truncate(to: 0)
                try results.append(ResultLines.headerBytes)
                try projectAll(upTo: reading.length)
            }
            try flush()
        } catch let error as StorageError {
            throw CampaignError(.results, "\(error)")
        } catch let failure as LedgerReader.Failure {
            throw RunPast.explain(failure, name: name)
        } catch {
            throw CampaignError(.results, "\(error)")
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
        for entry in batch.entries {
            if !lines.hasRoom { try flush() }
            lines.append(entry, of: batch)
        }
    }

    private mutating func flush() throws {
        try results.append(lines.bytes)
        lines.removeAll()
    }
}
