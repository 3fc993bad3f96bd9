import APNSBatchBasics
import APNSBatchNotification
import CAPNSCommon
import Foundation
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Parts of the ledger") struct LedgerPartTests {
    @Test("The checksum is CRC-32C, whatever the pieces")
    func checksum() {
        func sum(_ bytes: [UInt8], _ before: UInt32 = 0) -> UInt32 { apns_crc32c(before, bytes, bytes.count) }
        // The expected value is from RFC 3720, appendix B.4.
        #expect(sum(Array("123456789".utf8)) == 0xE306_9283)
        #expect(sum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(sum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(sum(Array(0..<32)) == 0x46DD_794E)
        #expect(sum([]) == 0)
        let text = Array("a text of some length that is cut anywhere".utf8)
        for cut in text.indices { #expect(sum(Array(text[cut...]), sum(Array(text[..<cut]))) == sum(text)) }
    }

    @Test(
        "Only an even number of lower-case digits is packed and restored",
        arguments: [
            "00", "0f9a", "deadbeef", "0123456789abcdef", "00ff00ff00", "0123456789abcdef0123456789abcdef01",
            String(repeating: "a5", count: 32),
        ])
    func packs(text: String) {
        var packed = [UInt8](repeating: 0, count: text.utf8.count / 2 + 8)
        #expect(Hex.isDigits(text))
        Hex.pack(text, &packed)
        packed.removeLast(packed.count - text.utf8.count / 2)
        var digits = [UInt8](repeating: 0, count: text.utf8.count)
        packed.withUnsafeBytes { packed in
            digits.withUnsafeMutableBytes { Hex.unpack(packed, to: $0.baseAddress!) }
        }
        #expect(String(decoding: digits, as: UTF8.self) == text)
    }

    @Test("Any other text is not packed")
    func doesNotPack() {
        for text in ["", "0", "0F", "0g", "/0", ":0", "`0", "00ff00ff0", "00ff00fé", "0123456789abcdeF"] {
            #expect(!Hex.isDigits(text), "\(text)")
        }
        for byte in UInt8.min...UInt8.max {
            let isDigit = (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
            for place in [0, 7, 15, 16, 33, 37] {
                var text = [UInt8](repeating: 0x30, count: 38)
                text[place] = byte
                #expect(text.withUnsafeBytes(Hex.isDigits) == isDigit, "\(byte) at \(place)")
            }
        }
    }

    @Test("The hand-over record is used only for the same session since the same boot")
    func record() throws {
        let handOvers = HandOverRecord(slots: 3)
        let session = LedgerSample.session(2)
        try handOvers.begin(session, campaign: 7)
        handOvers.note(slot: 0, firstRow: 1, rows: 256)
        handOvers.note(slot: 2, firstRow: 1001, rows: 0)
        let notes = try #require(HandOverNotes(handOvers.snapshot))
        #expect(notes.rows == [1: 256, 1001: 0] && notes.session == 2 && notes.boot == (3, 4) && notes.campaign == 7)
        func believed(_ boot: (UInt64, UInt64), _ session: UInt32) throws -> [UInt64: Int]? {
            let (bytes, _) = LedgerSample.ledger(
                [{ encoder, _ in encoder.add(LedgerSample.header) }]
                    + (1...session).map { number in { encoder, _ in encoder.add(LedgerSample.session(number)) } })
            return LedgerProof(history: try LedgerSample.read(bytes).history, handOvers: notes, boot: boot).notes
        }
        #expect(try believed((3, 4), 2) == notes.rows)
        #expect(try believed((3, 5), 2) == nil)
        #expect(try believed((0, 0), 2) == nil)
        #expect(try believed((3, 4), 3) == nil)
        #expect(HandOverNotes([]) == nil && HandOverNotes(Array(repeating: 0, count: 20)) == nil)
        try handOvers.begin(LedgerSample.session(3), campaign: 7)
        #expect(HandOverNotes(handOvers.snapshot)?.rows == [:])
    }

    @Test("A note with a changed or missing byte is ignored, and the others are used")
    func recordDamage() throws {
        let handOvers = HandOverRecord(slots: 3)
        try handOvers.begin(LedgerSample.session(2), campaign: 7)
        for slot in 0..<3 { handOvers.note(slot: slot, firstRow: UInt64(1 + slot * 1000), rows: 256 * (slot + 1)) }
        let words = handOvers.snapshot
        let whole: [UInt64: Int] = [1: 256, 1001: 512, 2001: 768]
        #expect(HandOverNotes(words)?.rows == whole)
        for index in words.indices {
            for bit in 0..<64 {
                var changed = words
                changed[index] ^= 1 << UInt64(bit)
                let rows = HandOverNotes(changed)?.rows
                if index < 4 {
                    #expect(rows == nil, "\(index) \(bit)")
                } else {
                    #expect(rows == whole.filter { $0.key != UInt64(1 + (index - 4) / 2 * 1000) }, "\(index) \(bit)")
                }
            }
        }
        // A note of another slot or session is invalid too.
        var moved = words
        (moved[4], moved[5]) = (words[6], words[7])
        #expect(HandOverNotes(moved)?.rows == [1001: 512, 2001: 768])
        #expect(HandOverNotes(Array(words.prefix(7)))?.rows == [1: 256])
        #expect(HandOverNotes(Array(words.prefix(3))) == nil)
    }

    @Test("The hand-over record stays until the next session is in the ledger")
    func successor() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "hand-overs-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = try HandOverRecord(path: path, slots: 1)
        try first.begin(LedgerSample.session(1), campaign: 7)
        first.note(slot: 0, firstRow: 1, rows: 256)
        let second = try HandOverRecord(path: path, slots: 1)
        #expect(HandOverNotes(HandOverRecord.read(path: path))?.rows == [1: 256])
        try second.begin(LedgerSample.session(2), campaign: 7)
        let notes = HandOverNotes(HandOverRecord.read(path: path))
        #expect(notes?.rows == [:] && notes?.session == 2)
    }

    @Test(
        "A hand-over record that another program cuts off says nothing that is too little",
        arguments: [0, 8, 32, 48, 56])
    func cut(length: Int) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "hand-overs-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let record = try HandOverRecord(path: path, slots: 2)
        try record.begin(LedgerSample.session(1), campaign: 7)
        record.note(slot: 0, firstRow: 1, rows: 256)
        record.note(slot: 1, firstRow: 1001, rows: 256)
        #expect(HandOverNotes(HandOverRecord.read(path: path))?.rows == [1: 256, 1001: 256])
        #expect(truncate(path, length) == 0)
        record.note(slot: 1, firstRow: 1001, rows: 512)
        let notes = HandOverNotes(HandOverRecord.read(path: path))
        // Ranges without a note count as a whole.
        #expect(notes?.rows[1001] ?? 512 == 512 && notes?.rows[1] ?? 256 == 256)
        #expect((notes == nil) == (length < 32))
        #expect(HandOverNotes(record.snapshot)?.rows == [1: 256, 1001: 512])
    }

    @Test("A row may have been sent if its lane noted so, or if there is no note")
    func handed() throws {
        let history = try LedgerSample.read(LedgerSample.usual.bytes).history
        let (old, new) = (history.ranges[0], history.ranges[1])
        #expect(history.handed(old, handOvers: [1: 3]) == 0, "announced by a session before, which said what it sent")
        #expect(history.handed(new, handOvers: [6: 1]) == 2, "never less than is known")
        #expect(history.handed(new, handOvers: [6: 3]) == 3)
        #expect(history.handed(new, handOvers: [:]) == 3)
        #expect(history.handed(new, handOvers: nil) == 3)
    }

    @Test("The status gives ended, unknown and unsent rows one after the other")
    func status() throws {
        let history = try LedgerSample.read(LedgerSample.usual.bytes).history
        let handOvers = HandOverRecord(slots: 1)
        try handOvers.begin(LedgerSample.session(2), campaign: LedgerSample.header.sum)
        handOvers.note(slot: 0, firstRow: 6, rows: 2)
        let status = try RunStatus(history, notes: handOvers.snapshot, boot: (3, 4), isFree: true)
        #expect(status.state == .killed && status.sessions == 2)
        #expect(
            status.rows == [
                .init(first: 1, last: 4, knowledge: .ended), .init(first: 5, last: 5, knowledge: .notSent),
                .init(first: 6, last: 6, knowledge: .ended), .init(first: 7, last: 7, knowledge: .unknown),
                .init(first: 8, last: 8, knowledge: .notSent),
            ])
        #expect(status.count(.ended) == 5 && status.count(.unknown) == 1 && status.count(.notSent) == 2)
        #expect(status.note == Array("note".utf8) && status.inputBytesRead == 900)
    }

    @Test("Equal rows form one run, wherever words of the map begin", arguments: [1, 63, 64, 65, 200])
    func runs(rows: Int) {
        var random = SystemRandomNumberGenerator()
        for chance in [0, 1, 5, 50, 95, 99, 100] {
            var range = LedgerHistory.Range(LedgerSample.range(1, rows: rows), session: 1)
            for index in 0..<rows where Int.random(in: 0..<100, using: &random) < chance { _ = range.setDone(index) }
            for index in 0..<rows {
                let end = (index..<rows).first { range.isDone($0) != range.isDone(index) } ?? rows
                #expect(range.end(ofRunAt: index) == end)
            }
        }
    }

    @Test("A range is refused before its announcement when the disk has no room for its outcomes")
    func fullDisk() throws {
        let (ledger, results) = (MemoryStorage(), MemoryStorage())
        let run = RunRecord(ledger, results)
        try run.ledger.begin(LedgerSample.session(1), of: LedgerSample.header, isNew: true)
        results.capacity = 100_000
        try run.announce([LedgerSample.range(1, rows: 100)])
        let length = ledger.length
        #expect(throws: StorageError.self) { try run.announce([LedgerSample.range(101, rows: 100)]) }
        #expect(ledger.length == length)
        // The reserved space is enough for all outcomes of the announced rows.
        ledger.capacity = ledger.length
        let ends = (1...100).map {
            LedgerSample.End(row: $0, outcome: .accepted, token: String(repeating: "ab", count: 100))
        }
        try run.record(LedgerSample.batch(ends))
    }
}

extension Hex {
    fileprivate static func isDigits(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes(isDigits) }

    fileprivate static func pack(_ text: String, _ out: inout [UInt8]) {
        Array(text.utf8).withUnsafeBytes { text in
            out.withUnsafeMutableBytes { pack(text, to: $0.baseAddress!) }
        }
    }
}
