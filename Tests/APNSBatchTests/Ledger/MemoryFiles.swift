import APNSBatchBasics
import Logging

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// The files of a run in memory, which one process leaves to the next.
final class MemoryFiles: RunFiles, @unchecked Sendable {
    var ledger = MemoryStorage()
    var lines = MemoryStorage()
    /// The rows of a program.
    var rows = MemoryStorage()
    /// The timeline; nil for a run without one.
    var timelineStorage: MemoryStorage?
    var words: [UInt64] = []
    var boot: (UInt64, UInt64) = (3, 4)

    func makeLedger() throws(CampaignError) -> any AppendFile { ledger }
    func openLedger() throws(CampaignError) -> any AppendFile { ledger }
    func results(of ledger: any AppendFile, isNew: Bool) throws(CampaignError) -> any AppendFile { lines }
    func resultsToRead() throws(CampaignError) -> (any AppendFile)? { lines }
    func timeline(of ledger: any AppendFile) throws(CampaignError) -> (any AppendFile)? { timelineStorage }
    func notes() -> [UInt64] { words }
    func spool(of ledger: any AppendFile) throws(CampaignError) -> any AppendFile { rows }
    func removeSpool(of ledger: any AppendFile) { rows = MemoryStorage() }
    /// The state of each range in the ledger when a process created its hand-over record.
    private(set) var handedAtOpening: [Int] = []

    func makeHandOvers(slots: Int, of _: any AppendFile) throws(CampaignError) -> HandOverRecord {
        handedAtOpening = (try? LedgerSample.read(ledger.bytes).history.ranges.map(\.handed)) ?? []
        let made = HandOverRecord(slots: slots)
        handOvers = made
        return made
    }

    /// The hand-over record of the last process.
    private(set) var handOvers: HandOverRecord?

    /// Returns a copy of the files as they are now, with this many bytes of the ledger.
    func copy(ledgerBytes: Int = .max) -> MemoryFiles {
        let copy = MemoryFiles()
        copy.ledger.bytes = Array(ledger.bytes.prefix(ledgerBytes))
        copy.lines.bytes = lines.bytes
        copy.rows.bytes = rows.bytes
        copy.words = handOvers?.snapshot ?? words
        copy.boot = boot
        return copy
    }

    /// The lines of `results.csv` by row, without the header.
    var resultLines: [UInt64: [String]] {
        let lines = String(decoding: lines.bytes, as: UTF8.self).split(separator: "\n").dropFirst()
        return Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                return (UInt64(fields[0])!, fields)
            })
    }

    /// Returns the files as a process would leave them that was killed before it recorded an outcome in the last session.
    func killedInLastSession() throws -> MemoryFiles {
        let killed = MemoryFiles()
        let last = try LedgerSample.read(ledger.bytes).history.session?.number
        var reader = LedgerReader(ledger)
        var (offset, session) = (UInt64(0), UInt32(0))
        while let frame = try reader.record(at: offset) {
            if frame.kind == .session { session += 1 }
            if session != last || [.session, .range].contains(frame.kind) {
                killed.ledger.bytes += ledger.bytes[Int(offset)..<(Int(offset) + frame.recordLength)]
            }
            offset += UInt64(frame.recordLength)
        }
        killed.lines.bytes = ResultLines.header()
        return killed
    }

    /// Returns the files as a process would leave them that was killed before it recorded an outcome.
    ///
    /// - Parameter handed: the number of rows of the first range that its lane had taken; nil for unknown.
    func killed(handed: Int? = nil) throws -> MemoryFiles {
        let killed = MemoryFiles()
        var reader = LedgerReader(ledger)
        var offset: UInt64 = 0
        while let frame = try reader.record(at: offset) {
            if [.header, .session, .range].contains(frame.kind) {
                killed.ledger.bytes += ledger.bytes[Int(offset)..<(Int(offset) + frame.recordLength)]
            }
            offset += UInt64(frame.recordLength)
        }
        killed.lines.bytes = ResultLines.header()
        killed.rows.bytes = rows.bytes
        let history = try LedgerSample.read(killed.ledger.bytes).history
        if let handed, let session = history.session, let header = history.header {
            let handOvers = HandOverRecord(slots: 1)
            try? handOvers.begin(session, campaign: header.sum)
            handOvers.note(slot: 0, firstRow: 1, rows: handed)
            killed.words = handOvers.snapshot
        }
        return killed
    }
}
