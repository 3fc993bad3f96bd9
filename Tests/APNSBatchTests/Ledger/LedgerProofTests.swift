import APNSBatchBasics
import APNSBatchNotification
import APNSBatchSimulator
import APNSBatchTransport
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Counts the requests that reach the simulator.
private final class RequestCounter: SimulatorProbe, @unchecked Sendable {
    private let counted = Guarded(0)

    var count: Int { counted.withLock { $0 } }
    func judged(_ request: JudgedRequest) { counted.withLock { $0 += 1 } }
}

@Suite("Ledger compared with results and hand-over record") struct LedgerProofTests {
    private typealias Sample = LedgerSample

    /// Returns the history of a session with three ranges of four rows. No row of the last two ranges has ended.
    private func history(ended: Bool = false) throws -> LedgerHistory {
        var records: [(inout LedgerEncoder, UInt64) -> Void] = [
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: 4)) },
            { encoder, _ in
                encoder.add(Sample.batch((1...4).map { .init(row: $0, outcome: .accepted, status: 200) }))
            },
            { encoder, _ in encoder.add(Sample.range(5, rows: 4)) },
            { encoder, _ in encoder.add(Sample.range(9, rows: 4)) },
        ]
        if ended { records.append { encoder, _ in encoder.addEnd(isInputRead: false) } }
        return try Sample.read(Sample.ledger(records).bytes).history
    }

    private func notes(
        _ rows: [(UInt64, Int)], session: UInt32 = 1, campaign: UInt32 = Sample.header.sum
    ) throws -> HandOverNotes? {
        let handOvers = HandOverRecord(slots: max(1, rows.count))
        try handOvers.begin(Sample.session(session), campaign: campaign)
        for (slot, note) in rows.enumerated() { handOvers.note(slot: slot, firstRow: note.0, rows: note.1) }
        return HandOverNotes(handOvers.snapshot)
    }

    /// Returns `results.csv` with lines of accepted rows of a campaign.
    private func lines(_ rows: ClosedRange<UInt64>, of campaign: (UInt64, UInt64) = (1, 2)) -> MemoryStorage {
        var lines = ResultLines(campaign: campaign)
        let batch = Sample.batch(
            rows.map { .init(row: $0, outcome: .accepted, status: 200, token: "00ff", reason: "a \"quote\",\n") })
        for entry in batch.entries { lines.append(entry, of: batch) }
        return MemoryStorage(ResultLines.header() + Array(lines.bytes))
    }

    private func doubt(
        _ history: LedgerHistory, _ handOvers: HandOverNotes?, _ results: MemoryStorage? = nil,
        boot: (UInt64, UInt64) = (3, 4)
    ) throws -> LedgerProof.Doubt? {
        do {
            _ = try LedgerProof(history: history, handOvers: handOvers, boot: boot).check(results: results)
            return nil
        } catch let doubt as LedgerProof.Doubt {
            return doubt
        }
    }

    @Test("Notes of unknown ranges and sessions prove that the ledger lost its end")
    func record() throws {
        let history = try history()
        #expect(try doubt(history, notes([(5, 2), (9, 4)])) == nil)
        #expect(try doubt(history, notes([(9, 4), (13, 0)])) == nil, "a note comes before its range is announced")
        #expect(try doubt(history, notes([(13, 1)])) == .missingRow(13, file: "ledger.board"))
        #expect(try doubt(history, notes([(6, 1)])) == .missingRow(6, file: "ledger.board"))
        #expect(try doubt(history, notes([], session: 2)) == .missingSession)
        #expect(try doubt(history, notes([], campaign: 1)) == .otherHandOvers)
        // A restart of the system can remove notes, but cannot add any.
        #expect(try doubt(history, notes([(13, 1)]), boot: (5, 5)) == .missingRow(13, file: "ledger.board"))
        #expect(try doubt(history, nil) == nil)
    }

    @Test("A lost second announcement of a range is noticed")
    func announcedAgain() throws {
        var history = try history(ended: true)
        try history.take(Sample.session(2))
        #expect(
            try doubt(history, notes([(5, 3)])) == nil, "the hand-over record is still the one of the first session")
        #expect(try doubt(history, notes([(5, 3)], session: 2)) == .missingRow(5, file: "ledger.board"))
        try history.take(Sample.range(5, rows: 4))
        #expect(try doubt(history, notes([(5, 3)], session: 2)) == nil)
    }

    @Test("Result lines of unknown or unsent rows prove that the ledger lost its end")
    func results() throws {
        let killed = try history()
        #expect(try doubt(killed, nil, lines(1...4)) == nil)
        #expect(try doubt(killed, nil, lines(1...5)) == .missingRow(5, file: "results.csv"), "it was recorded first")
        #expect(try doubt(killed, nil, lines(1...5), boot: (5, 5)) == nil, "a loss of power may take the outcome")
        #expect(try doubt(killed, nil, lines(1...13), boot: (5, 5)) == .missingRow(13, file: "results.csv"))
        #expect(try doubt(history(ended: true), nil, lines(1...5), boot: (5, 5)) == .missingRow(5, file: "results.csv"))
    }

    @Test("Result lines of another run prove a loss only where no hand-over record identifies the ledger")
    func otherResults() throws {
        let killed = try history()
        #expect(try doubt(killed, notes([(9, 4)]), lines(1...20, of: (7, 7))) == nil)
        #expect(try doubt(killed, nil, lines(1...20, of: (7, 7))) == .otherResults)
    }

    @Test("A damaged result line or one with the row's own id does not count as another run's")
    func damagedResults() throws {
        let history = try history()
        let sound = lines(1...2)
        for place in sound.bytes.indices {
            for byte in [0, UInt8(ascii: "7"), UInt8(ascii: "a"), 0xFF] where byte != sound.bytes[place] {
                let damaged = MemoryStorage(sound.bytes)
                damaged.bytes[place] = byte
                #expect(try doubt(history, nil, damaged, boot: (5, 5)) == nil, "byte \(place)")
            }
        }
        let given = "row,token\n1,00ff,accepted,200,,,0f0e0d0c-1111-4222-9333-444455556666,1,\n"
        #expect(try doubt(history, nil, MemoryStorage(Array(given.utf8)), boot: (5, 5)) == nil)
    }

    @Test("A damaged line beyond the last mark is ignored")
    func damagedTail() throws {
        var history = try history()
        let header = ResultLines.header()
        history.takeMark(
            resultsLength: UInt64(header.count), resultsSum: header.withUnsafeBytes { CRC32C.of($0) })
        let results = lines(1...4)
        #expect(results.bytes[header.count...].starts(with: Array("1,".utf8)))
        results.bytes[header.count] = UInt8(ascii: "9")
        #expect(try doubt(history, nil, results, boot: (5, 5)) == nil)
        #expect(try doubt(history, nil, results) == .missingRow(9, file: "results.csv"), "nothing is lost without it")
    }

    @Test("Lines beyond the last mark count, and other changes are found by the mark's checksum")
    func sum() throws {
        var history = try history()
        // The rows have their own ids.
        let results = lines(1...4, of: (7, 7))
        let known = ResultLines.header().withUnsafeBytes { CRC32C.of($0) }
        history.takeMark(resultsLength: UInt64(ResultLines.header().count), resultsSum: known)
        func isSound(_ results: MemoryStorage) throws -> Bool {
            try LedgerProof(history: history, handOvers: nil, boot: (3, 4)).check(results: results)
        }
        #expect(try isSound(results))
        #expect(try doubt(history, nil, lines(1...5, of: (7, 7))) == .missingRow(5, file: "results.csv"))
        history.takeMark(
            resultsLength: results.length, resultsSum: results.bytes.withUnsafeBytes { CRC32C.of($0) })
        #expect(try isSound(results))
        for place in results.bytes.indices {
            let changed = MemoryStorage(results.bytes)
            changed.bytes[place] ^= 1
            let handOvers = try notes([(9, 4)])
            #expect(
                try !LedgerProof(history: history, handOvers: handOvers, boot: (3, 4)).check(results: changed),
                "\(place)")
        }
        results.bytes.removeLast()
        #expect(try !LedgerProof(history: history, handOvers: notes([]), boot: (3, 4)).check(results: results))
    }

    @Test("Invalid lines in results.csv are ignored")
    func garbage() throws {
        for text in [
            "\n\n,,,,,,,\n", "\"", "5,a,accepted", "x,a,accepted,,,,,1\n", String(repeating: "5,", count: 99_999),
        ] {
            #expect(try doubt(history(), nil, MemoryStorage(Array(text.utf8))) == nil)
        }
    }

    /// Runs a campaign in memory, with its own policy.
    private static func finished(_ stage: Stage, rows: Int) async throws -> (StagedCampaign, MemoryFiles) {
        var campaign = try stage.campaign(
            rows: "token,payload\n"
                + (0..<rows).map { "\(token($0)),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n" }.joined())
        campaign.onUnknown = .report
        campaign.lanes = 1
        campaign.syncInterval = .milliseconds(10)
        try FileManager.default.createDirectory(
            atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let files = MemoryFiles()
        let summary = try await CampaignRun(campaign, files: files).send()
        try #require(summary.ending == .complete && summary.accepted == rows)
        return (campaign, files)
    }

    @Test(
        "A ledger cut at any place never causes a row to be sent twice",
        arguments: [true, false])
    func cuts(hasResults: Bool) async throws {
        let requests = RequestCounter()
        let stage = try Stage { $0.probe = requests }
        let (campaign, files) = try await Self.finished(stage, rows: 12_000)
        #expect(requests.count == 12_000)
        var refused = 0
        // A slow machine writes more records in the same time; forty of them, from the first to the last, are enough.
        let records = Self.records(files)
        let chosen = records.indices.filter { $0 % (records.count / 40 + 1) == 0 || $0 == records.count - 1 }
        var cuts = chosen.flatMap { [records[$0], records[$0] + 30] }
        cuts.append(0)
        for cut in cuts {
            let left = files.copy(ledgerBytes: cut)
            if !hasResults { left.lines.bytes = ResultLines.header() }
            do {
                let summary = try await CampaignRun(campaign, resuming: true, files: left).send()
                #expect(summary.rows == 12_000, "cut at \(cut): \(summary.cause ?? "")")
            } catch {
                refused += 1
                #expect(error.description.contains("ledger"))
                #expect(!error.description.contains("nothing was sent for it"), "cut at \(cut): \(error)")
            }
        }
        #expect(requests.count == 12_000)
        #expect(refused > 2 && refused < cuts.count)
    }

    /// Returns the offsets at which records begin.
    private static func records(_ files: MemoryFiles) -> [Int] {
        var reader = LedgerReader(files.ledger)
        var offsets: [Int] = []
        var offset: UInt64 = 0
        while let frame = try? reader.record(at: offset) {
            offsets.append(Int(offset))
            offset += UInt64(frame.recordLength)
        }
        return offsets
    }

    @Test("The ledger of another run is refused, also without notes")
    func exchanged() async throws {
        let stage = try Stage()
        let (campaign, files) = try await Self.finished(stage, rows: 100)
        let (_, other) = try await Self.finished(stage, rows: 100)
        func fault(_ files: MemoryFiles) throws -> String {
            do {
                _ = try CampaignRun(campaign, resuming: true, files: files)
                return ""
            } catch {
                return "\(error)"
            }
        }
        let left = other.copy()
        left.ledger.bytes = files.ledger.bytes
        #expect(
            try fault(left).contains("ledger and \(campaign.runDirectory ?? "")/ledger.board belong to different runs"))
        left.words = []
        #expect(try fault(left).contains("results.csv belong to different runs"))
        // In the opposite case, `results.csv` is from another run.
        let right = files.copy()
        right.lines.bytes = other.lines.bytes
        let run = try CampaignRun(campaign, resuming: true, files: right)
        #expect(try await run.send().accepted == 100)
        #expect(right.lines.bytes.sorted() == files.lines.bytes.sorted())
    }

    @Test(
        "Changed results are rewritten, with a line for each row",
        arguments: ["sorted", "value", "hole", "cut", "appended"])
    func changedResults(how: String) async throws {
        let stage = try Stage()
        let (campaign, files) = try await Self.finished(stage, rows: 500)
        let left = files.copy()
        var text = String(decoding: left.lines.bytes, as: UTF8.self).split(separator: "\n")
        switch how {
        case "sorted": text[1...].sort { $0.hashValue < $1.hashValue }
        case "value": text[250] = text[250].replacing("accepted", with: "rejected")[...]
        case "hole": text[250] = Substring(String(repeating: "\0", count: text[250].utf8.count))
        case "cut": text.removeLast(100)
        default: text.append("# looked at by me")
        }
        left.lines.bytes = Array((text.joined(separator: "\n") + "\n").utf8)
        let summary = try await CampaignRun(campaign, resuming: true, files: left).send()
        #expect(summary.ending == .complete && summary.accepted == 500)
        #expect(left.lines.bytes == files.lines.bytes)
        #expect(stage.simulator.stop().requests == 500)
    }
}
