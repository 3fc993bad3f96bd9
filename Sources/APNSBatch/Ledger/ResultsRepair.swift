/// Makes `results.csv` what the ledger says: lines that are surely right stay, the others are written anew.
struct ResultsRepair: ~Copyable {
    private let results: any LedgerStorage
    private let ledger: any LedgerStorage
    private let name: String
    /// Where unavailable rows were last reopened: such outcomes before it have no line any more.
    private let reopenedAt: UInt64
    private var lines: ResultLines
    private let batch = OutcomeBatch()

    init(results: any LedgerStorage, past: RunPast, name: String) {
        self.results = results
        ledger = past.ledger
        self.name = name
        reopenedAt = past.reading.reopenedAt
        lines = ResultLines(campaign: past.header.identity)
    }

    /// - Parameter reading: of the ledger, whose torn tail is cut.
    mutating func run(_ reading: LedgerReader.Reading) throws(CampaignError) {
        do {
            let length = reading.history.resultsLength
            if try isKnown(length) {
                try results.truncate(to: length)
                try project(reading.afterMark)
            } else {
                // From here on nothing of the file is right any more.
                try RunLedger.settle(ledger, resultsLength: 0, handed: [])
                try results.truncate(to: 0)
                try results.append(ResultLines.headerBytes)
                try projectAll(upTo: reading.length)
            }
            try flush()
            try results.sync()
        } catch let error as StorageError {
            throw CampaignError(.results, "\(error)")
        } catch let failure as LedgerReader.Failure {
            throw RunPast.explain(failure, name: name)
        } catch {
            throw CampaignError(.results, "\(error)")
        }
    }

    /// Whether the file begins as ours does and a line of it ends where a mark says; somebody may have sorted it, or put
    /// another in its place.
    private func isKnown(_ length: UInt64) throws -> Bool {
        let header = ResultLines.headerBytes
        guard length >= header.count, length <= results.length else { return false }
        var head = [UInt8](repeating: 0, count: header.count)
        var last: UInt8 = 0
        let got = try head.withUnsafeMutableBytes { try results.read(at: 0, into: $0) }
        let end = try withUnsafeMutableBytes(of: &last) { try results.read(at: length - 1, into: $0) }
        return got == head.count && head.elementsEqual(header) && end == 1 && last == UInt8(ascii: "\n")
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
        for entry in batch.entries where offset >= reopenedAt || entry.outcome != .unavailable {
            if !lines.hasRoom { try flush() }
            lines.append(entry, of: batch)
        }
    }

    private mutating func flush() throws {
        try results.append(lines.bytes)
        lines.removeAll()
    }
}
